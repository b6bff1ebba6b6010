/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that stay until the end; the same text is kept once, so it has one address. */
#ifndef TRACE_TEXTS_H
#define TRACE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

struct trace_texts {
	char **items; /* open addressing, at most half full */
	size_t n, size; /* size: a power of two */
	bool failed;
};

/* "" if there is no memory: it has failed then. */
const char *trace_text(struct trace_texts *t, const char *text);
void trace_texts_free(struct trace_texts *t);

#endif
