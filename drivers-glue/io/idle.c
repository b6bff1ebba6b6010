/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting, in the order that misses nothing: park, arm, recheck, check whether still parked, wait,
 * unpark, disarm. From the park on other threads end the wait by the eventfd, from the arming on
 * packets do; the park or the recheck finds everything before. A sleep is the same with a time-out
 * and without packets. See docs/internals/waiting.md.
 *
 * A poller listens to its RPS targets only if they have handed over nothing yet. A recheck that has
 * sent such packets counts as empty, so the poller then asks whether it listens.
 *
 * A pause needs none of that: it is a long step of spinning.
 *
 * Model: tests/model/poller_idle.c, poller_proxy.c.
 */
#include "io/idle.h"

#include "base/clock.h"
#include "io/pause.h"
#include "io/poller_kinds.h"
#include "io/spread.h"

#define EMPTIES 4 /* cycles without packets before any wait: handlers may be about to reply */
#define STEP_NS HAUL_US /* the first sleep; each further one takes twice as long */
#define RETRY_NS (50 * HAUL_US) /* bound on a wait while the NIC has not taken all packets */
#define DRY_NS HAUL_MS /* bound without packet buffers: no event tells a PMD to refill its ring */
#define DRY 512
#define LOST_NS (10 * HAUL_MS) /* bound while the interface is gone: it may come back */
#define IN_VAIN 16
#define BUSY 256 /* cycles with packets and without a wait, before queues leave the epoll set */
#define REST_NS HAUL_MS /* bound while a queue signals packets that the PMD does not see */

int hauli_idle_open(struct hauli_poller *p)
{
	struct hauli_rxq **r;
	int err = hauli_io_wait_open(&p->idle.wait);

	for (r = p->active; *r && err == 0; r++)
		if (!(*r)->target)
			hauli_io_wait_add(&p->idle.wait, &(*r)->source);
	return err;
}

void hauli_idle_close(struct hauli_poller *p)
{
	struct hauli_rxq *r;

	/* Never opened: queues may not be set up, as memory was missing. */
	for (r = p->rxqs; p->idle.wait.epoll >= 0 && r < p->rxqs_end; r++)
		hauli_io_wait_remove(&p->idle.wait, &r->source);
	hauli_io_wait_close(&p->idle.wait);
}

void hauli_idle_wakeup(void *arg)
{
	struct hauli_poller *p = arg;

	hauli_io_wait_wake(&p->idle.wait);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Takes sockets and TAPs out of the epoll set: senders then need not call a poller that does not
 * wait. */
static void listen_no_more(struct hauli_poller *p)
{
	for (struct hauli_rxq **r = p->active; *r; r++)
		hauli_io_wait_arm(&p->idle.wait, &(*r)->source, false);
}

void hauli_idle_recompute(struct hauli_poller *p)
{
	struct hauli_idle *d = &p->idle;

	p->waits = true;
	d->spin_ticks = 0;
	d->pause_ns = HAUL_FOREVER;
	d->longest_ns = d->fill_time = HAUL_FOREVER;
	/* The shortest of the queues' times decides. What it still has when it is spared are queues
	 * to which no proxy passes packets. */
	for (struct hauli_rxq **r = p->active; *r && !hauli_u32_published_get(&p->spared); r++)
		hauli_poller_kind((*r)->policy.how)->merge(p, *r);
	d->step_ns = 0;
	if (!p->waits)
		listen_no_more(p);
}

static bool listens(const struct hauli_rxq *r)
{
	if (!hauli_poller_kind(r->policy.how)->shown.needs_wait_source)
		return false;
	/* A queue with max_in_flight handlers receives nothing: packets must not end the wait. */
	return hauli_rxq_in_flight(r) < r->max_in_flight;
}

/* True if the row of empty cycles is long enough for a wait. */
static bool is_time(struct hauli_poller *p)
{
	struct hauli_idle *d = &p->idle;
	uint64_t cycle = hauli_counter_read(&p->cycles);
	uint64_t now;

	if (cycle != d->cycle + 1) {
		d->empties = 0;
		d->since = 0;
		d->step_ns = 0;
	}
	d->cycle = cycle;
	if (d->empties < EMPTIES) {
		d->empties++;
		return false;
	}
	if (d->spin_ticks == 0)
		return true;
	now = hauli_ticks();
	if (d->since == 0)
		d->since = now;
	return now - d->since >= d->spin_ticks;
}

static void arm(struct hauli_poller *p)
{
	bool rests = p->idle.in_vain >= IN_VAIN;
	struct hauli_rxq *r;

	p->idle.busy = 0;
	for (struct hauli_rxq **active = p->active; (r = *active) != NULL; active++) {
		r->source.ready = false;
		hauli_io_wait_arm(&p->idle.wait, &r->source, !rests && listens(r));
		p->idle.lost |= r->source.lost;
	}
	hauli_spread_listen(p);
	hauli_io_wait_armed();
}

static void disarm(struct hauli_poller *p)
{
	for (struct hauli_rxq **r = p->active; *r; r++)
		hauli_io_wait_disarm(&(*r)->source);
}

/* The next sleep: twice the last one, at most the policy's and the fill time. */
static uint64_t next_step(struct hauli_idle *d)
{
	uint64_t most = d->fill_time;

	if (d->longest_ns == HAUL_FOREVER)
		return HAUL_FOREVER;
	if (most != HAUL_FOREVER)
		most = most > d->late_ns + STEP_NS ? most - d->late_ns : STEP_NS;
	most = earlier(most, d->longest_ns);
	d->step_ns = earlier(d->step_ns ? 2 * d->step_ns : STEP_NS, most);
	return d->step_ns;
}

static uint64_t longest(struct hauli_poller *p)
{
	uint64_t ns = next_step(&p->idle);

	if (hauli_has_to_send(p))
		ns = earlier(ns, RETRY_NS);
	if (p->idle.lost)
		ns = earlier(ns, LOST_NS);
	if (p->idle.in_vain >= IN_VAIN)
		ns = earlier(ns, REST_NS);
	if (ns > DRY_NS && rte_mempool_avail_count(p->pool) < DRY)
		ns = DRY_NS;
	return ns;
}

static void wait(struct hauli_poller *p)
{
	struct hauli_idle *d = &p->idle;
	uint64_t most = longest(p);
	uint64_t began = hauli_ticks();
	uint64_t timer = haul_poller_deadline();
	uint64_t until =
		most == HAUL_FOREVER ? timer : earlier(timer, hauli_ns_from_ticks(began) + most);
	uint64_t now;
	unsigned end;

	hauli_stopwatch_start(&d->asleep, began);
	end = hauli_io_wait(&d->wait, until);
	d->woke_at = hauli_ticks();
	hauli_stopwatch_stop(&d->asleep, d->woke_at);
	now = hauli_ns_from_ticks(d->woke_at);
	hauli_counter_add(&d->sleeps, 1);
	if (end)
		hauli_counter_add(&d->wakes, 1);
	else if (now > until)
		d->late_ns = (7 * d->late_ns + now - until) / 8;
	if (end & HAULI_IO_WAIT_END_LOST)
		d->lost = true;
	if (end & HAULI_IO_WAIT_END_READY)
		d->in_vain++;
	else
		d->in_vain = 0;
}

/* For queues that ended the wait, and whose PMD returned no packet. */
static void nudge(struct hauli_poller *p)
{
	struct hauli_rxq *r;

	for (struct hauli_rxq **active = p->active; (r = *active) != NULL; active++)
		if (!r->target && r->source.ready && r->port->kind->nudge)
			r->port->kind->nudge(r->port, r->source.queue);
}

/* Pauses until the carrier's next timer at most. Other threads cannot end a pause, so it is short
 * enough for their work to wait. A packet ends it if the poller has one queue. */
static void rest(struct hauli_poller *p)
{
	bool alone = p->active[0] && !p->active[1] && !p->active[0]->target;
	const struct hauli_burst *only = alone ? &p->active[0]->burst : NULL;
	uint64_t began = hauli_ticks();
	uint64_t until =
		earlier(hauli_ns_from_ticks(began) + p->idle.pause_ns, haul_poller_deadline());

	hauli_stopwatch_start(&p->idle.asleep, began);
	hauli_pause(only, hauli_ticks_from_ns(until));
	hauli_stopwatch_stop(&p->idle.asleep, hauli_ticks());
	hauli_counter_add(&p->idle.sleeps, 1);
}

bool hauli_idle(struct hauli_poller *p, hauli_cycle_fn *cycle)
{
	struct hauli_idle *d = &p->idle;
	bool io;

	if (!is_time(p))
		return false;
	if (d->pause_ns != HAUL_FOREVER) {
		/* The flush may have made senders ready. */
		if (!hauli_glue_has_ready(p->carrier))
			rest(p);
		return false;
	}
	if (!hauli_io_wait_cover_fds(&d->wait) || !haul_poller_try_park())
		return false;
	arm(p);
	io = cycle(p, false);
	if (!io && hauli_spread_wakes(p) && haul_poller_can_park()) {
		wait(p);
		haul_poller_unpark();
		disarm(p);
		io = cycle(p, true);
		if (!io && d->in_vain > 0)
			nudge(p);
	} else {
		haul_poller_unpark();
		disarm(p);
	}
	if (io)
		d->in_vain = 0;
	/* The next empty cycle continues the row, or begins a new one. */
	d->cycle = io ? 0 : hauli_counter_read(&p->cycles);
	return io;
}

void hauli_idle_sleep_until(struct hauli_poller *p, uint64_t until)
{
	if (hauli_glue_is_virtual(p->carrier)) {
		(void)haul_sleep_until(until);
		return;
	}
	if (!hauli_io_wait_cover_fds(&p->idle.wait) || !haul_poller_try_park())
		return;
	listen_no_more(p);
	if (haul_poller_can_park())
		(void)hauli_io_wait(&p->idle.wait, earlier(until, haul_poller_deadline()));
	haul_poller_unpark();
}

void hauli_idle_ends(struct hauli_poller *p)
{
	if (hauli_unlikely(++p->idle.busy == BUSY))
		listen_no_more(p);
}

void hauli_idle_handles(struct hauli_poller *p)
{
	uint64_t ticks = hauli_ticks() - p->idle.woke_at;

	haul_hist_add(&p->idle.latency, hauli_ns_from_ticks(ticks), 1);
}
