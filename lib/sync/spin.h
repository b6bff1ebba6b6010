/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A coroutine that has to wait, on a carrier with nothing else to run, spins for a moment before it
 * suspends, as long as that pays (sched/state/spin.h): another carrier's then hands over by one
 * word of the waiter, and sends no message. Used by the mutex; mutex.c has the argument.
 */
#ifndef HAULI_SYNC_SPIN_H
#define HAULI_SYNC_SPIN_H

#include "conc/word.h"
#include "sched/state/carrier.h"

#define HAULI_SPINS_IN_A_ROW 16 /* a power of two */

/*
 * The running coroutine, on c, has entered a list. Neither one with a flag, such as a stolen one;
 * nor one that runs objects at once, the rest of which waits; nor where time is virtual. One in 16
 * suspends, so that those who hand over to and fro do not keep the carrier from its poller.
 */
static inline bool hauli_sync_may_spin(struct haul_carrier *c)
{
	return hauli_unlikely(!hauli_runq_has_some(&c->runq)) &&
		hauli_inbox_is_empty(&c->mail.inbox) && !c->spawn.at_once.coro && !c->watched &&
		hauli_coro_flags_word(c->current) == 0 && hauli_spin_may_pay(&c->wait.spin) &&
		++c->wait.spins % HAULI_SPINS_IN_A_ROW != 0;
}

/* Until the waiter was served, the carrier has mail, or some time has passed. */
void hauli_sync_spin(const struct haul_carrier *c, const struct hauli_handoff *h);

#endif
