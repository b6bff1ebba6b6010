/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network of hosts in a simulation (haul-sim/sim.h): nodes, the links between them, and programs
 * on them. A program on a host opens its ports as "sim:NODE", and is otherwise as any other one.
 *
 *	haul_sim_net("switch s; link a s delay=1ms loss=1%%; link b s rate=100M");
 *	haul_sim_host("a", server, NULL);
 *	haul_sim_host("b", client, NULL);
 *	sleep(3600);                        an hour, in no time if nothing happens
 *	haul_sim_net("cut a b"); ...
 *
 * All functions: on simulated threads. What is wrong in a test's own text or names ends the
 * process, with one line. docs/guide/simulated-networks.md
 */
#ifndef HAUL_SIM_NET_H
#define HAUL_SIM_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Makes or changes the network: commands, as printf() composes them, with a semicolon or a newline
 * between two. A node is made by its name; one that is no switch has one link, and one port.
 *
 *	switch NODE		it is a switch, which learns where addresses are
 *	link A B [KEY=VALUE]...	a link between them, and what it is like in both directions; of a
 *				link that there is, what is named changes
 *	cut A B			from now on no frame of one reaches the other, on any way
 *	heal A B, heal		... again; of all
 *	clog A B TIME		for so long nothing gets through the link; then all of it
 *	down A B, up A B	the link, with what is on it
 *	pcap A B FILE		what they send over the link goes to a file, from now on
 *
 * "A > B" in place of "A B": in this direction only (not of down and up).
 *
 * KEY of a link, by default those of a cable without a length:
 *	rate=BITS	of a second, such as 100M or 10G; 0: no limit
 *	queue=N		frames that wait for the link; more are dropped; 0 (default): 1,000
 *	delay=TIME	of each frame: 10us, 5ms, 2s
 *	jitter=TIME	more, uniform from 0 to this; frames keep their order
 *	tail=TIME	more, exponential with this mean
 *	loss=P		probability, as 0.1 or 10%
 *	burst=N		losses come in rows of this mean length; 0, 1: each on its own
 *	duplicate=P	it arrives twice
 *	reorder=P	it comes late, after some that follow
 *	flip=P		one of its bits changes
 *	mtu=BYTES	larger frames are dropped; 0 (default): none is too large
 */
HAUL_API void haul_sim_net(const char *commands, ...) __attribute__((format(printf, 1, 2)));

/*
 * Starts a host: main(arg) runs on a thread of its own, with all threads that it starts, until it
 * returns. The name is for haul_sim_kill() and messages, and need not be that of a node. If a host
 * of that name runs, the process ends.
 */
HAUL_API void haul_sim_host(const char *name, int (*main)(void *arg), void *arg);
/* Waits until it has returned, and returns what it did; of one that was killed, -1. */
HAUL_API int haul_sim_wait(const char *name);
/*
 * The host is gone at once, as if its power were cut: its threads never go on, its ports lose what
 * they hold, and what it has of haul's is freed: runtimes, ports, hosts, packet pools. What its
 * program has allocated itself is not, since variables of a program stay. haul_sim_host() may start
 * it again. Waits until none of its threads holds a lock that hosts of one process share.
 */
HAUL_API void haul_sim_kill(const char *name);
/* As kill(2) to the process that the host is: a thread that waits by sigtimedwait() or
 * sigwaitinfo() takes it, as that of haul-app's programs does. Handlers of signals do not run. A
 * host's own kill(getpid(), sig) does the same. */
HAUL_API void haul_sim_signal(const char *name, int sig);
/*
 * From now on the fault "kill" may strike a host, which then starts again a while later. Its
 * program needs to expect that: what it has in memory of the process is as it left it.
 * haul_sim_wait() waits until it has returned.
 */
HAUL_API void haul_sim_may_die(const char *name);
/* The name of the host that calls; "": the test itself. */
HAUL_API const char *haul_sim_host_name(void);

/* What becomes of frames. */
enum haul_sim_fate {
	HAUL_SIM_SENT,
	HAUL_SIM_ARRIVED, /* in a queue of the port */
	HAUL_SIM_LOST, /* why */
};

struct haul_sim_frame {
	enum haul_sim_fate fate;
	const char *why; /* of LOST: "loss", "queue", "cut", ... */
	const char *from,
		*to; /* nodes: of the link, and where it ended; from: the sender for ARRIVED */
	uint64_t at; /* of haul_now() */
	const uint8_t *data;
	uint32_t len;
};

/* fn is called for each frame that is sent, arrives or is lost; it must not wait. NULL: no more. */
HAUL_API void haul_sim_watch(void (*fn)(const struct haul_sim_frame *frame, void *arg), void *arg);

/* Frames of a link, in one direction, from its begin. in_flight: now. */
struct haul_sim_link_stats {
	uint64_t sent, duplicated, arrived, lost, in_flight;
};
HAUL_API void haul_sim_link_get_stats(
	const char *from, const char *to, struct haul_sim_link_stats *stats);
/* Sums of all links; on a way over a switch a frame is sent more than once. */
HAUL_API void haul_sim_net_get_stats(struct haul_sim_link_stats *stats);

/* Which flow a frame belongs to, and its number there. */
struct haul_sim_number {
	uint64_t flow, number;
};

/*
 * From now on numbers of a flow must not decrease on any link. So a run fails if a program passes
 * on packets in another order than that in which it got them; the text has both numbers, the link
 * and the times. Senders number what they send, also what they send again, in that order. A frame
 * that a link has reordered (by its key or by a fault), or has changed a bit of, is left out from
 * then on, on all links.
 *
 * fn says which number a frame has, or false: it has none. What programs on the way do to a packet
 * must not change it. It must not wait. NULL: datagrams of UDP have them, 64 bits in network byte
 * order at the begin of their payload; a flow is that of their addresses and ports.
 */
HAUL_API void haul_sim_in_order(
	bool (*fn)(const uint8_t *data, uint32_t len, struct haul_sim_number *number));

#ifdef __cplusplus
}
#endif

#endif
