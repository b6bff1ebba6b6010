/* SPDX-License-Identifier: BSD-3-Clause */
#include "about.h"

#include <string.h>

#include <haul/base.h>

enum { FIXED = 12 }; /* the name, as a pointer; type, class, TTL, length of a record */

bool dns_about_is_id(const char *text)
{
	size_t n =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

	return text[n] == '\0' && n > 0 && n <= DNS_TEXT_MAX;
}

static bool is_named(const struct dns_query *q, const char *name, size_t length)
{
	return q->key.length == length && memcmp(dns_key_name(&q->key), name, length) == 0;
}

/* One record, which nobody is to keep: TTL 0. */
static size_t write_text(uint8_t *out, const uint8_t *msg, const struct dns_query *q,
	const char *text, enum dns_rcode rcode, const struct dns_reply_opts *opts)
{
	size_t n = strnlen(text, DNS_TEXT_MAX);
	union {
		struct dns_answer answer;
		uint8_t bytes[sizeof(struct dns_answer) + FIXED + 1 + DNS_TEXT_MAX];
	} made = {.answer = {.nb_answers = 1,
			  .rcode = (uint16_t)rcode,
			  .size = (uint16_t)(FIXED + 1 + n),
			  .expires = UINT64_MAX,
			  .dead_at = UINT64_MAX}};
	uint8_t *at = made.answer.bytes;

	dns_put16(at, 0xc000 | DNS_HEADER);
	dns_put16(at + 2, DNS_TXT);
	dns_put16(at + 4, DNS_CH);
	dns_put32(at + 6, 0);
	dns_put16(at + 10, (unsigned)n + 1);
	at[FIXED] = (uint8_t)n;
	memcpy(at + FIXED + 1, text, n);
	return dns_write_answer(out, msg, q, &made.answer, opts);
}

size_t dns_about_write(uint8_t *out, const uint8_t *msg, const struct dns_query *q, const char *id,
	bool serves, const char *state, const struct dns_reply_opts *opts)
{
	static const char id_name[] = "\2id\6server", health_name[] = "\6health\6server";

	if (q->key.class != DNS_CH || q->key.type != DNS_TXT)
		return 0;
	if (id && is_named(q, id_name, sizeof(id_name)))
		return write_text(out, msg, q, id, DNS_NOERROR, opts);
	if (is_named(q, health_name, sizeof(health_name)))
		return write_text(out, msg, q, state, serves ? DNS_NOERROR : DNS_SERVFAIL, opts);
	return 0;
}
