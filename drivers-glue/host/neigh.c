/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours that are used, and what the table makes of answers and of time: RFC 4861, 7.2 and
 * 7.3. */
#include "host/neigh.h"

#include <errno.h>

#include "base/assert.h"

/* What a user of entry i gets. */
static int result_of(struct hauli_neigh *t, uint32_t i, uint8_t mac[6])
{
	enum haul_neighbour_state state = hauli_neigh_state_at(t, i);

	if (t->closed)
		return -ECANCELED;
	if (state == HAUL_NEIGHBOUR_INCOMPLETE)
		return -EAGAIN;
	if (!hauli_neigh_is_usable(state) && state != HAUL_NEIGHBOUR_STALE)
		return -EHOSTUNREACH;
	hauli_neigh_get_mac(t, i, mac);
	return 0;
}

static int use(
	struct hauli_neigh *t, struct hauli_ip ip, uint64_t now, uint8_t mac[6], uint32_t *entry)
{
	uint32_t i;
	int err;

	if (t->closed)
		return -ECANCELED;
	i = hauli_neigh_look_up(t, ip);
	if (i == HAULI_NO_NEIGH)
		i = hauli_neigh_create_entry(t, ip, now);
	if (i == HAULI_NO_NEIGH)
		return -ENOBUFS;
	if (hauli_neigh_state_at(t, i) == HAUL_NEIGHBOUR_STALE)
		hauli_neigh_keep_mac(t, i, HAUL_NEIGHBOUR_DELAY, now);
	err = result_of(t, i, mac);
	if (err != -EAGAIN || !entry)
		return err;
	if (t->waiters >= t->opts.waiters_max)
		return -ENOBUFS;
	t->waiters++;
	t->entries[i].waiters++;
	*entry = i;
	return err;
}

int hauli_neigh_use(
	struct hauli_neigh *t, struct hauli_ip ip, uint64_t now, uint8_t mac[6], uint32_t *entry)
{
	int err;

	pthread_mutex_lock(&t->lock);
	err = use(t, ip, now, mac, entry);
	t->st.refused += err == -ENOBUFS;
	hauli_neigh_unlock(t);
	return err;
}

struct haul_event *hauli_neigh_event(struct hauli_neigh *t, uint32_t entry)
{
	return &t->entries[entry].changed;
}

int hauli_neigh_look(struct hauli_neigh *t, uint32_t entry, uint8_t mac[6])
{
	int err;

	pthread_mutex_lock(&t->lock);
	err = result_of(t, entry, mac);
	/* Under the lock, and for this state only: what ends it sets the event after that. One that
	 * has seen the end must not reset it, as another may be about to wait. */
	if (err == -EAGAIN)
		haul_event_reset(&t->entries[entry].changed);
	pthread_mutex_unlock(&t->lock);
	return err;
}

void hauli_neigh_leave(struct hauli_neigh *t, uint32_t entry)
{
	pthread_mutex_lock(&t->lock);
	HAUL_BUG_ON(t->entries[entry].waiters == 0);
	t->waiters--;
	t->entries[entry].waiters--;
	if (t->closed && t->entries[entry].waiters == 0)
		hauli_neigh_forget(t, entry);
	hauli_neigh_unlock(t);
}

/* Unlocks, and wakes those that wait for entry i, unless it is still INCOMPLETE. */
static void leave_lock_and_wake(struct hauli_neigh *t, uint32_t i)
{
	bool wakes = i != HAULI_NO_NEIGH && t->entries[i].waiters > 0 &&
		hauli_neigh_state_at(t, i) != HAUL_NEIGHBOUR_INCOMPLETE;

	hauli_neigh_unlock(t);
	if (wakes)
		haul_event_set(&t->entries[i].changed);
}

/* An address was heard of entry i. */
static void learn(struct hauli_neigh *t, uint32_t i, const uint8_t *mac,
	enum haul_neighbour_state state, uint64_t now)
{
	bool first = hauli_neigh_state_at(t, i) == HAUL_NEIGHBOUR_INCOMPLETE;

	t->st.learned += first;
	t->st.changed += !first && mac && !hauli_neigh_has_mac(t, i, mac);
	if (mac)
		hauli_neigh_set_state(t, i, mac, state, now);
	else
		hauli_neigh_keep_mac(t, i, state, now);
}

/* RFC 4861, 7.2.5. An answer to no question counts as one that was not solicited: it can make an
 * entry STALE, so that it is asked when it is used, and no more. */
static void answer(struct hauli_neigh *t, uint32_t i, const uint8_t *mac, bool solicited,
	bool overrides, uint64_t now)
{
	enum haul_neighbour_state state = hauli_neigh_state_at(t, i);
	bool asked = state == HAUL_NEIGHBOUR_INCOMPLETE || state == HAUL_NEIGHBOUR_PROBE;
	bool other = mac && !hauli_neigh_has_mac(t, i, mac);

	t->st.ignored += solicited && !asked;
	if (state == HAUL_NEIGHBOUR_FAILED)
		return; /* it is asked anew soon */
	if (state == HAUL_NEIGHBOUR_INCOMPLETE) {
		if (mac)
			learn(t, i, mac,
				solicited ? HAUL_NEIGHBOUR_REACHABLE : HAUL_NEIGHBOUR_STALE, now);
	} else if (other && !overrides) {
		if (state == HAUL_NEIGHBOUR_REACHABLE)
			hauli_neigh_keep_mac(t, i, HAUL_NEIGHBOUR_STALE, now);
	} else if (solicited && asked) {
		learn(t, i, mac, HAUL_NEIGHBOUR_REACHABLE, now);
	} else if (other) {
		learn(t, i, mac, HAUL_NEIGHBOUR_STALE, now);
	}
}

void hauli_neigh_answer(struct hauli_neigh *t, struct hauli_ip ip, const uint8_t *mac,
	bool solicited, bool overrides, uint64_t now)
{
	uint32_t i;

	pthread_mutex_lock(&t->lock);
	i = hauli_neigh_look_up(t, ip);
	if (i != HAULI_NO_NEIGH)
		answer(t, i, mac, solicited, overrides, now);
	else
		t->st.ignored++;
	leave_lock_and_wake(t, i);
}

/* RFC 4861, 7.2.3; but an entry that is INCOMPLETE stays so: an answer comes. */
void hauli_neigh_asks(struct hauli_neigh *t, struct hauli_ip ip, const uint8_t mac[6], uint64_t now)
{
	enum haul_neighbour_state state;
	struct hauli_neigh_seen seen;
	uint8_t known[6];
	uint32_t i;

	/* Most questions come from neighbours whose address is the known one. */
	if (hauli_neigh_find(t, ip, known, &seen) && !memcmp(known, mac, 6))
		return;
	pthread_mutex_lock(&t->lock);
	i = hauli_neigh_look_up(t, ip);
	state = i == HAULI_NO_NEIGH ? HAUL_NEIGHBOUR_NONE : hauli_neigh_state_at(t, i);
	if ((hauli_neigh_is_usable(state) || state == HAUL_NEIGHBOUR_STALE) &&
		!hauli_neigh_has_mac(t, i, mac))
		learn(t, i, mac, HAUL_NEIGHBOUR_STALE, now);
	hauli_neigh_unlock(t);
}

static void confirm(struct hauli_neigh *t, uint32_t i, uint64_t now)
{
	enum haul_neighbour_state state = hauli_neigh_state_at(t, i);

	if (hauli_neigh_is_usable(state) || state == HAUL_NEIGHBOUR_STALE)
		hauli_neigh_keep_mac(t, i, HAUL_NEIGHBOUR_REACHABLE, now);
}

void hauli_neigh_confirm(struct hauli_neigh *t, struct hauli_ip ip, uint64_t now)
{
	uint32_t i;

	if (hauli_neigh_is_reachable(t, ip))
		return;
	pthread_mutex_lock(&t->lock);
	i = hauli_neigh_look_up(t, ip);
	if (i != HAULI_NO_NEIGH)
		confirm(t, i, now);
	hauli_neigh_unlock(t);
}

void hauli_neigh_confirm_at(struct hauli_neigh *t, uint32_t slot, struct hauli_ip ip, uint64_t now)
{
	pthread_mutex_lock(&t->lock);
	if (hauli_ip_equal(hauli_neigh_ip_at(t, slot), ip))
		confirm(t, slot, now);
	hauli_neigh_unlock(t);
}

/* True: one more question. */
static bool ask(struct hauli_neigh *t, uint32_t i, uint64_t now, struct hauli_question *q)
{
	struct hauli_neigh_entry *e = &t->entries[i];

	if (e->asked == t->opts.tries)
		return false;
	e->asked++;
	t->st.asked++;
	*q = (struct hauli_question){.ip = hauli_neigh_ip_at(t, i)};
	hauli_neigh_get_mac(t, i, q->mac);
	q->to_all = hauli_neigh_state_at(t, i) == HAUL_NEIGHBOUR_INCOMPLETE;
	hauli_due_set(&t->due, i, now + t->opts.retrans_ns);
	return true;
}

/* No answer came. */
static void fail(struct hauli_neigh *t, uint32_t i, uint64_t now)
{
	t->st.failed++;
	/* A neighbour that was there before may have another address now: the next use asks
	 * all. */
	if (hauli_neigh_state_at(t, i) == HAUL_NEIGHBOUR_PROBE)
		hauli_neigh_forget(t, i);
	else
		hauli_neigh_keep_mac(t, i, HAUL_NEIGHBOUR_FAILED, now);
}

/* Entry i is due. True: there is a question. */
static bool age(struct hauli_neigh *t, uint32_t i, uint64_t now, struct hauli_question *q)
{
	switch (hauli_neigh_state_at(t, i)) {
	case HAUL_NEIGHBOUR_REACHABLE:
		hauli_neigh_keep_mac(t, i, HAUL_NEIGHBOUR_STALE, now);
		return false;
	case HAUL_NEIGHBOUR_DELAY:
		hauli_neigh_keep_mac(t, i, HAUL_NEIGHBOUR_PROBE, now);
		return ask(t, i, now, q);
	case HAUL_NEIGHBOUR_INCOMPLETE:
	case HAUL_NEIGHBOUR_PROBE:
		if (ask(t, i, now, q))
			return true;
		fail(t, i, now);
		return false;
	case HAUL_NEIGHBOUR_FAILED:
		if (t->entries[i].waiters > 0)
			hauli_due_set(&t->due, i, now + t->opts.failed_ns);
		else
			hauli_neigh_forget(t, i);
		return false;
	case HAUL_NEIGHBOUR_STALE:
	case HAUL_NEIGHBOUR_NONE:
		break;
	}
	hauli_due_set(&t->due, i, HAUL_FOREVER);
	return false;
}

bool hauli_neigh_age(struct hauli_neigh *t, uint64_t now, struct hauli_question *q)
{
	bool asks = false, is_due = true;

	while (!asks && is_due) {
		uint32_t i = HAULI_NO_NEIGH;

		pthread_mutex_lock(&t->lock);
		is_due = hauli_due_first(&t->due) <= now;
		if (is_due) {
			i = t->due.heap[0];
			asks = age(t, i, now, q);
		}
		t->promised = 0; /* the caller is awake */
		leave_lock_and_wake(t, i);
	}
	return asks;
}

uint64_t hauli_neigh_due(struct hauli_neigh *t)
{
	uint64_t first;

	pthread_mutex_lock(&t->lock);
	first = t->promised = hauli_due_first(&t->due);
	pthread_mutex_unlock(&t->lock);
	return first;
}

enum haul_neighbour_state hauli_neigh_state(
	struct hauli_neigh *t, struct hauli_ip ip, uint8_t mac[6])
{
	enum haul_neighbour_state state = HAUL_NEIGHBOUR_NONE;
	uint32_t i;

	pthread_mutex_lock(&t->lock);
	i = hauli_neigh_look_up(t, ip);
	if (i != HAULI_NO_NEIGH) {
		state = hauli_neigh_state_at(t, i);
		hauli_neigh_get_mac(t, i, mac);
	}
	pthread_mutex_unlock(&t->lock);
	return state;
}

void hauli_neigh_add_stats(struct hauli_neigh *t, struct haul_host_stats *st)
{
	pthread_mutex_lock(&t->lock);
	st->neighbours += t->known;
	st->waiters += t->waiters;
	st->asked += t->st.asked;
	st->learned += t->st.learned;
	st->changed += t->st.changed;
	st->failed += t->st.failed;
	st->refused += t->st.refused;
	st->evicted += t->st.evicted;
	st->ignored += t->st.ignored;
	pthread_mutex_unlock(&t->lock);
}
