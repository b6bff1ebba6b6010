/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What pollers poll, after the start: queues and buckets of flows that move to other carriers,
 * carriers that are in use or not, ports that are taken out and come back, other numbers of queues.
 * haul-dpdk/io.h includes it.
 */
#ifndef HAUL_DPDK_IO_MOVE_H
#define HAUL_DPDK_IO_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_io;

/* How long a move of a queue waits for handlers that wait. */
#define HAUL_IO_MOVE_MAX HAUL_MS
/*
 * Lets another carrier poll a receive queue from now on, while packets flow. haul loses no packet:
 * those that come meanwhile wait in the queue. Packets of a flow stay in order: the other carrier
 * begins when the handlers of the queue have ended on the first one, and their packets have been
 * passed to the NIC. For handlers that wait, and for a NIC that is full, the move waits
 * HAUL_IO_MOVE_MAX at most; such handlers go on where they are. Handlers of later packets send on
 * the transmit queue of their own carrier.
 *
 * Returns once the other carrier polls the queue. timeout_ns: how long each of the two may take to
 * answer, as for haul_io_set_policy(). It takes longer if a handler begins to keep one of them busy
 * while the queue moves. Any thread that is no carrier; not during haul_io_stop() and
 * haul_io_resume(), but while the pollers are stopped. Returns 0, also if the carrier polls the
 * queue already; or with one line in errbuf:
 *	-EINVAL	there is no such port or queue, or the carrier has no poller; or the port has fewer
 *		queues than there are pollers, so that its packets are spread
 *	-EPERM	called on a carrier
 *	-ETIMEDOUT, -ECANCELED, -ENOMEM	a carrier does not answer; the runtime is being stopped; no
 *			memory. The queue stays where it was
 */
HAUL_API int haul_io_move_queue(struct haul_io *io, unsigned port, unsigned queue, unsigned carrier,
	uint64_t timeout_ns, char *errbuf, size_t errlen);

/*
 * Buckets of flows, each of which one carrier handles. A port with fewer queues than there are
 * pollers has HAUL_IO_BUCKETS for each queue: the carrier of the queue passes packets on by flow.
 * The highest bits of haul_net_flow() pick a bucket, and the bucket names the carrier: that of the
 * queue, or one of those that it passes packets to. Bucket numbers of queue q begin at
 * q * HAUL_IO_BUCKETS. At the start each carrier has as many as the others, or one more.
 *
 * A port with a queue for each poller has as many buckets as the redirection table of its device
 * has entries, if RSS is on: the device's own hash of a flow picks a bucket, the bucket names a
 * queue, and its carrier is the one that polls the queue. The table is read when the pollers start;
 * only haul may change it while they run.
 */
#define HAUL_IO_BUCKETS 128
/* The number of buckets of a port; 0: it has none. Any thread. */
HAUL_API unsigned haul_io_buckets(const struct haul_io *io, unsigned port);

struct haul_bucket_stats {
	unsigned queue; /* from which its packets are received */
	unsigned carrier;
	bool counted; /* false: a device spreads the packets, and does not count them by bucket */
	uint64_t rx_packets; /* received from the queue, also if they are held for a move */
};
/* Copies the counters of a bucket into *st. Any thread. False: the port has no such bucket, or the
 * carrier of that queue passes no packets on. */
HAUL_API bool haul_io_get_bucket_stats(
	const struct haul_io *io, unsigned port, unsigned bucket, struct haul_bucket_stats *st);

/* True if a bucket may move to a carrier: it is one that gets packets of this queue. Any thread. */
HAUL_API bool haul_io_can_move_bucket(
	const struct haul_io *io, unsigned port, unsigned bucket, unsigned carrier);

/*
 * Lets another carrier handle the flows of a bucket from now on, while packets flow. haul loses no
 * packet: those that come meanwhile are held. Packets of a flow stay in order: the other carrier
 * begins when handlers of all earlier packets of the bucket have ended or wait, and what they sent
 * has been passed to the NIC. For handlers that others have stolen, and for a NIC that is full, the
 * move waits HAUL_IO_MOVE_MAX on each carrier. Handlers that wait go on where they are.
 *
 * Packets are held for as long as they would have waited for the first carrier: until it has begun
 * what it was passed before them. While haul_io_opts.max_in_flight packets are held, the queue is
 * not polled.
 *
 * With a redirection table, the bucket gets a queue of the other carrier: that with the fewest
 * buckets. Packets are held there, by the device: this queue, with its other buckets, is not polled
 * until the first carrier has begun what was in the former queue. haul assumes that a device has
 * put into queues what it received before a change of its table 50 us after it. While the pollers
 * are stopped, what waits in the former queue stays there.
 *
 * Returns once the other carrier has the bucket. timeout_ns, from which thread, and when: as
 * haul_io_move_queue(). Returns 0, also if the carrier has the bucket already; or with one line in
 * errbuf, and the bucket stays where it was:
 *	-EINVAL	there is no such port or bucket, or the carrier gets no packets of that queue, or
 *		polls no queue of the port
 *	-EBUSY	handlers that wait have kept the first carrier from beginning the bucket's packets
 *		for HAUL_IO_MOVE_MAX
 *	-EPERM	called on a carrier
 *	-ETIMEDOUT, -ECANCELED, -ENOMEM	a carrier does not answer; the runtime is being stopped; no
 *			memory
 *	others	the PMD does not change its table
 * After -EBUSY and -ETIMEDOUT packets that a redirection table gave to the other carrier meanwhile
 * may be handled before earlier ones.
 */
HAUL_API int haul_io_move_bucket(struct haul_io *io, unsigned port, unsigned bucket,
	unsigned carrier, uint64_t timeout_ns, char *errbuf, size_t errlen);

/*
 * Lets these carriers, of those that have pollers, handle all packets from now on, while packets
 * flow; the others are spared, until a later call names them. Their queues and buckets move to
 * those that are named, as with haul_io_move_queue() and haul_io_move_bucket(): each of these then
 * has as many of a port's as the others, or one more, with as few moves as that takes. The pollers
 * of spared carriers wait, whatever their policy is, and call no source; where carriers steal, they
 * do not, until they are in use again (haul_carrier_set_stealing()).
 *
 * What else runs on a spared carrier goes on there: handlers that wait, and coroutines that are
 * spawned on it by haul_spawn() there or haul_spawn_on(). Others may steal these, as from any
 * carrier. haul_spawn_any() passes over it while its cluster has another one, haul_spawn_many()
 * does not.
 *
 * Returns once all has moved. timeout_ns, from which thread, and when: as haul_io_move_queue().
 * Returns 0; or with one line in errbuf:
 *	-EINVAL	no carrier is named, or one that has no poller; or one that is not named has a queue
 *		whose packets are spread, which stays with its carrier
 *	-EPERM	called on a carrier
 *	-EBUSY, -ETIMEDOUT, -ECANCELED, -ENOMEM	as haul_io_move_bucket(). What has moved until then
 *			stays where it is now, and no carrier is spared that was not before: the
 *			same call goes on with the rest
 */
HAUL_API int haul_io_use(struct haul_io *io, const unsigned *carriers, unsigned nb_carriers,
	uint64_t timeout_ns, char *errbuf, size_t errlen);

/* False: the carrier is spared, or has no poller. Any thread. */
HAUL_API bool haul_io_is_used(const struct haul_io *io, unsigned carrier);

/*
 * Takes a port out while packets of the others flow, such as one with a fault (haul_port_fault()):
 * no poller receives from it any more, what is sent to it is dropped and counted
 * (HAUL_DROP_TX_REFUSED), and its device is closed. Handlers that have packets of the port go on.
 * What was counted stays, and ports keep their numbers. The port itself stays until
 * haul_port_close(), after haul_io_free(); its functions that need the device return -ENODEV until
 * haul_io_attach_port().
 *
 * timeout_ns: for each carrier to begin it, as with haul_io_move_queue(). From the thread that
 * starts and stops, while no other thread calls a function with the port; also while the pollers
 * are stopped. Returns 0, also for a port that is detached; or with one line in errbuf:
 *	-EINVAL	there is no such port
 *	-EPERM	called on a carrier
 *	-ETIMEDOUT, -ENOMEM	a carrier does not answer; no memory. The port is attached as
 *			before; packets for it may have been refused meanwhile
 *	-ECANCELED	haul_io_stop() has begun and not ended, or the runtime is being stopped
 */
HAUL_API int haul_io_detach_port(
	struct haul_io *io, unsigned port, uint64_t timeout_ns, char *errbuf, size_t errlen);

/*
 * Takes a port in again that was detached: opens its device anew, by its spec, and starts it;
 * pollers receive from it, and handlers send to it, as before. Its fault is gone, what was counted
 * goes on. It gets the configuration that the port had (haul-dpdk/port_config.h), but for VLAN ids
 * and the link. What the device lacks is left out, until one comes that has it:
 * haul_port_notice() says so, haul_port_config() is what it has. The MAC address may be another
 * one.
 *
 * timeout_ns, from which thread, and when: as haul_io_detach_port(). Returns 0, also for a port
 * that is attached; or with one line in errbuf, and the port is detached as before:
 *	-EINVAL	there is no such port, or its device has another number of queues now
 *	-EPERM, -ETIMEDOUT, -ENOMEM, -ECANCELED	as haul_io_detach_port()
 *	other	the device cannot be opened or started; as haul_port_open()
 */
HAUL_API int haul_io_attach_port(
	struct haul_io *io, unsigned port, uint64_t timeout_ns, char *errbuf, size_t errlen);

/* False: the port was detached, or there is none. Any thread. */
HAUL_API bool haul_io_is_attached(const struct haul_io *io, unsigned port);

/*
 * After haul_port_set_queues(), and before haul_io_resume(): which carrier polls which queue
 * follows from the numbers of queues, as at the start. Sums of ports and carriers go on; those of
 * single queues and buckets begin anew. Transmit queues of before (haul_io_txq(), haul_rx) are
 * gone, and so is what uses them: a host, coroutines of the program. The thread that starts and
 * stops; no other one reads io meanwhile. Returns 0; or with one line in errbuf -EBUSY (pollers
 * run, handlers have not ended, a capture is under way), -EPERM (called on a carrier), or -ENOMEM:
 * io can only be freed then.
 */
HAUL_API int haul_io_reshape(struct haul_io *io, char *errbuf, size_t errlen);

#ifdef __cplusplus
}
#endif

#endif
