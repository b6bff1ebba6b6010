/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/timeline.h"

#include <errno.h>
#include <string.h>

#define TEXT_BYTES 15u /* of an event */
#define TEXT_EVENTS (HAULI_TIMELINE_TEXT / TEXT_BYTES)

_Static_assert(HAULI_TIMELINE_NAMES == 256, "eight bits of a hash");

/* The byte of the kind is below the text. */
static void put_text(struct hauli_timeline *t, const char *text, size_t len)
{
	unsigned char bytes[16] = {HAUL_TRACE_TEXT};
	uint64_t words[2];

	memcpy(bytes + 1, text, len < TEXT_BYTES ? len : TEXT_BYTES);
	memcpy(words, bytes, sizeof(words));
	hauli_unseen_begin();
	hauli_last_put(&t->ring, words[0], words[1]);
	hauli_unseen_end();
}

__attribute__((noinline)) unsigned hauli_timeline_name_slow(
	struct hauli_timeline *t, const char *text, unsigned slot)
{
	struct hauli_timeline_name *name = &t->names[slot];
	size_t len = strnlen(text, HAULI_TIMELINE_TEXT);
	unsigned n = (unsigned)((len + TEXT_BYTES - 1) / TEXT_BYTES);

	hauli_timeline_put_at(t, 0, HAUL_TRACE_NAME, n, 0, slot);
	for (unsigned i = 0; i < n; i++)
		put_text(t, text + (size_t)i * TEXT_BYTES, len - (size_t)i * TEXT_BYTES);
	hauli_unseen_begin();
	*name = (struct hauli_timeline_name){text, hauli_last_own_end(&t->ring), ""};
	hauli_unseen_end();
	memcpy(name->copy, text, len);
	return slot;
}
