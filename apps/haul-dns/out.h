/* SPDX-License-Identifier: BSD-3-Clause */
/* A message that is written, with names compressed (RFC 1035, 4.1.4). What does not fit sets
 * is_full, and nothing is written any more. */
#ifndef DNS_OUT_H
#define DNS_OUT_H

#include "message.h"

enum { DNS_SUFFIXES_MAX = 32 };

struct dns_out {
	uint8_t *buf;
	size_t n, room;
	bool is_full;
	uint8_t nb_suffixes;
	/* Names, and ends of names, that later ones may point to; and their lengths. */
	uint16_t suffixes[DNS_SUFFIXES_MAX];
	uint8_t lengths[DNS_SUFFIXES_MAX];
};

void dns_out_init(struct dns_out *o, uint8_t *buf, size_t room);

void dns_out_bytes(struct dns_out *o, const void *bytes, size_t n);
void dns_out_u16(struct dns_out *o, unsigned v);
void dns_out_u32(struct dns_out *o, uint32_t v);

/* The name is not compressed itself. Later ones may point to it in both cases. */
void dns_out_name(struct dns_out *o, const uint8_t *name, bool compress);

/* Owner, type, class and TTL; then rdata; then dns_out_rdata_end(o, what the first returned). */
size_t dns_out_record(
	struct dns_out *o, const uint8_t *owner, unsigned type, unsigned class, uint32_t ttl);
void dns_out_rdata_end(struct dns_out *o, size_t at);

#endif
