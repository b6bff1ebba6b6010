/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A raw trace file, as haul_trace_write() makes it and haul-trace reads it: a head, and for each
 * carrier a ring's head, its events, oldest first, and a ring's tail. All in the order of bytes of
 * the machine that wrote it. An event has two words:
 *
 *	word 0, from the lowest bit on   6 bits kind, 6 bits sub, 52 bits time in ticks
 *	word 1                           16 bits extra, 48 bits value, such as a coroutine's address
 *
 * The writer of a ring goes on while the ring is copied: the events with a number below the tail's
 * `first` are to be dropped, since they may have been overwritten.
 */
#ifndef HAUL_TRACE_FILE_H
#define HAUL_TRACE_FILE_H

#include <stdint.h>

#define HAUL_TRACE_MAGIC UINT64_C(0x3143525448554c48)
#define HAUL_TRACE_VERSION 1u

enum haul_trace_kind {
	HAUL_TRACE_NONE, /* no event */
	HAUL_TRACE_NAME, /* the name in slot `extra` is the text of the next `sub` events */
	HAUL_TRACE_TEXT, /* 15 bytes: word 0 from its second byte on, then word 1 */
	/* Coroutine `value`, or the loop if 0, runs from now on; what ran before stopped as sub
	 * says, enum haul_trace_how. Extra: the name's slot, and 256 times the number of coroutines
	 * that have begun and ended since the last of these events, 255 or more as 255 */
	HAUL_TRACE_RUN,
	HAUL_TRACE_BLOCK, /* what runs is about to wait for: a name's slot, object `value` */
	/* The wait of coroutine `value` ends here, by what runs. sub: enum haul_trace_end */
	HAUL_TRACE_READY,
	HAUL_TRACE_REQUEST, /* one of another carrier is to be woken, cancelled or joined there */
	HAUL_TRACE_SPAWN, /* coroutine `value` was spawned, to begin on carrier `extra` */
	HAUL_TRACE_STEAL, /* coroutine `value` was taken from carrier `extra` */
	HAUL_TRACE_MAIL, /* the loop handles messages of other threads */
	HAUL_TRACE_TIMERS, /* `value` timers have expired */
	HAUL_TRACE_SLEEP, /* the carrier falls asleep, until HAUL_TRACE_AWAKE. sub: as in
			     enum haul_trace_sleep */
	HAUL_TRACE_AWAKE,
	HAUL_TRACE_POLL, /* a poll round with `extra` packets ends; it took `value` ticks */
	HAUL_TRACE_FD, /* a system call on descriptor `extra` ends; it took `value` ticks. sub:
			  enum haul_trace_call */
	HAUL_TRACE_BEGIN, /* a program's span in coroutine `value`; extra: its name's slot */
	HAUL_TRACE_END, /* the innermost span of coroutine `value` ends */
	HAUL_TRACE_MARK, /* a program's event in coroutine `value`; extra: its name's slot */
	HAUL_TRACE_COUNT, /* a program's counter; extra: its name's slot */
	HAUL_TRACE_VALUE, /* behind HAUL_TRACE_COUNT: its value, word 1 */
	HAUL_TRACE_TRIGGER, /* a trace was asked for. sub: enum haul_trace_why */
	/* Of a simulation, behind the other events of a ring: this is a carrier of the host that
	 * process `value` stands for; extra: the slot of the host's name, "" for the test itself */
	HAUL_TRACE_HOST,
	HAUL_TRACE_TRACK, /* behind that: of no carrier, but a track; extra: its name's slot */
	/* At a node of a simulated network: a frame of `value` & 65,535 bytes, which has the number
	 * `value` >> 16 on its way over one link. extra: the slot of the other node's name, or of
	 * the reason why it is lost. sub: enum haul_trace_frame */
	HAUL_TRACE_FRAME,
};

/* What becomes of a frame. */
enum haul_trace_frame {
	HAUL_TRACE_SENT,
	HAUL_TRACE_DUPLICATED, /* by the link */
	HAUL_TRACE_ARRIVED,
	HAUL_TRACE_LOST, /* here: where it was sent, or where it would have arrived */
};

/* How a slice ended. */
enum haul_trace_how {
	HAUL_TRACE_BEGAN, /* nothing ended: the loop goes on to a coroutine */
	HAUL_TRACE_YIELDED,
	HAUL_TRACE_PARKED,
	HAUL_TRACE_SLEEPS,
	HAUL_TRACE_JOINS,
	HAUL_TRACE_BLOCKED,
	HAUL_TRACE_ORDERED, /* it waits for earlier ones of its order key */
	HAUL_TRACE_WENT_HOME, /* it was stolen, and its home carries out how the slice ended */
	HAUL_TRACE_ENDED,
};

/* What ended a wait. 0: a file of before haul 0.2 */
enum haul_trace_end {
	HAUL_TRACE_WOKEN = 1,
	HAUL_TRACE_EXPIRED, /* its deadline, or the end of its sleep */
	HAUL_TRACE_CANCELLED,
};

enum haul_trace_sleep {
	HAUL_TRACE_ON_FUTEX,
	HAUL_TRACE_ON_FDS, /* for the kernel's word about descriptors, too */
	HAUL_TRACE_IN_POLLER, /* the poller waits for packets, too */
};

enum haul_trace_call {
	HAUL_TRACE_RECEIVES,
	HAUL_TRACE_SENDS,
};

/* Why a file was written. */
enum haul_trace_why {
	HAUL_TRACE_ASKED, /* haul_trace_write() */
	HAUL_TRACE_SIGNAL,
	HAUL_TRACE_CRASH,
	HAUL_TRACE_SLICE, /* a slice longer than its limit */
	HAUL_TRACE_GAP, /* a longer time between two turns of a poller than its limit */
	HAUL_TRACE_DROP, /* a packet was dropped */
	HAUL_TRACE_PROGRAM, /* haul_trace_trigger() */
};

struct haul_trace_file {
	uint64_t magic;
	uint32_t version;
	uint32_t why; /* enum haul_trace_why */
	uint64_t ticks, monotonic_ns, realtime_ns; /* the same moment by three clocks */
	uint64_t ns_per_tick; /* with 32 fractional bits */
	uint32_t pid;
	char program[20]; /* ends with a 0 */
};

struct haul_trace_ring {
	uint32_t runtime; /* from 0; a number of the process's runtimes */
	uint32_t carrier;
	uint32_t tid; /* of its thread; 0: that has not begun */
	uint32_t cpu; /* of its place */
	uint64_t size; /* of the ring */
	uint64_t first, end; /* numbers of the events that follow: from first to end - 1 */
};

struct haul_trace_tail {
	uint64_t first;
};

#endif
