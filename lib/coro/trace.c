/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/trace.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>
#include <unwind.h>

#include "coro/interrupted.h"

struct trace {
	void **pcs;
	unsigned n, most;
	const void *from; /* leaves out the frames before this one; NULL: none */
};

static _Unwind_Reason_Code add(struct _Unwind_Context *frame, void *arg)
{
	struct trace *t = arg;
	void *pc = (void *)_Unwind_GetIP(frame);

	if (t->from && pc != t->from)
		return _URC_NO_REASON;
	t->from = NULL;
	if (!pc || t->n == t->most)
		return _URC_END_OF_STACK;
	t->pcs[t->n++] = pc;
	return _URC_NO_REASON;
}

/* trace_*.S. Calls _Unwind_Backtrace(fn, arg), for which the caller of this function is *ctx. */
_Unwind_Reason_Code hauli_trace_from(const struct hauli_ctx *ctx, _Unwind_Trace_Fn fn, void *arg);

void hauli_trace_init(void)
{
	void *pc;

	backtrace(&pc, 1); /* its first call loads libgcc */
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

	_Unwind_Backtrace(add, &t);
	return t.n;
}

static void print_place(const char *pc, FILE *out)
{
	Dl_info info = {NULL};
	const char *file;

	if (!dladdr(pc, &info) || !info.dli_fname) {
		fprintf(out, "%p", (const void *)pc);
		return;
	}
	file = strrchr(info.dli_fname, '/');
	file = file ? file + 1 : info.dli_fname;
	if (info.dli_sname)
		fprintf(out, "%s+0x%tx (%s)", info.dli_sname, pc - (const char *)info.dli_saddr,
			file);
	else
		fprintf(out, "%s+0x%tx", file, pc - (const char *)info.dli_fbase);
}

void hauli_trace_print(void *const *pcs, unsigned n, FILE *out)
{
	for (unsigned i = 0; i < n; i++) {
		fputs("    ", out);
		print_place(pcs[i], out);
		fputc('\n', out);
	}
}

void hauli_trace_print_line(void *const *pcs, unsigned n, FILE *out)
{
	for (unsigned i = 0; i < n; i++) {
		fputs(i > 0 ? " < " : "", out);
		print_place(pcs[i], out);
	}
}
