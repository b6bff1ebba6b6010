/* SPDX-License-Identifier: BSD-3-Clause */
#include "out.h"

void dns_out_init(struct dns_out *o, uint8_t *buf, size_t room)
{
	*o = (struct dns_out){.buf = buf, .room = room};
}

static uint8_t *reserve(struct dns_out *o, size_t n)
{
	uint8_t *at = o->buf + o->n;

	if (o->is_full || n > o->room - o->n) {
		o->is_full = true;
		return NULL;
	}
	o->n += n;
	return at;
}

void dns_out_bytes(struct dns_out *o, const void *bytes, size_t n)
{
	uint8_t *at = reserve(o, n);

	if (at && n > 0)
		memcpy(at, bytes, n);
}

void dns_out_u16(struct dns_out *o, unsigned v)
{
	uint8_t *at = reserve(o, 2);

	if (at)
		dns_put16(at, v);
}

void dns_out_u32(struct dns_out *o, uint32_t v)
{
	uint8_t *at = reserve(o, 4);

	if (at)
		dns_put32(at, v);
}

/* The offset of an equal name, or 0. name is not folded. */
static unsigned find(const struct dns_out *o, const uint8_t *name, size_t length)
{
	uint8_t folded[DNS_NAME_MAX];
	bool is_folded = false;

	for (unsigned i = 0; i < o->nb_suffixes; i++) {
		if (o->lengths[i] != length)
			continue;
		if (!is_folded) {
			memcpy(folded, name, length);
			dns_name_fold(folded, length);
			is_folded = true;
		}
		if (dns_name_is(o->buf, o->n, o->suffixes[i], folded, length))
			return o->suffixes[i];
	}
	return 0;
}

void dns_out_name(struct dns_out *o, const uint8_t *name, bool compress)
{
	size_t left = (size_t)dns_name_length(name, DNS_NAME_MAX);

	for (; *name; left -= 1u + *name, name += 1 + *name) {
		unsigned at = compress ? find(o, name, left) : 0;

		if (at) {
			dns_out_u16(o, 0xc000 | at);
			return;
		}
		if (o->nb_suffixes < DNS_SUFFIXES_MAX && o->n < 0x4000 && !o->is_full) {
			o->suffixes[o->nb_suffixes] = (uint16_t)o->n;
			o->lengths[o->nb_suffixes++] = (uint8_t)left;
		}
		dns_out_bytes(o, name, 1u + *name);
	}
	dns_out_bytes(o, name, 1);
}

size_t dns_out_record(
	struct dns_out *o, const uint8_t *owner, unsigned type, unsigned class, uint32_t ttl)
{
	size_t at;

	dns_out_name(o, owner, true);
	dns_out_u16(o, type);
	dns_out_u16(o, class);
	dns_out_u32(o, ttl);
	at = o->n;
	dns_out_u16(o, 0);
	return at;
}

void dns_out_rdata_end(struct dns_out *o, size_t at)
{
	if (!o->is_full)
		dns_put16(o->buf + at, (unsigned)(o->n - at - 2));
}
