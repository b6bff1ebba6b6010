/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t surprises_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hauli_surprise *surprises;

void hauli_bug(const char *what, const char *file, int line)
{
	fprintf(stderr, "haul: bug: %s (%s:%d)\n", what, file, line);
	abort();
}

void hauli_misuse(const char *call, const char *mistake, ...)
{
	char text[320];
	va_list args;
	int len;

	/* The stack may be small: no stream. */
	len = snprintf(text, sizeof(text), "haul: %s(): ", call);
	va_start(args, mistake);
	len += vsnprintf(text + len, sizeof(text) - (size_t)len, mistake, args);
	va_end(args);
	if (len > (int)sizeof(text) - 1)
		len = (int)sizeof(text) - 1;
	text[len++] = '\n'; /* in the place of the terminating zero */
	if (write(STDERR_FILENO, text, (size_t)len) < len)
		abort(); /* as far as it goes */
	abort();
}

void hauli_surprise_count(struct hauli_surprise *s)
{
	pthread_mutex_lock(&surprises_lock);
	if (hauli_counter_read(&s->times) == 0) {
		s->next = surprises;
		surprises = s;
	}
	hauli_counter_add(&s->times, 1);
	pthread_mutex_unlock(&surprises_lock);
}

void hauli_surprises_print(FILE *out)
{
	pthread_mutex_lock(&surprises_lock);
	for (const struct hauli_surprise *s = surprises; s; s = s->next)
		fprintf(out, "%s: %" PRIu64 " times\n", s->text, hauli_counter_read(&s->times));
	pthread_mutex_unlock(&surprises_lock);
}
