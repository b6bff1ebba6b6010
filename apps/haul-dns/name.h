/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Domain names as they are on the wire: labels, each behind its length, and an empty one at the
 * end. Upper and lower case are the same (RFC 4343): a folded name has lower case letters only. As
 * lengths are below 64, and letters above, a name is folded as a whole.
 */
#ifndef DNS_NAME_H
#define DNS_NAME_H

#include "wire.h"

/* Room for dns_name_text(). */
enum { DNS_NAME_TEXT = 1025 };

static inline uint8_t dns_fold(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* Eight bytes at once: bit 7 of a byte is set by adding what is missing to 0x80. */
static inline uint64_t dns_fold8(uint64_t x)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t low = x & ones * 0x7f, from_a = low + ones * (0x80 - 'A');
	uint64_t above_z = low + ones * (0x7f - 'Z');

	return x | ((from_a ^ above_z) & ~x & ones * 0x80) >> 2;
}

/*
 * Writes the name at offset at of a message, without its compression. Returns its length, 1 to
 * DNS_NAME_MAX, or -EBADMSG. *end is the offset behind the name in the message. A pointer must lead
 * backwards, to before everything of the name that was read so far, and there are at most as many
 * as labels can be: the work is bounded.
 */
int dns_name_read(const uint8_t *msg, size_t n, size_t at, uint8_t name[DNS_NAME_MAX], size_t *end);

/* The offset behind the name, or -EBADMSG. Does not follow a pointer, but it must lead
 * backwards. */
int dns_name_skip(const uint8_t *msg, size_t n, size_t at);

/* True if the name in the message is the given one, which is folded. The name in the message may be
 * malformed: it differs then. */
bool dns_name_is(const uint8_t *msg, size_t n, size_t at, const uint8_t *name, size_t length);

/* The length of a name without compression that begins at name, of which n bytes can be read; or
 * -EBADMSG. */
int dns_name_length(const uint8_t *name, size_t n);

void dns_name_fold(uint8_t *name, size_t length);

/* True if the name is the zone's, or one below it. Both are folded. */
bool dns_name_is_below(const uint8_t *name, size_t length, const uint8_t *zone, size_t zone_length);

/* "www.example.com", with or without a dot at the end, as a name. Letters, digits, '-' and '_'
 * only. Returns its length, or -EINVAL. */
int dns_name_parse(const char *text, size_t n, uint8_t name[DNS_NAME_MAX]);

/* For people: other characters are escaped (RFC 4343, 2.1). Returns text. */
char *dns_name_text(const uint8_t *name, char text[DNS_NAME_TEXT]);

#endif
