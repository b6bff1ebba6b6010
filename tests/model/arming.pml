/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arming a NIC's interrupt against an arriving packet, and the carrier's inbox against a push, with
 * a store buffer for the poller (x86 has one; Spin itself is sequentially consistent). The poller
 * parks, arms, rechecks, asks can_park, waits. Safe: it never waits for ever while a packet or a
 * message is there.
 *
 * Broken on purpose, by -DBROKEN=n; each must be found:
 *	1  no recheck after the arming
 *	2  the recheck comes before the arming
 *	3  the arming stays in the store buffer during the recheck (no barrier between them)
 *	4  no call of can_park after the poller was descheduled on the way
 *	5  the wakeup is lost: the eventfd is emptied right before the wait
 *	6  the pusher reads the parked state before it pushes
 *	7  an edge-triggered source, left with packets in the ring
 */
#ifndef BROKEN
#define BROKEN 0
#endif

#define PACKETS 2
#define PUSHES	2

byte ring = 0;	       /* packets in the NIC's ring */
bool armed = false;    /* as the NIC sees it */
bool arming = false;   /* still in the poller's store buffer */
bool line = false;     /* interrupt raised and not yet taken */
byte inbox = 0;	       /* items */
bool polling_wait = false;     /* the inbox's state; one word with the items */
bool eventfd = false;
byte got_packets = 0, got_pushes = 0;

active proctype nic()
{
	byte n = 0;

	do
	:: n < PACKETS ->
		atomic { ring++; n++ }
		/* An arrival while armed raises the line. */
		if
		:: armed -> line = true
		:: else
		fi
	:: else -> break
	od
}

active proctype pusher()
{
	byte n = 0;
	bool was_polling_wait;

	do
	:: n < PUSHES ->
		n++;
#if BROKEN == 6
		was_polling_wait = polling_wait;
		atomic { inbox++ }
		if
		:: was_polling_wait -> atomic { polling_wait = false; eventfd = true }
		:: else
		fi
#else
		/* One read-modify-write of the inbox's head. */
		atomic { was_polling_wait = polling_wait; polling_wait = false; inbox++ }
		if
		:: was_polling_wait -> eventfd = true
		:: else
		fi
#endif
	:: else -> break
	od
}

/* The store buffer drains to the NIC at any time. */
active proctype store_buffer()
{
end:	do
	:: atomic { arming -> arming = false; armed = true }
	od
}

inline look(found)
{
	atomic {
		found = (ring > 0);
#if BROKEN == 7
		/* Takes one packet and leaves the rest; no new edge will come for the rest. */
		if
		:: ring > 0 -> ring--; got_packets++
		:: else
		fi
#else
		got_packets = got_packets + ring;
		ring = 0
#endif
	}
}

inline take_inbox()
{
	atomic { got_pushes = got_pushes + inbox; inbox = 0; polling_wait = false }
}

inline arm()
{
#if BROKEN == 3
	arming = true
#else
	armed = true
#endif
}

active proctype poller()
{
	bool found, parked;

	do
	:: got_packets == PACKETS && got_pushes == PUSHES -> break
	:: else ->
		look(found);
		take_inbox();
#if BROKEN == 7
		found = false; /* after a full burst it does not poll again */
#endif
		if
		:: found || (got_packets == PACKETS && got_pushes == PUSHES) -> skip
		:: else ->
			/* try_park: fails if the inbox is not empty. */
			atomic { parked = (inbox == 0); polling_wait = parked }
			if
			:: !parked -> skip
			:: else ->
#if BROKEN == 2
				look(found);
				arm();
#else
				arm();
#if BROKEN == 1 || BROKEN == 7
				found = false;
#else
				look(found);
#endif
#endif
				/* The poller may be descheduled here: then the carrier wakes it,
				 * which unparks it. */
				if
				:: take_inbox(); eventfd = false
				:: skip
				fi;
				if
#if BROKEN == 4
				:: !found ->
#else
				:: !found && polling_wait ->
#endif
#if BROKEN == 5
					eventfd = false;
#endif
					(line || eventfd)
				:: else
				fi;
				/* unpark, disarm */
				take_inbox();
				line = false;
				eventfd = false;
				armed = false;
				arming = false
			fi
		fi
	od
}
