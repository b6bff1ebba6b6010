/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The outcomes of small programs in the weak memory, for weak_axioms.py. Reads a program a line:
 * threads are divided by "|", steps by blanks. A step: W, R, U (adds 1) or C (a CAS of 1 for 2),
 * the word (x, y, z), for W the value; or F, a fence; then the order: x relaxed, a acquire, r
 * release, b both, s seq_cst. Prints a line for each outcome, perhaps several times: the values
 * read, in the order of the text, and the final values of the words. Then a line with a dot.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explorer.h"

#define WORDS 3
#define STEPS_MAX 16

struct op {
	char kind, order;
	unsigned word, result;
	uint64_t value;
};

static struct {
	_Atomic uint64_t words[WORDS];
	uint64_t results[STEPS_MAX];
} m;

static struct op ops[MODEL_THREADS_MAX][STEPS_MAX];
static unsigned nb_ops[MODEL_THREADS_MAX], nb_threads, nb_results;

static void store(_Atomic uint64_t *word, uint64_t value, char order)
{
	if (order == 'r')
		atomic_store_explicit(word, value, memory_order_release);
	else
		atomic_store_explicit(word, value, memory_order_relaxed);
}

static uint64_t load(_Atomic uint64_t *word, char order)
{
	return order == 'a' ? atomic_load_explicit(word, memory_order_acquire)
			    : atomic_load_explicit(word, memory_order_relaxed);
}

static uint64_t add(_Atomic uint64_t *word, char order)
{
	switch (order) {
	case 'a':
		return atomic_fetch_add_explicit(word, 1, memory_order_acquire);
	case 'r':
		return atomic_fetch_add_explicit(word, 1, memory_order_release);
	case 'b':
		return atomic_fetch_add_explicit(word, 1, memory_order_acq_rel);
	default:
		return atomic_fetch_add_explicit(word, 1, memory_order_relaxed);
	}
}

/* An acquire only when it succeeds. */
static uint64_t compare(_Atomic uint64_t *word, char order)
{
	uint64_t old = 1;

	switch (order) {
	case 'a':
		(void)atomic_compare_exchange_strong_explicit(
			word, &old, 2, memory_order_acquire, memory_order_relaxed);
		break;
	case 'r':
		(void)atomic_compare_exchange_strong_explicit(
			word, &old, 2, memory_order_release, memory_order_relaxed);
		break;
	case 'b':
		(void)atomic_compare_exchange_strong_explicit(
			word, &old, 2, memory_order_acq_rel, memory_order_relaxed);
		break;
	default:
		(void)atomic_compare_exchange_strong_explicit(
			word, &old, 2, memory_order_relaxed, memory_order_relaxed);
	}
	return old;
}

static void fence(char order)
{
	switch (order) {
	case 'a':
		atomic_thread_fence(memory_order_acquire);
		break;
	case 'r':
		atomic_thread_fence(memory_order_release);
		break;
	case 'b':
		atomic_thread_fence(memory_order_acq_rel);
		break;
	default:
		atomic_thread_fence(memory_order_seq_cst);
	}
}

static void run(unsigned thread)
{
	for (unsigned i = 0; i < nb_ops[thread]; i++) {
		const struct op *o = &ops[thread][i];

		if (o->kind == 'W')
			store(&m.words[o->word], o->value, o->order);
		else if (o->kind == 'R')
			m.results[o->result] = load(&m.words[o->word], o->order);
		else if (o->kind == 'U')
			m.results[o->result] = add(&m.words[o->word], o->order);
		else if (o->kind == 'C')
			m.results[o->result] = compare(&m.words[o->word], o->order);
		else
			fence(o->order);
	}
}

static void run_0(void)
{
	run(0);
}

static void run_1(void)
{
	run(1);
}

static void run_2(void)
{
	run(2);
}

static void run_3(void)
{
	run(3);
}

static void init(void)
{
}

static void check(void)
{
	for (unsigned i = 0; i < nb_results; i++)
		printf("%" PRIu64 " ", m.results[i]);
	printf("/");
	for (unsigned i = 0; i < WORDS; i++)
		printf(" %" PRIu64, m.words[i]);
	printf("\n");
}

static void parse_step(const char *text)
{
	struct op *o = &ops[nb_threads - 1][nb_ops[nb_threads - 1]++];

	*o = (struct op){.kind = text[0], .order = text[strlen(text) - 1]};
	if (o->kind == 'F')
		return;
	o->word = (unsigned)(text[1] - 'x');
	if (o->kind == 'W')
		o->value = (uint64_t)(text[2] - '0');
	else
		o->result = nb_results++;
}

static void parse(char *line)
{
	memset(nb_ops, 0, sizeof(nb_ops));
	nb_threads = 1;
	nb_results = 0;
	for (char *step = strtok(line, " \n"); step; step = strtok(NULL, " \n")) {
		if (step[0] == '|')
			nb_threads++;
		else
			parse_step(step);
	}
}

int main(void)
{
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		struct model model = {.name = "program",
			.threads = {run_0, run_1, run_2, run_3},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check};

		parse(line);
		model.nb_threads = nb_threads;
		if (!model_holds(&model, MEMORY_WEAK))
			return EXIT_FAILURE;
		printf(".\n");
		fflush(stdout);
	}
	return EXIT_SUCCESS;
}
