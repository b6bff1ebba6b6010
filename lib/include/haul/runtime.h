/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime: all carriers of a process, started and stopped together. */
#ifndef HAUL_RUNTIME_H
#define HAUL_RUNTIME_H

#include <stdio.h>

#include <haul/base.h>
#include <haul/coro.h>
#include <haul/topo.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The source of the carriers' threads. launch() runs fn(arg) on a thread for carrier i, pinned to
 * place, and returns 0 or -errno. join() waits until that fn has returned. The runtime calls both
 * from the thread that calls haul_start() or haul_stop(). Without a launcher carriers are POSIX
 * threads; haul_eal_launcher() (haul-dpdk/eal.h) runs them on EAL's lcores, as pollers of packets
 * need it.
 */
struct haul_launcher {
	int (*launch)(void *ctx, unsigned i, const struct haul_place *place, int (*fn)(void *),
		void *arg);
	void (*join)(void *ctx, unsigned i);
	void *ctx;
};

/*
 * Work stealing: an idle carrier takes ready coroutines from a busy one and runs one slice of each.
 * A stolen coroutine keeps its home and returns there after the slice; coroutines that it spawns
 * have the same home. Pinned coroutines, pollers and coroutines that wait are never stolen.
 */
enum haul_steal {
	HAUL_STEAL_OFF,
	HAUL_STEAL_CLUSTER, /* from carriers of the same cluster */
	HAUL_STEAL_GLOBAL, /* from all carriers */
};

/* How carriers wait for descriptors (haul/fd.h). */
enum haul_fds {
	HAUL_FDS_BEST, /* io_uring, or epoll where the kernel refuses that */
	HAUL_FDS_URING, /* io_uring: where it is refused, calls that wait fail with -ENOMEM */
	HAUL_FDS_EPOLL,
};

/* Options of a runtime. NULL, or a struct of zeros, means the defaults. */
struct haul_runtime_opts {
	const struct haul_plan *plan; /* copied; NULL: the default of haul_plan_create() */
	const struct haul_launcher *launcher; /* copied; NULL: POSIX threads */
	size_t stack_size; /* default of haul_coro_opts.stack_size, usable bytes; 0: 24 KiB */
	/* haul_dump() says how much of their stacks coroutines have used at most, for each fn that
	 * was spawned. Costs about 1 us and a look at its whole stack for each coroutine. */
	bool stack_marks;
	uint64_t round_ns; /* maximum time for coroutines in one round; 0: 50 us */
	uint64_t poll_interval_ns; /* target for the time between two polls; 0: 20 us */
	/* A carrier without work, and without a poller that polls, spins for up to this long before
	 * it sleeps, as long as messages mostly come in that time. 0: 20 us; 1: it sleeps at
	 * once. */
	uint64_t spin_ns;
	enum haul_steal steal;
	/*
	 * Limits of a theft. steal_depth and steal_min_work_ns are ignored while the victim runs a
	 * hog, a coroutine (or a batch of up to 32) that has held its carrier for 100 us.
	 */
	unsigned steal_most; /* maximum taken at once, 1 to 128, and half the queue; 0: 128 */
	unsigned steal_depth; /* minimum length of the victim's run queue, 1 to 256; 0: 1 */
	/* Minimum time that the queue is estimated to take. 0: 10 us, and with many carriers more
	 * for a first theft from a carrier, because that one interrupts all of them. */
	uint64_t steal_min_work_ns;
	unsigned searchers; /* maximum of idle carriers per cluster that search at once, 1 to 32;
			     * 0: 1 */
	/*
	 * For tests of time-outs: time stands still while a coroutine runs or can run, and jumps to
	 * the next deadline when all wait. So a test of an hour takes no time, and nothing is late.
	 * haul_now() and deadlines are those of this clock, in the whole process, from haul_start()
	 * to haul_stop(): the process has no other runtime. Not with stealing, nor with pollers,
	 * but those of a test of handlers (haul-dpdk/test.h). A thread that is no carrier should
	 * only wait (haul_join() with HAUL_FOREVER) while coroutines use the clock: the clock does
	 * not wait for what the thread does, and does not jump to a deadline of the thread's.
	 */
	bool virtual_time;
	/*
	 * A coroutine that has used its carrier's CPU for that long without a wait or a yield gets
	 * a line on stderr with its call stack, one a second at most; all that are found are
	 * counted (haul_carrier_stats.long_slices). So does a cycle of a poller of haul_io_start(),
	 * with the burst handlers and sources that it calls; other pollers are not watched. The
	 * watchdog looks twice in that time, but only four times a second while it finds the
	 * carriers idle, so it may miss a coroutine that runs for less than 300 ms. One that keeps
	 * the carrier's thread waiting in a system call, such as sleep(), also gets a line if three
	 * looks in a row find it there: waits of twice watchdog_ns are found, shorter ones rarely
	 * (haul_carrier_stats.foreign_waits). For futex(2), which pthread_mutex_lock() calls, the
	 * limit is ten times as long. 0: 20 ms; HAUL_FOREVER: no watchdog, and no thread for it.
	 */
	uint64_t watchdog_ns;
	/*
	 * A coroutine that was spawned with haul_coro_opts.hibernates, and has waited for that long
	 * in haul_park() or haul_sleep(), hibernates: its live frames, if they are less than 2 KiB,
	 * are copied to dense memory, and all pages of its stack go back to the kernel. When it is
	 * woken, this costs it some 1.2 us. Each carrier looks through its coroutines four times in
	 * hibernate_after_ns, by a coroutine of its own named "hibernator", in steps of about 5 us
	 * with polls in between. Less than 1 ms is taken as 1 ms. 0 or HAUL_FOREVER: none
	 * hibernates.
	 */
	uint64_t hibernate_after_ns;
	/*
	 * Rescue: when a slice of a coroutine has lasted that long, one of `rescuers` spare threads
	 * takes its carrier, with run queue, timers and poller, and serves it until the slice ends;
	 * the coroutine goes on meanwhile, on the thread that it has. It is like a stolen coroutine
	 * then, so only with stealing, and it runs beside others of its home: what pinned
	 * coroutines are spared. Not rescued are carriers that run a poller's own code (burst
	 * handlers, sources), a pinned coroutine, a block of HAUL_NO_SUSPEND(), a call of the
	 * library, or a slice that has used haul_local_get() or haul_local_set(). The thread under
	 * a carrier may change at each suspension, also for pinned coroutines. Where no CPU is
	 * idle, the kernel shares those there are among the threads. Interrupts system calls of the
	 * coroutine by SIGRTMAX - 3, once for each rescue; those that are not restarted return
	 * EINTR. Handlers with an order of flows compute its key for each packet, and a thread
	 * looks at the carriers: four times in that time while coroutines run, once while some have
	 * run lately, 500 times a second else. Not with ThreadSanitizer. 0: off.
	 */
	uint64_t rescue_after_ns;
	unsigned rescuers; /* at most 256; 0: as many as carriers */
	enum haul_fds fds;
	/* Each carrier keeps a timeline of at least that many last events, of 16 bytes each
	 * (haul/trace.h): 1,024 to 2^28. 0: none, and no memory for it. */
	unsigned trace_events;
};

/*
 * Starts a runtime with one carrier for each place of the plan. Any thread that is no carrier. A
 * process may have several runtimes. *rt is valid until haul_stop() returns 0. Returns 0; or, with
 * one line in errbuf, an error of the launcher, or:
 *	-EPERM		called on a carrier's thread
 *	-ENOMEM, -EAGAIN	no memory; no thread
 *	-ENOTSUP	stealing needs membarrier(2) (Linux 4.14) and a haul that was built with
 *			-Dstealing=true
 *	-EINVAL		stack_size, steal or a field below it is out of range; the plan
 *			is empty, or its tables name carriers or clusters that it does not have; the
 *			launcher lacks a function; more than 256 carriers in a group that steals;
 *			virtual_time with stealing
 *	-EBUSY		the process has another runtime, and one of them has virtual_time
 *	-ENOSPC		the process has 64 runtimes
 * A child of fork() has no runtime: there, calls on a runtime of the parent fail with -EPERM
 * (spawns, joins, haul_stop()). The child may start a runtime of its own, but not on EAL's lcores.
 */
HAUL_API int haul_start(struct haul_runtime **rt, const struct haul_runtime_opts *opts,
	char *errbuf, size_t errlen);

/*
 * Stops a runtime: refuses new spawns, cancels all coroutines and pollers, waits until they have
 * ended, ends the carriers' threads and frees the runtime. One line on stderr counts coroutines
 * that ended and were never joined or detached. timeout_ns leaves out the time in which carriers
 * wait for a CPU, as far as the kernel tells it. Any thread that is no carrier; it blocks. Returns
 * 0, or prints the reason on stderr and returns:
 *	-ETIMEDOUT	coroutines have not ended after timeout_ns: stderr lists up to 100, as
 *			haul_dump() does, and the carriers that do not answer. Carriers still
 *			run; call haul_stop() again
 *	-EDEADLK	called on a carrier; nothing was done (nor for the errors below)
 *	-EINVAL		rt is not running, because it was stopped before
 *	-EBUSY		haul_io_stop() has to come first
 *	-EPERM		called in a child of fork()
 */
HAUL_API int haul_stop(struct haul_runtime *rt, uint64_t timeout_ns);

/*
 * Prints coroutines that have not ended: carrier, name, state, what each waits for and since when,
 * call stack. Of coroutines with the same name and call stack, such as thousands of handlers in one
 * call, it prints three, any other that holds a mutex for which a printed one waits, and the number
 * of the rest. Prints the number of ended coroutines that were neither joined nor detached; with
 * stack_marks, how much stack each function has used at most. The carriers run on. Any thread. It
 * sends SIGRTMAX - 2 to the carriers' threads, whose handler calls the unwinder; with glibc before
 * 2.35 no thread may load a library meanwhile.
 */
HAUL_API void haul_dump(struct haul_runtime *rt, FILE *out);

/*
 * From now on the signal sig, such as SIGUSR1, has all runtimes of the process dumped on stderr, by
 * a thread that this call starts, and which takes the signal. So the call blocks sig in the calling
 * thread: threads that are created later inherit that, and no wait of theirs ends with EINTR. (Nor
 * does raise() reach the thread then; kill(getpid(), sig) does.) In threads that exist already, and
 * in programs that fork() and exec() start, the caller may block or unblock it. Any thread; best
 * the first one, before it creates others. Returns 0, or:
 *	-EINVAL	sig is no signal; one of a fault, which must end the program (SIGSEGV, SIGBUS,
 *		SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT); one that has no handler (SIGKILL,
 *		SIGSTOP, those of the C library); or haul's own, SIGRTMAX - 2 and - 3
 *	-EAGAIN	no thread
 */
HAUL_API int haul_dump_on_signal(int sig);

/* Returns the memory of unused stacks to the kernel. Any thread. Returns the number of bytes. */
HAUL_API size_t haul_trim(struct haul_runtime *rt);

/* The number of carriers; carrier i, or NULL if i is not below that number. The number depends on
 * the machine, unless haul_plan_opts.carriers names it. Any thread. */
HAUL_API unsigned haul_carriers(const struct haul_runtime *rt);
/* A struct has the same name, of which -Wshadow of C++ would warn. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
HAUL_API struct haul_carrier *haul_carrier(struct haul_runtime *rt, unsigned i);
#pragma GCC diagnostic pop

/*
 * The carrier nearest to a NIC, for haul_coro_opts.near. nic is an interface name or PCI address.
 * NULL if there is no such NIC, or the interface has no device (veth, TAP), and so is near to no
 * CPU. Reads files in /sys. Any thread.
 */
HAUL_API struct haul_carrier *haul_carrier_near(struct haul_runtime *rt, const char *nic);

/* The carrier whose thread makes the call; NULL on other threads. With stealing the answer expires
 * at the next suspension. */
HAUL_API struct haul_carrier *haul_carrier_self(void);

/* Constant properties of a carrier: its number, from 0; its place, owned by the runtime; its
 * runtime. Any thread. */
HAUL_API unsigned haul_carrier_id(const struct haul_carrier *c);
HAUL_API const struct haul_place *haul_carrier_place(const struct haul_carrier *c);
HAUL_API struct haul_runtime *haul_carrier_runtime(const struct haul_carrier *c);

/* Counters of a carrier since its start. Each is exact; they are not read at one instant. */
struct haul_carrier_stats {
	uint64_t rounds; /* iterations of the carrier's loop */
	uint64_t slices; /* resumptions of coroutines, without pollers */
	uint64_t spawned; /* coroutines spawned with this home */
	uint64_t ended; /* ended coroutines of this home */
	uint64_t messages; /* received from other threads */
	uint64_t wakeups; /* calls of other threads that woke it from sleep */
	uint64_t parks; /* times that it went to sleep */
	uint64_t stolen; /* coroutines that it stole from others */
	uint64_t steals_failed; /* attempts that took none: nothing there, or the victim was busy */
	uint64_t searches; /* wake-ups to search for work to steal */
	uint64_t long_slices; /* found by the watchdog; long cycles of the poller, too */
	uint64_t no_suspends; /* blocks of HAUL_NO_SUSPEND() */
	uint64_t foreign_waits; /* slices that kept the thread in a system call; by the watchdog */
	uint64_t hibernations; /* coroutines that began to hibernate */
	/* that ended to: those of other homes, too, if it has stolen them. The sum of hibernations
	 * of all carriers less that of thaws is the number that hibernates now. */
	uint64_t thaws;
	/* Slices that were left behind (haul_runtime_opts.rescue_after_ns); and that were not, each
	 * time that it was tried. */
	uint64_t rescues, rescues_refused;
	uint64_t placed_yields; /* of those that the compiler placed (haul/placed.h) */
};

/* Copies the counters of c into *st. Any thread. */
HAUL_API void haul_carrier_get_stats(const struct haul_carrier *c, struct haul_carrier_stats *st);

/*
 * With false, c takes no coroutines from other carriers from its next round on, as if it were
 * always busy: those that it has taken run and go home, and others may still take from it. With
 * true it steals again, as it does from the start. If several threads call, the last one decides.
 * Any thread; does not wait. Returns 0, or -ENOTSUP: carriers of this runtime do not steal, or
 * there is only one.
 */
HAUL_API int haul_carrier_set_stealing(struct haul_carrier *c, bool steals);

#ifdef __cplusplus
}
#endif

#endif
