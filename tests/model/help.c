/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The three pairs of conc/help.c at once: one member requests help while another goes idle and a
 * third gives its token back, reads the requests, and clears one. The token's next holder sees the
 * writes of the last holder.
 */
#include "conc/help.h"

#include <stdatomic.h>

#include "explorer.h"

enum { CALLER, SLEEPER, SEARCHER, MEMBERS };

static struct {
	struct hauli_help help;
	_Atomic uint64_t work; /* the caller's work, visible to the others */
	_Atomic uint64_t searched; /* written by the holder of the token */
	_Atomic uint64_t called, token, found, saw_want, saw_work, saw_search;
} m;

static void init(void)
{
	hauli_help_init(&m.help, MEMBERS, 1);
	(void)hauli_help_take_token(&m.help); /* the searcher's */
}

static void note(_Atomic uint64_t *what, bool value)
{
	atomic_store_explicit(what, value, memory_order_relaxed);
}

static bool work(void)
{
	return atomic_load_explicit(&m.work, memory_order_relaxed);
}

static void caller(void)
{
	note(&m.work, true);
	if (!hauli_help_request(&m.help, CALLER))
		return;
	note(&m.called, true);
	if (hauli_help_take_token(&m.help) < 0)
		return;
	note(&m.token, true);
	note(&m.saw_search, atomic_load_explicit(&m.searched, memory_order_relaxed));
}

static void sleeper(void)
{
	hauli_help_set_idle(&m.help, SLEEPER);
	hauli_help_barrier();
	note(&m.found, work());
}

static void searcher(void)
{
	note(&m.searched, true);
	hauli_help_give_token(&m.help, 0);
	if (hauli_help_next_wanted(&m.help, 0) != CALLER)
		return;
	note(&m.saw_want, true);
	hauli_help_clear_request(&m.help, CALLER);
	note(&m.saw_work, work());
}

static void check(void)
{
	bool wanted = hauli_help_next_wanted(&m.help, CALLER) == CALLER;

	MODEL_ASSERT(m.called || m.found); /* D1 */
	MODEL_ASSERT(!m.called || m.token || m.saw_want); /* D2 */
	MODEL_ASSERT(!m.called || wanted || m.saw_work); /* D3 */
	MODEL_ASSERT(!m.token || m.saw_search); /* E3 */
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "help",
			.nb_threads = MEMBERS,
			.threads = {caller, sleeper, searcher},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check,
			.only_atomics = true});
}
