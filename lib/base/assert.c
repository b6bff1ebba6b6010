/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t surprises_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hauli_surprise *surprises;

void hauli_bug(const char *what, const char *file, int line)
{
	fprintf(stderr, "haul: bug: %s (%s:%d)\n", what, file, line);
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
