/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about coroutines: of any program with a runtime. */
#include "telemetry/coroutines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <haul/look.h>

#define GROUPS 256 /* names */
#define WAITS 256
#define CAUSES 64

static void set(struct haul_app_json *to, const char *key, uint64_t n)
{
	haul_app_json_number(to, key, (int64_t)n);
}

static void set_counts(struct haul_app_json *to, const struct haul_look_counts *c)
{
	set(to, "ready", c->ready);
	set(to, "waiting", c->waiting);
	set(to, "parked", c->parked);
	set(to, "sleeping", c->sleeping);
	set(to, "joining", c->joining);
	set(to, "blocked", c->blocked);
	set(to, "ordered", c->ordered);
	set(to, "unjoined", c->unjoined);
	set(to, "timers", c->timers);
	set(to, "longest_wait_ns", c->longest_ns);
}

/* With memory for what is asked for. The caller frees what the pointers are to. */
static struct haul_look look(const struct hauli_answer *answer, unsigned carriers, unsigned groups,
	unsigned waits, enum haul_look_waits which)
{
	struct haul_look l = {
		.carriers = calloc(carriers + 1, sizeof(l.carriers[0])),
		.groups = calloc(groups + 1, sizeof(l.groups[0])),
		.waits = calloc(waits + 1, sizeof(l.waits[0])),
		.nb_carriers = carriers,
		.groups_max = groups,
		.waits_max = waits,
		.which = which,
	};

	if (!l.carriers || !l.groups || !l.waits)
		abort();
	haul_look(answer->rt, &l);
	return l;
}

static void look_end(struct haul_look *l)
{
	free(l->carriers);
	free(l->groups);
	free(l->waits);
}

static int by_number(const void *x, const void *y)
{
	const struct haul_look_counts *a = &((const struct haul_look_group *)x)->counts;
	const struct haul_look_counts *b = &((const struct haul_look_group *)y)->counts;
	uint64_t na = a->ready + a->waiting + a->unjoined, nb = b->ready + b->waiting + b->unjoined;

	return (na < nb) - (na > nb);
}

static void sum(const struct hauli_answer *answer, uint64_t *spawned, uint64_t *ended,
	uint64_t *hibernating)
{
	struct haul_carrier_stats st;

	for (unsigned i = 0; i < haul_carriers(answer->rt); i++) {
		haul_carrier_get_stats(haul_carrier(answer->rt, i), &st);
		*spawned += st.spawned;
		*ended += st.ended;
		*hibernating += st.hibernations - st.thaws;
	}
}

/* The parameter is the first name of the list. */
static bool take_first(struct hauli_answer *answer)
{
	unsigned first;

	if (!hauli_answer_number(answer, "entry", 1000000, &first))
		return false;
	answer->first = first;
	return true;
}

static void answer_coroutines(struct hauli_answer *answer)
{
	uint64_t spawned = 0, ended = 0, hibernating = 0;
	struct haul_look l;

	if (!take_first(answer))
		return;
	l = look(answer, 0, GROUPS, 0, HAUL_LOOK_ALL);
	sum(answer, &spawned, &ended, &hibernating);
	set(answer->values, "spawned", spawned);
	set(answer->values, "ended", ended);
	set(answer->values, "hibernating", hibernating);
	set_counts(answer->values, &l.all);
	set(answer->values, "not_begun", l.not_begun);
	set(answer->values, "other_names", l.other_names);
	qsort(l.groups, l.nb_groups, sizeof(l.groups[0]), by_number);
	for (unsigned i = 0; i < l.nb_groups; i++) {
		struct haul_app_json *group = haul_app_json_object(answer->list, NULL);

		haul_app_json_text(group, "name", l.groups[i].name);
		set_counts(group, &l.groups[i].counts);
	}
	look_end(&l);
}

static void set_address(struct haul_app_json *to, const char *key, const void *address)
{
	char text[32];

	snprintf(text, sizeof(text), (uintptr_t)address < 1 << 22 ? "%tu" : "0x%tx",
		(uintptr_t)address);
	if (address)
		haul_app_json_text(to, key, text);
}

static void add_wait(struct haul_app_json *list, const struct haul_look_wait *w)
{
	struct haul_app_json *to = haul_app_json_object(list, NULL);

	haul_app_json_text(to, "name", w->name);
	set_address(to, "coroutine", w->coro);
	set(to, "carrier", w->carrier);
	haul_app_json_text(to, "what", w->what);
	set_address(to, "object", w->object);
	if (w->holder) {
		haul_app_json_text(to, "holder", w->holder_name);
		set_address(to, "holder_coroutine", w->holder);
	}
	set(to, "ns", w->ns);
	if (w->left_ns != HAUL_FOREVER)
		set(to, "left_ns", w->left_ns);
}

static void answer_with_waits(struct hauli_answer *answer, enum haul_look_waits which)
{
	struct haul_look l;

	if (!take_first(answer))
		return;
	l = look(answer, 0, 0, WAITS, which);
	set(answer->values, "waiting", l.all.waiting);
	for (unsigned i = 0; i < l.nb_waits; i++)
		add_wait(answer->list, &l.waits[i]);
	look_end(&l);
}

static void answer_waits(struct hauli_answer *answer)
{
	answer_with_waits(answer, HAUL_LOOK_ALL);
}

static int by_waiting(const void *x, const void *y)
{
	const struct haul_look_cause *a = x, *b = y;

	return (a->waiting < b->waiting) - (a->waiting > b->waiting);
}

static void answer_causes(struct hauli_answer *answer)
{
	struct haul_look_cause causes[CAUSES];
	struct haul_look l = {.causes = causes, .causes_max = CAUSES};

	if (!take_first(answer))
		return;
	haul_look(answer->rt, &l);
	set(answer->values, "waiting", l.all.waiting);
	qsort(causes, l.nb_causes, sizeof(causes[0]), by_waiting);
	for (unsigned i = 0; i < l.nb_causes; i++) {
		struct haul_app_json *to = haul_app_json_object(answer->list, NULL);

		haul_app_json_text(to, "what", causes[i].what);
		set(to, "waiting", causes[i].waiting);
		set(to, "longest_wait_ns", causes[i].longest_ns);
	}
}

/* A mutex that coroutines wait for. */
struct lock {
	const struct haul_look_wait *oldest;
	uint64_t waiting;
};

static struct lock *lock_of(struct lock *locks, unsigned *n, const struct haul_look_wait *w)
{
	unsigned i;

	for (i = 0; i < *n && locks[i].oldest->object != w->object; i++)
		;
	if (i == *n)
		locks[(*n)++] = (struct lock){.oldest = w};
	return &locks[i];
}

static void add_lock(struct haul_app_json *list, const struct lock *lock)
{
	struct haul_app_json *to = haul_app_json_object(list, NULL);

	set_address(to, "mutex", lock->oldest->object);
	set(to, "waiting", lock->waiting);
	set(to, "longest_wait_ns", lock->oldest->ns);
	haul_app_json_text(to, "longest_waiter", lock->oldest->name);
	if (lock->oldest->holder) {
		haul_app_json_text(to, "holder", lock->oldest->holder_name);
		set_address(to, "holder_coroutine", lock->oldest->holder);
	}
}

static void answer_locks(struct hauli_answer *answer)
{
	struct lock locks[WAITS];
	struct haul_look l;
	unsigned n = 0;

	if (!take_first(answer))
		return;
	l = look(answer, 0, 0, WAITS, HAUL_LOOK_MUTEXES);
	for (unsigned i = 0; i < l.nb_waits; i++)
		lock_of(locks, &n, &l.waits[i])->waiting++;
	set(answer->values, "waiting", l.nb_waits);
	set(answer->values, "locks", n);
	for (unsigned i = 0; i < n; i++)
		add_lock(answer->list, &locks[i]);
	look_end(&l);
}

static void answer_scopes(struct hauli_answer *answer)
{
	answer_with_waits(answer, HAUL_LOOK_SCOPES);
}

static void answer_timers(struct hauli_answer *answer)
{
	unsigned n = haul_carriers(answer->rt);
	struct haul_look l;

	if (!take_first(answer))
		return;
	l = look(answer, n, 0, 0, HAUL_LOOK_ALL);
	set(answer->values, "timers", l.all.timers);
	if (l.all.timers > 0)
		set(answer->values, "first_ns", l.all.first_timer_ns);
	for (unsigned i = 0; i < n; i++) {
		struct haul_app_json *to = haul_app_json_object(answer->list, NULL);

		set(to, "timers", l.carriers[i].timers);
		set(to, "sleeping", l.carriers[i].sleeping);
		if (l.carriers[i].timers > 0)
			set(to, "first_ns", l.carriers[i].first_timer_ns);
	}
	look_end(&l);
}

/* The address in the parameters: "0x" and up to 16 digits. False: there is another text, and the
 * answer is an error. */
static bool take_address(struct hauli_answer *answer, const void **address)
{
	const bool is_hex = strncmp(answer->params, "0x", strlen("0x")) == 0;
	const char *digits = is_hex ? answer->params + strlen("0x") : "";
	size_t n = 0;

	while (isxdigit((unsigned char)digits[n]))
		n++;
	if (n == 0 || n > 16 || digits[n] != '\0') {
		hauli_answer_fails(answer,
			"give the address of a coroutine, as /haul/waits has it: 0x7f0123456780");
		return false;
	}
	*address = (const void *)(uintptr_t)strtoull(digits, NULL, 16);
	return true;
}

static void fail_to_tell(struct hauli_answer *answer, int err)
{
	if (err == -ESRCH)
		hauli_answer_fails(answer, "no coroutine has this address: it has ended");
	else
		hauli_answer_fails(answer, "its carrier does not answer: its thread is stopped");
}

static void answer_stack(struct hauli_answer *answer)
{
	struct haul_stack stack;
	const void *co;
	int err;

	if (!take_address(answer, &co))
		return;
	err = haul_stack(answer->rt, co, &stack);
	if (err < 0) {
		fail_to_tell(answer, err);
		return;
	}
	set_address(answer->values, "coroutine", co);
	haul_app_json_text(answer->values, "name", stack.name);
	set(answer->values, "carrier", stack.carrier);
	haul_app_json_text(answer->values, "what", stack.what);
	set(answer->values, "hibernates", stack.hibernates);
	set(answer->values, "frames", stack.nb_frames);
	for (unsigned i = 0; i < stack.nb_frames; i++)
		haul_app_json_text(answer->list, NULL, stack.frames[i].place);
}

const struct hauli_telemetry_command hauli_commands_of_coroutines[] = {
	{"/haul/causes", "Waits by what they are for. Parameters: int first_cause",
		HAULI_NEEDS_RUNTIME, answer_causes},
	{"/haul/coroutines", "Coroutines by state and name. Parameters: int first_name",
		HAULI_NEEDS_RUNTIME, answer_coroutines},
	{"/haul/locks", "Mutexes that are awaited. Parameters: int first_mutex",
		HAULI_NEEDS_RUNTIME, answer_locks},
	{"/haul/scopes", "Scopes that wait for children. Parameters: int first",
		HAULI_NEEDS_RUNTIME, answer_scopes},
	{"/haul/stack", "The call stack of a coroutine. Parameters: its address",
		HAULI_NEEDS_RUNTIME, answer_stack},
	{"/haul/timers", "Timers by carrier. Parameters: int first_carrier", HAULI_NEEDS_RUNTIME,
		answer_timers},
	{"/haul/waits", "The oldest waits. Parameters: int first_wait", HAULI_NEEDS_RUNTIME,
		answer_waits},
	{NULL},
};
