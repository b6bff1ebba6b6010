/* SPDX-License-Identifier: BSD-3-Clause */
/* The search: runs, choices, states. The effect of a step on memory is in memory.c. */
#include "explorer.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory.h"
#include "search.h"
#include "weak.h"

#define STACK_BYTES (64 * 1024)
#define CLEARED_BYTES 2048
#define RED_ZONE_BYTES 128
#define STEPS_MAX 500 /* of one run; a longer run has a loop that spins */
#define PLAIN_MAX 10000 /* accesses between two steps */
#define SEEN_SLOTS (UINT64_C(1) << 24)
#define SEEN_MAX (SEEN_SLOTS / 2)

enum move { MOVE_STEP, MOVE_FLUSH, MOVE_TIME_OUT };

struct action {
	struct thread *thread;
	enum move move;
	unsigned option; /* a way to do the step: memory_options() */
};

static struct {
	const struct model *model;
	enum memory_kind kind;
	bool membarriers; /* the model calls membarrier */
	bool again; /* an assumption of the search was wrong: restart */
	struct thread threads[MODEL_THREADS_MAX + 1]; /* the last one runs init() and check() */
	struct hauli_ctx controller;
	struct thread *running;
	void (*direct)(void); /* init() or check(), while it runs: its accesses are no steps */
	const char *violation;
	bool on_thread; /* a thread runs; else the search performs a step for one */
	jmp_buf give_up; /* the search continues here after a violation outside of a thread */

	unsigned taken[STEPS_MAX]; /* the choice at each depth of this run */
	unsigned of[STEPS_MAX]; /* number of choices at each depth */
	struct action actions[STEPS_MAX]; /* the chosen action at each depth */
	unsigned depth;
	unsigned time_outs;
	unsigned plain; /* accesses since the last step */
	unsigned prefix; /* choices that repeat the last run; the last of them differs */
	struct noted {
		unsigned thread;
		enum move move;
		unsigned option;
		struct step step;
		uint64_t result;
	} trace[STEPS_MAX];

	uint64_t *seen; /* open addressing; 0: free */
	uint64_t states, runs;
	unsigned longest;
} ex;

unsigned model_thread(void)
{
	return ex.running->id;
}

bool model_is_reduced(void)
{
	return ex.kind == MEMORY_WEAK && !getenv("HAUL_WHOLE");
}

void model_fail(const char *text)
{
	ex.violation = text;
	if (!ex.on_thread)
		longjmp(ex.give_up, 1);
	(void)hauli_switch(&ex.running->ctx, &ex.controller, NULL);
	abort();
}

/* True if the order of t's step and the other threads' steps makes no difference. */
static bool is_nobodys_business(struct thread *t, const struct step *s)
{
	if (ex.kind == MEMORY_WEAK)
		return weak_is_nobodys_business(t, s, ex.membarriers);
	switch (s->kind) {
	case STEP_STORE: /* into its buffer; but a membarrier comes before it or after it */
		return memory_is_apart(t, s) ||
			(ex.kind == MEMORY_TSO && !ex.membarriers && s->order != __ATOMIC_SEQ_CST &&
				t->nb_buffered < BUFFER_MAX);
	case STEP_FENCE:
		return t->nb_buffered == 0;
	case STEP_DRAIN:
		return ex.kind == MEMORY_SC;
	default:
		return memory_is_apart(t, s);
	}
}

/* Stops before the step; returns after it was performed. */
static uint64_t step(struct step s)
{
	struct thread *t = ex.running;

	t->step = s;
	if (ex.direct) {
		uint64_t result = memory_step(t, 0);

		while (t->nb_buffered > 0)
			memory_flush(t);
		return result;
	}
	if (is_nobodys_business(t, &s)) {
		t->result = memory_step(t, 0);
		return t->result;
	}
	(void)hauli_switch(&t->ctx, &ex.controller, NULL);
	return t->result;
}

uint64_t model_load(const void *addr, unsigned size, int order)
{
	return step((struct step){
		.kind = STEP_LOAD, .addr = (void *)addr, .size = size, .order = order});
}

void model_store(void *addr, unsigned size, uint64_t value, int order)
{
	step((struct step){
		.kind = STEP_STORE, .addr = addr, .size = size, .value = value, .order = order});
}

uint64_t model_rmw(void *addr, unsigned size, enum model_rmw op, uint64_t operand, int order)
{
	return step((struct step){.kind = STEP_RMW,
		.addr = addr,
		.size = size,
		.value = operand,
		.rmw = op,
		.order = order});
}

uint64_t model_cas(
	void *addr, unsigned size, uint64_t expected, uint64_t desired, int success, int failure)
{
	return step((struct step){.kind = STEP_CAS,
		.addr = addr,
		.size = size,
		.value = desired,
		.expected = expected,
		.order = success,
		.failure_order = failure});
}

void model_fence(int order)
{
	step((struct step){.kind = STEP_FENCE, .order = order});
}

void model_light_fence(void)
{
	if (ex.kind == MEMORY_WEAK && !ex.direct)
		step((struct step){.kind = STEP_LIGHT_FENCE});
}

void model_membarrier(void)
{
	uint64_t others =
		((UINT64_C(1) << ex.model->nb_threads) - 1) & ~(UINT64_C(1) << ex.running->id);

	ex.again |= !ex.membarriers;
	ex.membarriers = true;
	while (others)
		others &=
			~(UINT64_C(1) << step((struct step){.kind = STEP_DRAIN, .value = others}));
}

void model_yield(void)
{
	const struct step *last = &ex.running->step;

	if (last->kind != STEP_LOAD && last->kind != STEP_RMW)
		model_fail("a yield that does not follow a load of what it waits for");
	step((struct step){.kind = STEP_YIELD,
		.addr = last->addr,
		.size = last->size,
		.value = ex.running->result});
}

void model_await(const void *word, unsigned size, uint64_t value)
{
	step((struct step){.kind = STEP_AWAIT,
		.addr = (void *)word,
		.size = size,
		.value = value,
		.order = __ATOMIC_RELAXED});
}

long model_futex(uint32_t *addr, int op, uint32_t value, bool timed)
{
	bool wait = op == FUTEX_WAIT || op == FUTEX_WAIT_BITSET;
	uint64_t result = step((struct step){.kind = wait ? STEP_FUTEX_WAIT : STEP_FUTEX_WAKE,
		.addr = addr,
		.size = 4,
		.value = value,
		.timed = timed});

	if (result == 0)
		return 0;
	errno = (int)result;
	return -1;
}

void model_plain(const void *addr, unsigned size, bool write)
{
	if (ex.running && (uintptr_t)addr < 4096)
		model_fail("access through what is no pointer");
	if (ex.running && ++ex.plain > PLAIN_MAX)
		model_fail("a loop does not end");
	if (ex.running && !ex.direct)
		memory_plain(ex.running, addr, size, write);
}

void model_own(const void *memory, size_t size, unsigned thread)
{
	memory_own(memory, size, USE_OWN, thread);
}

void model_private(const void *memory, size_t size, unsigned thread)
{
	memory_own(memory, size, USE_PRIVATE, thread);
}

void model_constant(const void *memory, size_t size)
{
	memory_own(memory, size, USE_CONSTANT, 0);
}

void model_free(const void *memory, size_t size)
{
	memory_free(ex.running, memory, size);
}

static void enter(void *pass)
{
	struct thread *t = pass;

	if (ex.direct)
		ex.direct();
	else
		ex.model->threads[t->id]();
	t->status = THREAD_ENDED;
	(void)hauli_switch(&t->ctx, &ex.controller, NULL);
}

/*
 * Everything but the model's memory on which t's code depends: its stack, since a switch keeps only
 * the three registers in the context. The memory below the stack pointer is cleared, so that old
 * contents make no difference in uninitialized variables of later frames.
 */
static uint64_t local_state(const struct thread *t)
{
	const char *sp = t->ctx.sp, *end = t->stack + STACK_BYTES;
	uint64_t hash = mix((uintptr_t)t->ctx.pc, (uintptr_t)t->ctx.base);
	uint64_t word;

	hash = mix(hash, (uintptr_t)t->ctx.fp);
	hash = mix(hash, (uintptr_t)sp);
	for (; sp + sizeof(word) <= end; sp += sizeof(word)) {
		memcpy(&word, sp, sizeof(word));
		hash = mix(hash, word);
	}
	return hash;
}

static void clear_below(char *sp)
{
	memset(sp - CLEARED_BYTES, 0, CLEARED_BYTES - RED_ZONE_BYTES);
}

/* Lets t run to its next step, its end, or a violation. */
static void go_on(struct thread *t)
{
	ex.running = t;
	ex.plain = 0;
	ex.on_thread = true;
	(void)hauli_switch(&ex.controller, &t->ctx, t);
	ex.on_thread = false;
	ex.running = NULL;
	clear_below(t->ctx.sp);
	t->local = 0;
}

static void begin(struct thread *t, unsigned id)
{
	char *stack = t->stack;

	*t = (struct thread){.id = id, .stack = stack, .may_drain = true};
	clear_below(stack + STACK_BYTES);
	memset(stack + STACK_BYTES - RED_ZONE_BYTES, 0, RED_ZONE_BYTES);
	hauli_ctx_prepare(&t->ctx, stack + STACK_BYTES, enter);
}

/* Runs init() or check(), on a stack of its own so that it can fail. */
static void run_direct(void (*fn)(void))
{
	struct thread *t = &ex.threads[MODEL_THREADS_MAX];

	begin(t, 0);
	t->direct = true;
	memset(&t->now, 0x7f, sizeof(t->now)); /* all earlier accesses happen before it */
	ex.direct = fn;
	go_on(t);
	ex.direct = NULL;
}

static unsigned list_actions(struct action *actions)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ex.model->nb_threads; i++) {
		struct thread *t = &ex.threads[i];

		if (t->status == THREAD_READY)
			for (unsigned k = 0, of = memory_options(t); k < of; k++)
				actions[n++] = (struct action){t, MOVE_STEP, k};
		if (t->nb_buffered > 0)
			actions[n++] = (struct action){t, MOVE_FLUSH};
		if (t->status == THREAD_BLOCKED && t->step.timed &&
			ex.time_outs < (ex.model->time_outs ? ex.model->time_outs : 2))
			actions[n++] = (struct action){t, MOVE_TIME_OUT};
	}
	return n;
}

static void note(const struct action *a, uint64_t result)
{
	ex.trace[ex.depth - 1] =
		(struct noted){a->thread->id, a->move, a->option, a->thread->step, result};
}

static void print_noted(const struct noted *n)
{
	static const char *const kinds[] = {"load", "store", "rmw", "cas", "fence", "light fence",
		"futex wait", "futex wake", "await", "drain", "yield"};
	const struct step *s = &n->step;
	long at = s->addr ? (long)((char *)s->addr - (char *)ex.model->memory) : -1;

	if (n->move == MOVE_FLUSH)
		printf("#   thread %u: its oldest store reaches memory\n", n->thread);
	else if (n->move == MOVE_TIME_OUT)
		printf("#   thread %u: its wait times out\n", n->thread);
	else
		printf("#   thread %u: %s +%ld value %" PRIx64 " -> %" PRIx64 "%s\n", n->thread,
			kinds[s->kind], at, s->value, n->result,
			ex.kind == MEMORY_WEAK && n->option > 0 ? ", not the newest" : "");
}

void search_print_trace(void)
{
	for (unsigned i = 0; i < ex.depth; i++)
		print_noted(&ex.trace[i]);
}

static void wake_one(const void *addr)
{
	for (unsigned i = 0; i < ex.model->nb_threads; i++) {
		struct thread *t = &ex.threads[i];

		if (t->status == THREAD_BLOCKED && t->step.addr == addr) {
			t->status = THREAD_READY;
			go_on(t);
			return;
		}
	}
}

static void perform(const struct action *a)
{
	struct thread *t = a->thread;
	uint64_t result = 0;

	if (a->move == MOVE_FLUSH) {
		ex.running = t;
		memory_flush(t);
		ex.running = NULL;
		note(a, 0);
		return;
	}
	if (a->move == MOVE_TIME_OUT) {
		note(a, ETIMEDOUT);
		ex.time_outs++;
		t->status = THREAD_READY;
		t->result = ETIMEDOUT;
		go_on(t);
		return;
	}
	ex.running = t;
	t->may_drain = false;
	result = memory_step(t, a->option);
	while (t->step.kind == STEP_DRAIN && ex.threads[result].nb_buffered > 0)
		memory_flush(&ex.threads[result]);
	ex.running = NULL;
	note(a, result);
	if (t->step.kind == STEP_FUTEX_WAIT) {
		t->result = result ? 0 : EAGAIN;
		if (result) {
			t->status = THREAD_BLOCKED;
			return;
		}
	} else {
		t->result = result;
	}
	if (t->step.kind == STEP_FUTEX_WAKE)
		wake_one(t->step.addr);
	go_on(t);
}

static uint64_t state_hash(void)
{
	uint64_t hash = mix(memory_hash(), ex.time_outs);

	if (ex.kind == MEMORY_WEAK)
		hash = mix(hash, weak_hash());

	for (unsigned i = 0; i < ex.model->nb_threads; i++) {
		struct thread *t = &ex.threads[i];
		uint64_t now;

		if (t->local == 0 && t->status != THREAD_ENDED)
			t->local = local_state(t);

		memcpy(&now, &t->now, sizeof(now));
		hash = mix(hash, mix(t->local, (uint64_t)t->status));
		hash = mix(hash, now);
		memcpy(&now, &t->acquirable, sizeof(now));
		hash = mix(hash, now);
		memcpy(&now, &t->released, sizeof(now));
		hash = mix(hash, now);
		for (unsigned k = 0; k < t->nb_buffered; k++) {
			hash = mix(hash, (uintptr_t)t->buffer[k].addr);
			hash = mix(hash, t->buffer[k].value);
			memcpy(&now, &t->buffer[k].release, sizeof(now));
			hash = mix(hash, now);
		}
		hash = mix(hash, t->nb_buffered);
	}
	return hash ? hash : 1;
}

/* Adds a state; false if it is known. */
static bool is_new(uint64_t hash)
{
	uint64_t i = hash % SEEN_SLOTS;

	while (ex.seen[i] && ex.seen[i] != hash)
		i = (i + 1) % SEEN_SLOTS;
	if (ex.seen[i])
		return false;
	ex.seen[i] = hash;
	ex.states++;
	return true;
}

static bool all_ended(void)
{
	for (unsigned i = 0; i < ex.model->nb_threads; i++)
		if (ex.threads[i].status != THREAD_ENDED)
			return false;
	return true;
}

/* Chooses the next action; false if there is none. */
static bool choose(void)
{
	struct action actions[MODEL_THREADS_MAX * (OPTIONS_MAX + 2)];
	unsigned n = list_actions(actions);

	if (n == 0) {
		if (!all_ended())
			ex.violation = "all wait, and nobody is left to wake them";
		else if (ex.model->check)
			run_direct(ex.model->check);
		return false;
	}
	if (ex.depth == STEPS_MAX) {
		ex.violation = "a run does not end: something spins, or wakes itself";
		return false;
	}
	if (ex.depth >= ex.prefix)
		ex.taken[ex.depth] = 0;
	ex.of[ex.depth] = n;
	ex.actions[ex.depth] = actions[ex.taken[ex.depth]];
	return true;
}

/* One run: repeats the prefix, then takes the first choice everywhere until all threads have ended,
 * a violation is found, or a known state is reached. */
static void run_once(void)
{
	ex.depth = ex.time_outs = 0;
	ex.runs++;
	if (setjmp(ex.give_up))
		return;
	memory_begin(ex.threads);
	for (unsigned i = 0; i < ex.model->nb_threads && !ex.violation; i++) {
		begin(&ex.threads[i], i);
		ex.threads[i].now.at[i] = 1;
		go_on(&ex.threads[i]);
	}
	while (!ex.violation) {
		if (ex.depth + 1 >= ex.prefix && !choose())
			return;
		perform(&ex.actions[ex.depth++]);
		if (ex.depth > ex.longest)
			ex.longest = ex.depth;
		if (ex.depth >= ex.prefix && !ex.violation && !is_new(state_hash()))
			return;
	}
}

/* Advances the prefix in depth-first order; false at the end. */
static bool next_prefix(void)
{
	while (ex.depth > 0) {
		ex.depth--;
		if (ex.taken[ex.depth] + 1 < ex.of[ex.depth]) {
			ex.taken[ex.depth]++;
			ex.prefix = ex.depth + 1;
			return true;
		}
	}
	return false;
}

static void search_once(void)
{
	ex.again = false;
	ex.states = ex.runs = 0;
	ex.prefix = ex.longest = 0;
	/* A small search touches few pages of the table. */
	ex.seen = mmap(NULL, SEEN_SLOTS * sizeof(ex.seen[0]), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ex.seen == MAP_FAILED)
		abort();
	do {
		run_once();
		ex.again |= memory_is_otherwise();
	} while (!ex.violation && !ex.again && ex.states < SEEN_MAX && next_prefix());
	munmap(ex.seen, SEEN_SLOTS * sizeof(ex.seen[0]));
}

struct search search_model(const struct model *model, enum memory_kind kind)
{
	ex.model = model;
	ex.kind = kind;
	ex.membarriers = false;
	ex.violation = NULL;
	ex.depth = 0;
	for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++)
		if (!ex.threads[i].stack)
			ex.threads[i].stack = aligned_alloc(64, STACK_BYTES);
	memory_init(model, kind);
	run_direct(model->init);
	memory_keep_as_initial();
	do {
		search_once();
	} while (ex.again && !ex.violation);
	return (struct search){.complete = ex.violation || ex.states < SEEN_MAX,
		.violation = ex.violation,
		.states = ex.states,
		.runs = ex.runs,
		.longest = ex.longest};
}
