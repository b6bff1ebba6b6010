/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The round of a simulated carrier, as in lib/sched/run/round.c: mail, batches of slices until a
 * budget is spent, one poll, and without work, help for others, or sleep. A step does everything up
 * to the next wait at once; its cost postpones the end of that wait.
 */
#include "sim.h"

#define BATCH_MAX 32
#define ROUND 50000
#define POLL_INTERVAL 20000
#define BURST 32 /* of a poll, and of a source */

void sim_carrier_init(struct sim_carrier *c, struct sim_world *w, unsigned id, unsigned cluster)
{
	*c = (struct sim_carrier){.w = w, .id = id, .cluster = cluster, .search = -1};
	c->lately.budget = 1;
	c->state = SIM_LOOPS;
	sim_queue_init(&c->ring);
	sim_queue_init(&c->cut);
	sim_queue_init(&c->nic);
	sim_queue_init(&c->stolen_tasks);
	sim_queue_init(&c->mail);
}

void sim_rescuer_init(struct sim_carrier *c, struct sim_world *w, unsigned id)
{
	sim_carrier_init(c, w, id, 0);
	c->state = SIM_SLEEPS;
	c->next_at = SIM_NEVER;
}

static uint64_t now(const struct sim_carrier *c)
{
	return c->w->now + c->cost;
}

static void go_on(struct sim_carrier *c, enum sim_state state, uint64_t after)
{
	c->state = state;
	sim_schedule(c, now(c) + after);
}

void sim_carrier_push(struct sim_carrier *c, struct sim_task *t)
{
	sim_queue_push(t->is_cut ? &c->cut : &c->ring, t);
	c->pushed++;
}

/* Between two batches: one whose slice was cut goes first, after others have had a batch. */
static void take_cut(struct sim_carrier *c)
{
	bool has_run = c->cut_has_run;

	c->cut_has_run = false;
	if (c->cut.length == 0 || has_run)
		return;
	sim_queue_push_first(&c->ring, sim_queue_pop(&c->cut));
	c->cut_has_run = true;
}

bool sim_carrier_wake(struct sim_carrier *c)
{
	const struct sim_opts *o = c->w->o;

	if (c->state == SIM_IDLES && c->next_at > c->w->now + o->poll_cost)
		sim_schedule(c, c->w->now + o->poll_cost);
	if (c->state != SIM_SLEEPS)
		return false;
	c->w->payer->cost += o->wake_call;
	c->w->counts.wakes++;
	c->state = SIM_WAKES;
	sim_schedule(c, c->w->now + o->wake);
	return true;
}

void sim_carrier_arrive(struct sim_carrier *c, struct sim_task *t)
{
	bool polls = c->w->o->arrive == SIM_POLL;

	c->w->payer = &c->w->outside;
	sim_queue_push(polls ? &c->nic : &c->mail, t);
	if (!sim_carrier_wake(c) && !polls && c->group)
		sim_offer(c);
}

static bool has_mail(const struct sim_carrier *c)
{
	return c->mail.length > 0 || c->notes > 0 || c->search >= 0;
}

/* The owner waits while a thief is in its ring. */
static void wait_for_thief(struct sim_carrier *c)
{
	if (c->guarded > now(c))
		c->cost = c->guarded - c->w->now;
}

static void receive(struct sim_carrier *c)
{
	struct sim_task *t;

	if (!has_mail(c))
		return;
	wait_for_thief(c);
	c->cost += (c->mail.length + c->notes) * c->w->o->receive_cost;
	c->notes = c->notes_seen = 0;
	while ((t = sim_queue_pop(&c->mail))) {
		t->remote = false;
		sim_carrier_push(c, t);
	}
	if (c->search >= 0) {
		unsigned token = (unsigned)c->search;

		c->search = -1;
		c->w->counts.searches++;
		hauli_policy_begin(&c->thief, token, now(c));
	}
}

/* A source spawns a burst, and ends after its last one. */
static void start_burst(struct sim_carrier *c, struct sim_task *source)
{
	for (unsigned i = 0; i < BURST && source->slices > 0; i++, source->slices--) {
		struct sim_task *t = sim_task_new(c->w, c->id, sim_load_service(&c->w->load));

		c->cost += c->w->o->spawn_cost;
		t->came = now(c);
		sim_carrier_push(c, t);
		if (c->group)
			sim_offer(c);
	}
}

/* A rescuer is taken for a slice that will be left behind. NULL: it will not be. */
static struct sim_carrier *find_rescuer(const struct sim_carrier *c, const struct sim_task *t)
{
	const struct sim_opts *o = c->w->o;

	if (o->rescue == 0 || t->part <= o->rescue + o->rescue_takes)
		return NULL;
	for (unsigned i = 0; i < o->rescuers; i++)
		if (c->w->rescuers[i].state == SIM_SLEEPS)
			return &c->w->rescuers[i];
	return NULL;
}

/* The slice goes on without its carrier c. */
static void leave_behind(struct sim_carrier *c)
{
	const struct sim_opts *o = c->w->o;
	struct sim_carrier *r = c->rescuer;

	r->current = c->current;
	r->current->remote = true;
	c->current = NULL;
	c->rescuer = NULL;
	c->w->counts.rescues++;
	sim_schedule(r, c->w->now + r->current->part - o->rescue - o->rescue_takes);
}

static void start_slice(struct sim_carrier *c, struct sim_task *t)
{
	const struct sim_opts *o = c->w->o;
	uint64_t takes;

	t->part = o->yield > 0 && t->left > o->yield ? o->yield : t->left;
	takes = t->part + o->slice_cost;
	if (c->group && (o->whom == SIM_RING || o->whom == SIM_GROUP) && sim_is_fenced(c, now(c))) {
		takes += o->fence;
		c->w->counts.overhead += o->fence;
		c->lease -= c->lease > 0;
	}
	c->current = t;
	c->ran++;
	c->batch--;
	if (t->source)
		start_burst(c, t);
	else if (t->remote)
		takes += c->w->carriers[t->home].cluster == c->cluster ? o->refill : o->far_refill;
	c->rescuer = find_rescuer(c, t);
	if (c->rescuer) {
		c->rescuer->state = SIM_RUNS;
		takes -= t->part - o->rescue - o->rescue_takes;
	}
	go_on(c, SIM_RUNS, takes);
}

static void send_home(struct sim_carrier *c, struct sim_task *t)
{
	struct sim_carrier *home = &c->w->carriers[t->home];

	c->cost += c->w->o->send_cost;
	if (t->slices > 0) {
		sim_queue_push(&home->mail, t);
	} else {
		home->notes++;
		sim_task_end(c->w, t, c->w->now);
	}
	sim_carrier_wake(home);
}

static void end_slice(struct sim_carrier *c)
{
	struct sim_task *t = c->current;

	c->current = NULL;
	if (t->source) {
		if (t->slices > 0)
			sim_carrier_push(c, t);
		else
			sim_task_end(c->w, t, c->w->now);
		return;
	}
	c->w->counts.slices++;
	c->w->counts.worked += t->part;
	t->left -= t->part;
	t->is_cut = t->left > 0 && !c->w->o->fifo;
	if (t->left == 0) {
		t->slices--;
		t->left = t->service;
	}
	if (t->is_cut)
		c->batch = 0;
	if (t->remote)
		send_home(c, t);
	else if (t->slices > 0)
		sim_carrier_push(c, t);
	else
		sim_task_end(c->w, t, c->w->now);
}

static unsigned budget(const struct sim_carrier *c)
{
	return c->w->o->arrive == SIM_POLL ? c->lately.budget : UINT32_MAX;
}

static void begin_batch(struct sim_carrier *c)
{
	unsigned left = budget(c) - c->ran;

	wait_for_thief(c);
	c->closed = false;
	c->batch = left < BATCH_MAX ? left : BATCH_MAX;
	c->batch_began = now(c) + 1; /* 0 means none */
	c->slice_average = c->lately.typical;
	if (!c->group)
		return;
	if (c->thief.search)
		hauli_policy_end(&c->thief);
	if (hauli_policy_has_spare(c->ring.length + c->cut.length, has_mail(c)))
		sim_offer(c);
}

/* Starts the next slice of the batch; false: the batch has ended. */
static bool next_in_batch(struct sim_carrier *c)
{
	struct sim_task *t = c->batch > 0 && !c->closed ? sim_queue_pop(&c->ring) : NULL;

	if (t)
		start_slice(c, t);
	return t != NULL;
}

static bool poll(struct sim_carrier *c)
{
	struct sim_task *t;
	unsigned n = 0;

	if (c->w->o->arrive != SIM_POLL)
		return false;
	c->cost += c->w->o->poll_cost;
	for (; n < BURST && (t = sim_queue_pop(&c->nic)); n++) {
		c->cost += c->w->o->spawn_cost;
		sim_carrier_push(c, t);
	}
	return n > 0;
}

/* A carrier that never sleeps searches for work itself, once every pull_every empty polls. */
static void spin(struct sim_carrier *c)
{
	const struct sim_opts *o = c->w->o;

	if (c->group && hauli_policy_pull(&c->thief, now(c)))
		go_on(c, SIM_LOOPS, 0);
	else
		go_on(c, SIM_IDLES, o->poll_cost * o->pull_every);
}

/* As in lib/sched/steal/steal.c: a carrier that sleeps again before its next barrier is due sleeps
 * without, but only until then. */
static bool must_pass_barrier(struct sim_carrier *c)
{
	uint64_t gap = c->w->o->sleep_gap;

	c->passed = gap > 0 && !c->thief.search && now(c) >= c->barrier_at;
	if (c->passed)
		c->barrier_at = now(c) + gap;
	return c->passed;
}

static void sleep(struct sim_carrier *c)
{
	if (!c->group) {
		c->state = SIM_SLEEPS;
		sim_schedule(c, SIM_NEVER);
		return;
	}
	if (hauli_policy_idle(&c->thief, now(c))) {
		go_on(c, SIM_LOOPS, 0);
		return;
	}
	if (!c->thief.search)
		hauli_help_set_idle(&c->thief.policy->help, c->thief.group_idx);
	c->state = SIM_SLEEPS;
	if (must_pass_barrier(c))
		sim_barrier(c->w, c, NULL);
	if (!hauli_policy_may_stay(&c->thief, now(c))) {
		hauli_help_clear_idle(&c->thief.policy->help, c->thief.group_idx);
		go_on(c, SIM_LOOPS, 0);
	} else if (c->thief.search) {
		uint64_t until = c->thief.nap_until;

		sim_schedule(c, until > now(c) ? until : now(c) + c->w->o->poll_cost);
	} else {
		sim_schedule(c, c->barrier_at > now(c) && !c->passed ? c->barrier_at : SIM_NEVER);
	}
}

/* The part of a round after its slices. */
static void end_round(struct sim_carrier *c, bool busy)
{
	if (c->thief.search && !busy)
		busy = hauli_policy_idle(&c->thief, now(c));
	busy |= poll(c);
	if (busy)
		go_on(c, SIM_LOOPS, 0);
	else if (c->w->o->idle == SIM_SPIN)
		spin(c);
	else
		sleep(c);
}

static void begin_round(struct sim_carrier *c)
{
	struct sim_task *t;

	while ((t = sim_queue_pop(&c->stolen_tasks)))
		sim_carrier_push(c, t);
	receive(c);
	c->ran = 0;
	c->round_began = now(c);
	if (c->ring.length == 0) { /* also after a poll */
		c->cut_has_run = false;
		take_cut(c);
	}
	if (c->ring.length == 0) {
		end_round(c, false);
		return;
	}
	begin_batch(c);
	next_in_batch(c);
}

/* The part of a round between two batches. */
static void end_batch(struct sim_carrier *c)
{
	uint64_t spent;

	c->batch_began = 0;
	receive(c);
	take_cut(c);
	spent = now(c) - c->round_began;
	if (c->ring.length > 0 && c->ran < budget(c) && spent < ROUND) {
		begin_batch(c);
		next_in_batch(c);
		return;
	}
	/* haul has one time for both. */
	hauli_slices_learn(
		&c->lately, spent / c->ran, c->w->o->yield ? c->w->o->yield : POLL_INTERVAL);
	end_round(c, true);
}

void sim_carrier_step(struct sim_carrier *c)
{
	enum sim_state was = c->state;

	if (c->debt > 0 && was != SIM_SLEEPS && was != SIM_WAKES) {
		uint64_t debt = c->debt;

		c->debt = 0;
		sim_schedule(c, c->w->now + debt);
		return;
	}
	c->w->payer = c;
	c->cost = 0;
	if (c->id > c->w->o->carriers) {
		end_slice(c);
		c->state = SIM_SLEEPS;
		sim_schedule(c, SIM_NEVER);
		return;
	}
	if (was == SIM_RUNS) {
		if (c->rescuer)
			leave_behind(c);
		else
			end_slice(c);
		if (!next_in_batch(c))
			end_batch(c);
		return;
	}
	if (c->group && (was == SIM_SLEEPS || was == SIM_WAKES))
		hauli_help_clear_idle(&c->thief.policy->help, c->thief.group_idx);
	c->state = SIM_LOOPS;
	begin_round(c);
}
