/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/overrun.h"

#include <stdlib.h>

#include "base/line.h"

void hauli_overrun_print(const char *name, size_t usable)
{
	struct hauli_line l = {.len = 0};

	hauli_line_text(&l, "haul: coroutine \"");
	hauli_line_name(&l, name);
	hauli_line_text(&l, "\" has run over its stack of ");
	hauli_line_number(&l, usable >> 10);
	hauli_line_text(
		&l, " KiB: give it a larger one by haul_coro_opts.stack_size or --stack-size\n");
	hauli_line_write(&l);
}

void hauli_overrun_die(const char *name, size_t usable)
{
	hauli_overrun_print(name, usable);
	abort();
}
