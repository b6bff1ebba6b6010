/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"

#include <string.h>

enum wire { VARINT, FIXED64, BYTES };

static void put_varint(struct proto *p, uint64_t n)
{
	do {
		p->bytes[p->len++] = (uint8_t)((n & 127) | (n > 127 ? 128 : 0));
		n >>= 7;
	} while (n > 0);
}

/* False: a field with so many bytes behind its tag and length does not fit. */
static int fits(const struct proto *p, size_t len)
{
	return p->len + len + 20 <= PROTO_ROOM;
}

void proto_number(struct proto *p, unsigned field, uint64_t n)
{
	if (!fits(p, 0))
		return;
	put_varint(p, field << 3 | VARINT);
	put_varint(p, n);
}

void proto_fixed64(struct proto *p, unsigned field, uint64_t n)
{
	if (!fits(p, 8))
		return;
	put_varint(p, field << 3 | FIXED64);
	for (unsigned i = 0; i < 8; i++, n >>= 8)
		p->bytes[p->len++] = (uint8_t)n;
}

static void put_bytes(struct proto *p, unsigned field, const void *bytes, size_t len)
{
	if (!fits(p, len))
		return;
	put_varint(p, field << 3 | BYTES);
	put_varint(p, len);
	memcpy(p->bytes + p->len, bytes, len);
	p->len += len;
}

void proto_text(struct proto *p, unsigned field, const char *text)
{
	put_bytes(p, field, text, strlen(text));
}

void proto_message(struct proto *p, unsigned field, const struct proto *m)
{
	put_bytes(p, field, m->bytes, m->len);
}
