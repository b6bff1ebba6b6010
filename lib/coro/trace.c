/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/trace.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>
#include <unwind.h>

#include "base/forks.h"
#include "conc/word.h"
#include "coro/interrupted.h"
#include "coro/own.h"

struct trace {
	void **pcs;
	unsigned n, most;
	const void *from; /* leaves out the frames before this one; NULL: none */
};

static _Unwind_Reason_Code add(struct _Unwind_Context *frame, void *arg)
{
	struct trace *t = arg;
	int interrupted = 0;
	char *pc = (char *)_Unwind_GetIPInfo(frame, &interrupted);

	if (t->from && pc != t->from)
		return _URC_NO_REASON;
	t->from = NULL;
	if (!pc || t->n == t->most)
		return _URC_END_OF_STACK;
	/* A return address may belong to the next line, and even to the next function. */
	t->pcs[t->n++] = interrupted ? pc : pc - 1;
	return _URC_NO_REASON;
}

/* trace_*.S. Calls _Unwind_Backtrace(fn, arg), for which the caller of this function is *ctx. */
_Unwind_Reason_Code hauli_trace_from(const struct hauli_ctx *ctx, _Unwind_Trace_Fn fn, void *arg);

/* The code of the unwinder, if it is in an object of its own. */
static struct hauli_code unwinder;

/* The dynamic loader's lock is not free in a child of fork() if another thread held it then: so
 * this is done once, under a lock for which fork() waits. */
void hauli_trace_init(void)
{
	static struct hauli_u32_published done;
	void *pc;

	if (hauli_u32_published_get(&done))
		return;
	hauli_process_lock();
	if (!hauli_u32_published_get(&done)) {
		backtrace(&pc, 1); /* its first call loads libgcc */
		/* Not of _Unwind_RaiseException, which AddressSanitizer has one of its own of. */
		unwinder = hauli_code_of_other((const void *)_Unwind_Resume);
		hauli_u32_published_set(&done, true);
	}
	hauli_process_unlock();
}

unsigned hauli_trace(const struct hauli_ctx *ctx, void **pcs, unsigned most)
{
	struct trace t = {.pcs = pcs, .most = most, .from = ctx->pc};

	if (hauli_ctx_is_unstarted(ctx))
		return 0;
	hauli_trace_from(ctx, add, &t);
	return t.n;
}

unsigned hauli_trace_interrupted(const void *uc, void **pcs, unsigned most)
{
	struct trace t = {
		.pcs = pcs,
		.most = most,
		.from = (const void *)hauli_interrupted_pc(uc),
	};

	/* A throw overwrites its own frame with those of the handler before it goes there, and the
	 * unwinder would read code at any address. */
	if (hauli_code_has(&unwinder, hauli_interrupted_pc(uc)))
		t.pcs[t.n++] = (void *)hauli_interrupted_pc(uc);
	else
		_Unwind_Backtrace(add, &t);
	return t.n;
}

/* Where a program counter is. */
struct place {
	const char *name; /* of the function, or the file if that is not known; NULL: neither is */
	ptrdiff_t offset;
	const char *file; /* of the function, or NULL */
};

static struct place place_of(const char *pc)
{
	Dl_info info = {NULL};
	const char *file;

	if (!dladdr(pc, &info) || !info.dli_fname)
		return (struct place){0};
	file = strrchr(info.dli_fname, '/');
	file = file ? file + 1 : info.dli_fname;
	if (info.dli_sname)
		return (struct place){info.dli_sname, pc - (const char *)info.dli_saddr, file};
	return (struct place){file, pc - (const char *)info.dli_fbase, NULL};
}

static void print_symbol(const char *pc, FILE *out)
{
	struct place at = place_of(pc);

	if (!at.name)
		fprintf(out, "%p", (const void *)pc);
	else if (at.file)
		fprintf(out, "%s+0x%tx (%s)", at.name, at.offset, at.file);
	else
		fprintf(out, "%s+0x%tx", at.name, at.offset);
}

void hauli_trace_place(const void *pc, char *buf, size_t len)
{
	struct place at = place_of(pc);
	char rest[56]; /* shorter than buf */
	int n;

	if (!at.name) {
		snprintf(buf, len, "%p", pc);
		return;
	}
	n = at.file ? snprintf(rest, sizeof(rest), "+0x%tx (%.24s)", at.offset, at.file)
		    : snprintf(rest, sizeof(rest), "+0x%tx", at.offset);
	if (strlen(at.name) + (size_t)n < len)
		snprintf(buf, len, "%s%s", at.name, rest);
	else
		snprintf(buf, len, "%.*s...%s", (int)(len - (size_t)n - sizeof("...")), at.name,
			rest);
}

/* The base of libhaul.so; NULL: haul is linked statically. */
static const void *own_base(void)
{
	Dl_info info;
	const char *file;

	if (!dladdr((const void *)hauli_trace_init, &info) || !info.dli_fname)
		return NULL;
	file = strrchr(info.dli_fname, '/');
	return strstr(file ? file : info.dli_fname, "libhaul.so") ? info.dli_fbase : NULL;
}

static bool is_own(const void *pc)
{
	const void *base = own_base();
	Dl_info info;

	return base && dladdr(pc, &info) && info.dli_fbase == base;
}

#define START_BYTES 16 /* at most, of hauli_coro_start() */

/* The bounds of the section of HAULI_AT_ONCE functions, by the linker; NULL: there are none. */
extern const char begin_at_once[] __asm__("__start_haul_at_once")
	__attribute__((weak, visibility("hidden")));
extern const char end_at_once[] __asm__("__stop_haul_at_once")
	__attribute__((weak, visibility("hidden")));

bool hauli_trace_is_start(const void *pc)
{
	return (uintptr_t)pc - (uintptr_t)hauli_coro_start < START_BYTES;
}

static bool is_at_once(const char *pc)
{
	return pc >= begin_at_once && pc < end_at_once;
}

/* The number of frames without those that lead to the coroutine's function: hauli_coro_start(), its
 * entry, that of HAULI_AT_ONCE, and others of haul's. 0: all are haul's. */
static unsigned without_start(void *const *pcs, unsigned n, bool (*own)(const void *pc))
{
	if (n > 2 && hauli_trace_is_start(pcs[n - 1]))
		n -= 2;
	if (n > 1 && is_at_once(pcs[n - 1]))
		n--;
	while (n > 0 && own(pcs[n - 1]))
		n--;
	return n;
}

void hauli_trace_trim(void *const **pcs, unsigned *n, unsigned keep, bool (*own)(const void *pc))
{
	unsigned rest = without_start(*pcs, *n, own), inner = 0;

	if (rest == 0)
		return;
	while (own((*pcs)[inner]))
		inner++;
	inner -= inner < keep ? inner : keep;
	*pcs += inner;
	*n = rest - inner;
}

void hauli_trace_trim_own(void *const **pcs, unsigned *n)
{
	hauli_trace_trim(pcs, n, 1, is_own);
}

void hauli_trace_print(void *const *pcs, unsigned n, FILE *out)
{
	hauli_trace_trim_own(&pcs, &n);
	for (unsigned i = 0; i < n; i++) {
		fputs("    ", out);
		print_symbol(pcs[i], out);
		fputc('\n', out);
	}
}

void hauli_trace_print_line(void *const *pcs, unsigned n, FILE *out)
{
	hauli_trace_trim_own(&pcs, &n);
	for (unsigned i = 0; i < n; i++) {
		fputs(i > 0 ? " < " : "", out);
		print_symbol(pcs[i], out);
	}
}
