/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of text for stderr, put together without any function that a signal handler may not
 * call. What is too long is cut. */
#ifndef HAULI_BASE_LINE_H
#define HAULI_BASE_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

struct hauli_line {
	char text[1536];
	size_t len;
};

static inline void hauli_line_text(struct hauli_line *l, const char *s)
{
	while (*s && l->len < sizeof(l->text))
		l->text[l->len++] = *s++;
}

/* A name that a user has given: at most 64 bytes of it; NULL: "-". */
static inline void hauli_line_name(struct hauli_line *l, const char *name)
{
	if (!name)
		name = "-";
	for (size_t i = 0; i < 64 && name[i]; i++)
		hauli_line_text(l, (char[]){name[i], '\0'});
}

static inline void hauli_line_in_base(struct hauli_line *l, uint64_t n, unsigned base)
{
	char digits[24];
	char *p = digits + sizeof(digits) - 1;

	*p = '\0';
	do
		*--p = "0123456789abcdef"[n % base];
	while (n /= base);
	hauli_line_text(l, p);
}

static inline void hauli_line_number(struct hauli_line *l, uint64_t n)
{
	hauli_line_in_base(l, n, 10);
}

static inline void hauli_line_hex(struct hauli_line *l, uint64_t n)
{
	hauli_line_text(l, "0x");
	hauli_line_in_base(l, n, 16);
}

/* Writes the line, and empties it. */
static inline void hauli_line_write(struct hauli_line *l)
{
	size_t len = l->len;

	l->len = 0;
	if (write(STDERR_FILENO, l->text, len) < 0)
		return; /* the program ends in any case */
}

#endif
