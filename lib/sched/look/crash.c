/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the line of a crash, and then has the file of the timelines written. A signal handler does
 * both, so only async-signal-safe functions are called: the addresses of a call stack are looked up
 * in the loader's table of objects, which needs no lock (glibc 2.35), and get no names of
 * functions. What is known without the stack is written first, because following a broken stack may
 * fault. That second fault finds the handler at work, and goes on with the file.
 *
 * Of threads that crash at the same time the first one writes the file. The others would end the
 * program meanwhile, so they wait for it to do so.
 */
#include "sched/look/crash.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <string.h>

#include "base/assert.h"
#include "base/line.h"
#include "conc/word.h"
#include "coro/overflow.h"
#include "coro/trace.h"
#include "sched/look/snapshot.h"
#include "sched/look/trace_files.h"
#include "sched/state/runtime.h"
#include "sched/state/self.h"

/* The object that pc is in: its file's name, without folders, and its first address. */
struct object {
	const char *file;
	uintptr_t base;
};

/* False: the object is not known. */
static bool find_object(const void *pc, struct object *o)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE /* glibc 2.35 */
	struct dl_find_object found;
	const char *slash;

	if (_dl_find_object((void *)(uintptr_t)pc, &found) != 0)
		return false;
	o->base = found.dlfo_link_map->l_addr;
	o->file = found.dlfo_link_map->l_name;
	if (!o->file[0]) /* the program */
		o->file = program_invocation_short_name;
	slash = strrchr(o->file, '/');
	if (slash)
		o->file = slash + 1;
	return true;
#else
	(void)pc;
	(void)o;
	return false;
#endif
}

static void put_place(struct hauli_line *l, const void *pc)
{
	struct object o;

	if (find_object(pc, &o)) {
		hauli_line_text(l, o.file);
		hauli_line_text(l, "+");
		hauli_line_hex(l, (uintptr_t)pc - o.base);
	} else {
		hauli_line_hex(l, (uintptr_t)pc);
	}
}

static void put_stack(struct hauli_line *l, void *const *pcs, unsigned n)
{
	for (unsigned i = 0, next; i < n; i = next) {
		hauli_line_text(l, i > 0 ? " < " : ", at ");
		put_place(l, pcs[i]);
		for (next = i + 1; next < n && pcs[next] == pcs[i]; next++)
			;
		if (next - i == 1)
			continue;
		hauli_line_text(l, " (");
		hauli_line_number(l, next - i);
		hauli_line_text(l, " times)");
	}
}

/* The number of innermost frames of abort() that are in the C library: they say nothing that
 * SIGABRT does not. Recognized by the file's name, as the address of abort() may be that of the
 * program's entry for it in the PLT, or of a sanitizer's function. */
static unsigned inner_frames(int sig, void *const *pcs, unsigned n)
{
	static const char libc[] = "libc.so.";
	struct object o;
	unsigned inner = 0;

	if (sig != SIGABRT)
		return 0;
	while (inner < n && find_object(pcs[inner], &o) &&
		strncmp(o.file, libc, sizeof(libc) - 1) == 0)
		inner++;
	return inner < n ? inner : 0;
}

/* True if pc is in haul. Recognized by the file's name, as dladdr() takes a lock. */
static bool is_own(const void *pc)
{
	static const char libhaul[] = "libhaul.so";
	struct object o;

	return find_object(pc, &o) && strncmp(o.file, libhaul, sizeof(libhaul) - 1) == 0;
}

static const char *name_of(int sig)
{
	switch (sig) {
	case SIGSEGV:
		return "SIGSEGV";
	case SIGBUS:
		return "SIGBUS";
	case SIGFPE:
		return "SIGFPE";
	case SIGILL:
		return "SIGILL";
	default:
		return "SIGABRT";
	}
}

static void put_coroutine(
	struct hauli_line *l, const struct haul_coro *co, const struct haul_carrier *c)
{
	hauli_line_text(l, hauli_coro_is_poller(co) ? " in poller \"" : " in coroutine \"");
	hauli_line_name(l, co->co.name);
	hauli_line_text(l, "\" ");
	hauli_line_hex(l, (uintptr_t)co);
	hauli_line_text(l, " on carrier ");
	hauli_line_number(l, c->id);
	if (hauli_coro_is_stolen(co)) {
		hauli_line_text(l, ", stolen from carrier ");
		hauli_line_number(l, hauli_coro_home(co)->id);
	}
}

/* A shot of the coroutine of hauli_crash_about(), taken before the program ends. */
static struct hauli_shot about;
static const char *about_role; /* or NULL */
static enum hauli_about about_kind;

static void tell_about(void)
{
	void *const *pcs = about.pcs;
	unsigned n = about.n;
	struct hauli_line l = {.len = 0};

	hauli_line_text(&l, "haul: ");
	hauli_line_text(&l, about_role);
	hauli_line_text(&l, " is coroutine \"");
	hauli_line_name(&l, about.name);
	hauli_line_text(&l, "\" ");
	hauli_line_hex(&l, (uintptr_t)about.co);
	if (n > 0 && about.what) {
		hauli_line_text(&l, ", which waits for ");
		hauli_line_text(&l, about.what);
		hauli_line_text(&l, " ");
		hauli_line_hex(&l, (uintptr_t)about.object);
	}
	hauli_trace_trim(&pcs, &n, 1, is_own);
	put_stack(&l, pcs, n);
	hauli_line_text(&l, "\n");
	hauli_line_write(&l);
}

static void put_trimmed_stack(struct hauli_line *l, int sig, void *const *pcs, unsigned n)
{
	unsigned inner = inner_frames(sig, pcs, n);

	pcs += inner;
	n -= inner;
	/* After a crash inside haul its frames stay, as they say where. */
	hauli_trace_trim(&pcs, &n, hauli_has_named_call() ? 0 : UINT_MAX, is_own);
	put_stack(l, pcs, n);
}

static void put_line(int sig, const siginfo_t *info, const void *uc)
{
	const struct haul_carrier *c = hauli_self();
	const struct haul_coro *co = haul_self();
	struct hauli_line l = {.len = 0};
	void *pcs[HAULI_SHOT_DEPTH];
	unsigned n;

	hauli_line_text(&l, "haul: ");
	hauli_line_text(&l, name_of(sig));
	if (co)
		put_coroutine(&l, co, c);
	else
		hauli_line_text(&l, " outside of coroutines");
	if (info->si_code > 0 && sig != SIGABRT) {
		hauli_line_text(&l, ", address ");
		hauli_line_hex(&l, (uintptr_t)info->si_addr);
	}
	hauli_line_write(&l);
	n = hauli_trace_interrupted(uc, pcs, HAULI_SHOT_DEPTH);
	put_trimmed_stack(&l, sig, pcs, n);
	hauli_line_text(&l, "\n");
	hauli_line_write(&l);
	if (about_role)
		tell_about();
}

static struct hauli_trylock crashes;
static struct hauli_u32_published first; /* the thread that has taken the lock */

/* While the stack is followed, a fault calls the handler again. */
static void block(int sig, int how)
{
	sigset_t it;

	sigemptyset(&it);
	sigaddset(&it, sig);
	sigaddset(&it, SIGSEGV);
	sigaddset(&it, SIGBUS);
	sigprocmask(how, &it, NULL);
}

static void tell(int sig, const siginfo_t *info, const void *uc, bool told)
{
	uint32_t me = (uint32_t)gettid();
	bool again = hauli_u32_published_get(&first) == me;
	bool is_first = hauli_trylock_take(&crashes);

	if (is_first)
		hauli_u32_published_set(&first, me);
	if (again) {
		(void)!write(STDERR_FILENO, "\n", 1);
	} else if (!told && (haul_self() || hauli_has_said_why())) {
		if (is_first)
			block(sig, SIG_UNBLOCK);
		put_line(sig, info, uc);
		block(sig, SIG_BLOCK);
	}
	if (is_first || again)
		hauli_trace_on_crash();
	else if (hauli_trace_is_on_crash())
		for (;;)
			pause();
}

static void look_for_about(struct haul_runtime *rt)
{
	const struct haul_carrier *home;

	if (!hauli_slab_has(rt->coros, about.co))
		return;
	home = hauli_coro_home(about.co);
	about_kind = home && hauli_state_lives(hauli_coro_state(about.co)) ? HAULI_ABOUT_LIVES
									   : HAULI_ABOUT_ENDED;
	if (home)
		(void)hauli_snapshot(home, &about, 1);
}

enum hauli_about hauli_crash_about(const struct haul_coro *co, const char *role)
{
	about = (struct hauli_shot){.co = co};
	hauli_runtimes_for_each(look_for_about);
	if (about.taken)
		about_role = role;
	return about_kind;
}

void hauli_crash_init(void)
{
	hauli_trace_init();
	hauli_overflow_on_crash(tell);
}
