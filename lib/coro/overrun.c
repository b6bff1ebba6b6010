/* SPDX-License-Identifier: BSD-3-Clause */
#include "coro/overrun.h"

#include <stdlib.h>
#include <unistd.h>

/* A line of text, put together without any function that a signal handler may not call. */
struct line {
	char text[256];
	size_t len;
};

static void put_text(struct line *l, const char *s)
{
	while (*s && l->len < sizeof(l->text))
		l->text[l->len++] = *s++;
}

static void put_number(struct line *l, size_t n)
{
	char digits[24];
	char *p = digits + sizeof(digits) - 1;

	*p = '\0';
	do
		*--p = (char)('0' + n % 10);
	while (n /= 10);
	put_text(l, p);
}

void hauli_overrun_print(const char *name, size_t usable)
{
	struct line l = {.len = 0};

	if (!name)
		name = "-";
	put_text(&l, "haul: coroutine \"");
	for (size_t i = 0; i < 64 && name[i]; i++)
		put_text(&l, (char[]){name[i], '\0'});
	put_text(&l, "\" has run over its stack of ");
	put_number(&l, usable >> 10);
	put_text(&l, " KiB: give it a larger one by haul_coro_opts.stack_size or --stack-size\n");
	if (write(STDERR_FILENO, l.text, l.len) < 0)
		return; /* the program ends in any case */
}

void hauli_overrun_die(const char *name, size_t usable)
{
	hauli_overrun_print(name, usable);
	abort();
}
