/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/overflow.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/forks.h"
#include "base/shared.h"
#include "base/simulated.h"
#include "conc/word.h"
#include "coro/interrupted.h"
#include "coro/overrun.h"

#define WATCHED_MAX (HAULI_SIM ? 8192 : 64)
#define ALTSTACK_MIN ((size_t)32 << 10)
/* A frame may move the stack pointer this far below its stack before it touches memory. */
#define LARGEST_FRAME ((uintptr_t)1 << 20)

/* A signal that we handle, and the handler before us. */
struct taken {
	int sig;
	bool shared; /* ours is installed even if the program has a handler, which it then calls */
	bool ours; /* our handler is installed, or below a later one */
	struct sigaction before;
};

/* At the low end of each alternate stack that we have made. */
struct altstack {
	struct altstack *next;
	size_t size;
};

/* The next variables are written under the lock of the process. */
static struct taken taken[] = {{.sig = SIGSEGV, .shared = true}, {.sig = SIGBUS, .shared = true},
	{.sig = SIGFPE}, {.sig = SIGILL}, {.sig = SIGABRT}};
static unsigned n_watched;
static struct altstack *altstacks;
static struct hauli_stacks *watched[WATCHED_MAX];
/* Read by the handlers of signals. */
static struct hauli_fn_published running, explain_others, crashes;

#define NB_TAKEN (sizeof(taken) / sizeof(taken[0]))

/* The coroutine that has run over its stack, or NULL for another fault. */
static const struct hauli_co *find_overflow(const siginfo_t *info, const ucontext_t *uc)
{
	uintptr_t sp = hauli_interrupted_sp(uc), addr = (uintptr_t)info->si_addr, lo;
	hauli_running_fn *runs = (hauli_running_fn *)hauli_fn_published_get(&running);
	const struct hauli_co *co = runs ? runs() : NULL;

	if (!co || !co->stack)
		return NULL;
	lo = (uintptr_t)hauli_stack_lo(co->stack);
	if (sp >= (uintptr_t)co->stack || sp < lo - LARGEST_FRAME)
		return NULL; /* on a stack that haul did not make */
	return sp < lo || (addr < lo && addr >= lo - HAULI_GUARD_BYTES) ? co : NULL;
}

static void die_of(int sig, const siginfo_t *info)
{
	sigaction(sig, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
	/* After the handler a fault happens again, with its registers and the default action. A
	 * signal that was sent does not. */
	if (info->si_code <= 0)
		raise(sig);
}

static bool is_memory(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS;
}

/* True if the thread itself has caused the signal: by a fault, by abort(), by raise(). */
static bool is_own(const siginfo_t *info)
{
	return info->si_code > 0 || (info->si_code == SI_TKILL && info->si_pid == getpid());
}

static const struct sigaction *before(int sig)
{
	size_t i = 0;

	while (i < NB_TAKEN - 1 && taken[i].sig != sig)
		i++;
	return &taken[i].before;
}

static void crash(int sig, const siginfo_t *info, void *uc, bool told)
{
	hauli_crash_fn *tell = (hauli_crash_fn *)hauli_fn_published_get(&crashes);

	if (is_own(info) && tell)
		tell(sig, info, uc, told);
	die_of(sig, info);
}

static void handle(int sig, siginfo_t *info, void *uc)
{
	bool fault = info->si_code > 0 && is_memory(sig);
	const struct hauli_co *co = fault ? find_overflow(info, uc) : NULL;
	const struct sigaction *old = before(sig);
	hauli_explain_fn *explain = (hauli_explain_fn *)hauli_fn_published_get(&explain_others);
	bool told = !co && fault && explain && explain(sig, uc);

	if (co) {
		hauli_overrun_print(co->name, hauli_stack_usable(co->stack->cls));
		crash(sig, info, uc, false);
	} else if (old->sa_flags & SA_SIGINFO) {
		old->sa_sigaction(sig, info, uc);
	} else if (old->sa_handler == SIG_DFL ||
		(old->sa_handler == SIG_IGN && info->si_code > 0)) {
		crash(sig, info, uc, told);
	} else if (old->sa_handler != SIG_IGN) {
		old->sa_handler(sig);
	}
}

static bool is_default(const struct sigaction *sa)
{
	return !(sa->sa_flags & SA_SIGINFO) && sa->sa_handler == SIG_DFL;
}

static void take(struct taken *t)
{
	struct sigaction sa = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	if (t->ours)
		return;
	sigemptyset(&sa.sa_mask);
	/* Two calls: our handler may need the old one as soon as it is installed. */
	sigaction(t->sig, NULL, &t->before);
	t->ours = t->shared || is_default(&t->before);
	if (t->ours)
		sigaction(t->sig, &sa, NULL);
}

static void give_back(struct taken *t)
{
	struct sigaction now;

	/* A handler installed after ours stays, and may still call ours. */
	sigaction(t->sig, NULL, &now);
	if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != handle)
		return;
	sigaction(t->sig, &t->before, NULL);
	t->ours = false;
}

int hauli_overflow_install(struct hauli_stacks *arena, hauli_running_fn *runs)
{
	int rc = -ENOSPC;

	hauli_process_lock();
	hauli_fn_published_set(&running, (hauli_any_fn *)runs);
	for (unsigned i = 0; i < WATCHED_MAX && rc; i++) {
		if (watched[i])
			continue;
		watched[i] = arena;
		rc = 0;
	}
	if (rc == 0 && n_watched++ == 0) {
		for (size_t i = 0; i < NB_TAKEN; i++)
			take(&taken[i]);
	}
	hauli_process_unlock();
	return rc;
}

void hauli_overflow_remove(struct hauli_stacks *arena)
{
	bool found = false;

	hauli_process_lock();
	for (unsigned i = 0; i < WATCHED_MAX && !found; i++) {
		found = watched[i] == arena;
		if (found)
			watched[i] = NULL;
	}
	if (found && --n_watched == 0) {
		for (size_t i = 0; i < NB_TAKEN; i++)
			give_back(&taken[i]);
	}
	hauli_process_unlock();
}

void hauli_overflow_explain_others(hauli_explain_fn *explain)
{
	hauli_fn_published_set(&explain_others, (hauli_any_fn *)explain);
}

void hauli_overflow_on_crash(hauli_crash_fn *fn)
{
	hauli_fn_published_set(&crashes, (hauli_any_fn *)fn);
}

void hauli_overflow_thread_init(void)
{
	size_t frame = getauxval(AT_MINSIGSTKSZ); /* the kernel's signal frame, bytes */
	size_t size = ALTSTACK_MIN + (frame + 4095) / 4096 * 4096;
	struct altstack *alt;
	stack_t st;

	if (sigaltstack(NULL, &st) == 0 && !(st.ss_flags & SS_DISABLE))
		return;
	hauli_shared_begin();
	alt = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hauli_shared_end();
	if (alt == MAP_FAILED)
		return;
	st = (stack_t){.ss_sp = alt + 1, .ss_size = size - sizeof(*alt)};
	HAUL_BUG_ON(sigaltstack(&st, NULL) != 0);
	alt->size = size;
	hauli_process_lock();
	alt->next = altstacks;
	altstacks = alt;
	hauli_process_unlock();
}

/* Removes the alternate stack at sp from the list. NULL: it is not ours. */
static struct altstack *forget(const void *sp)
{
	struct altstack **at, *alt;

	hauli_process_lock();
	for (at = &altstacks; *at && *at + 1 != sp; at = &(*at)->next)
		;
	alt = *at;
	if (alt)
		*at = alt->next;
	hauli_process_unlock();
	return alt;
}

void hauli_overflow_thread_fini(void)
{
	struct altstack *alt;
	stack_t st;

	HAUL_BUG_ON(sigaltstack(NULL, &st) != 0);
	alt = forget(st.ss_sp);
	if (!alt)
		return;
	sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
	munmap(alt, alt->size);
}
