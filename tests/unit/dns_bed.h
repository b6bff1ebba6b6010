/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of haul-dns: messages from lines of text. */
#ifndef HAUL_TESTS_DNS_BED_H
#define HAUL_TESTS_DNS_BED_H

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "../../apps/haul-dns/answer.h"
#include "support/dns_text.h"
#include "support/guarded.h"
#include "support/stress.h"
#include "support/suite.h"

enum { BED_MESSAGE = 65536, BED_TEXT = 1 << 18, BED_NAMES = 64 };

struct bed_msg {
	uint8_t bytes[BED_MESSAGE];
	size_t n;
	bool compress;
	/* Names that later ones may point to. */
	char names[BED_NAMES][256];
	uint16_t at[BED_NAMES];
	unsigned nb_names;
};

static inline void bed_u16(struct bed_msg *m, unsigned v)
{
	m->bytes[m->n++] = (uint8_t)(v >> 8);
	m->bytes[m->n++] = (uint8_t)v;
}

static inline void bed_u32(struct bed_msg *m, uint32_t v)
{
	bed_u16(m, v >> 16);
	bed_u16(m, v & 0xffff);
}

/* "a.b" or ".": letters, and what else has no meaning here. */
static inline void bed_name(struct bed_msg *m, const char *name, bool compress)
{
	if (strcmp(name, ".") == 0)
		name++;
	while (*name) {
		size_t n = strcspn(name, ".");

		for (unsigned i = 0; compress && i < m->nb_names; i++) {
			if (strcmp(m->names[i], name) == 0) {
				bed_u16(m, 0xc000u | m->at[i]);
				return;
			}
		}
		if (m->nb_names < BED_NAMES && m->n < 0x4000) {
			strcpy(m->names[m->nb_names], name);
			m->at[m->nb_names++] = (uint16_t)m->n;
		}
		m->bytes[m->n++] = (uint8_t)n;
		memcpy(m->bytes + m->n, name, n);
		m->n += n;
		name += n + (name[n] == '.');
	}
	m->bytes[m->n++] = 0;
}

/* "name TYPE" */
static inline void bed_begin(struct bed_msg *m, unsigned id, unsigned flags, const char *question)
{
	char name[256], type[16];

	memset(m->bytes, 0, DNS_HEADER);
	m->n = 0;
	m->nb_names = 0;
	bed_u16(m, id);
	bed_u16(m, flags);
	m->n = DNS_HEADER;
	m->bytes[5] = 1;
	ck_assert_int_eq(sscanf(question, "%255s %15s", name, type), 2);
	bed_name(m, name, false);
	bed_u16(m, bed_type(type));
	bed_u16(m, DNS_IN);
}

/* In presentation: SOA has two names and the minimum only, RRSIG the type covered and the signer,
 * NAPTR the last name, NSEC the next name; other types are hexadecimal digits. */
static inline void bed_rdata(struct bed_msg *m, unsigned type, const char *text)
{
	char a[256] = "", b[256] = "";
	unsigned number = 0;

	switch (type) {
	case DNS_A:
		ck_assert_int_eq(inet_pton(AF_INET, text, m->bytes + m->n), 1);
		m->n += 4;
		return;
	case DNS_AAAA:
		ck_assert_int_eq(inet_pton(AF_INET6, text, m->bytes + m->n), 1);
		m->n += 16;
		return;
	case DNS_NS:
	case DNS_CNAME:
	case DNS_PTR:
		bed_name(m, text, m->compress);
		return;
	case DNS_DNAME:
	case DNS_NSEC:
		bed_name(m, text, false);
		return;
	case DNS_MX:
		sscanf(text, "%u %255s", &number, a);
		bed_u16(m, number);
		bed_name(m, a, m->compress);
		return;
	case DNS_SRV: /* some servers do compress it */
		bed_u32(m, 0x10002);
		bed_u16(m, 53);
		bed_name(m, text, m->compress);
		return;
	case DNS_NAPTR:
		memcpy(m->bytes + m->n, "\0\1\0\2\1S\3SIP\0", 11);
		m->n += 11;
		bed_name(m, text, false);
		return;
	case DNS_SOA:
		sscanf(text, "%255s %255s %u", a, b, &number);
		bed_name(m, a, m->compress);
		bed_name(m, b, m->compress);
		for (int i = 1; i <= 4; i++)
			bed_u32(m, (uint32_t)i);
		bed_u32(m, number);
		return;
	case DNS_RRSIG:
		sscanf(text, "%255s %255s", a, b);
		bed_u16(m, bed_type(a));
		for (int i = 0; i < 4; i++)
			bed_u32(m, (uint32_t)i);
		bed_name(m, b, false);
		bed_u32(m, 0x5157);
		return;
	default:
		for (; isxdigit((unsigned char)*text); text += 2) {
			sscanf(text, "%2x", &number);
			m->bytes[m->n++] = (uint8_t)number;
		}
	}
}

/* "owner TTL TYPE data" */
static inline void bed_add(struct bed_msg *m, enum dns_section section, const char *line)
{
	char owner[256], type[16];
	unsigned count = dns_get16(m->bytes + 6 + 2 * section) + 1u;
	unsigned ttl;
	int data = 0;
	size_t at;

	ck_assert_int_ge(sscanf(line, "%255s %u %15s %n", owner, &ttl, type, &data), 3);
	bed_name(m, owner, m->compress);
	bed_u16(m, bed_type(type));
	bed_u16(m, bed_type(type) == DNS_OPT_TYPE ? 1232 : DNS_IN);
	bed_u32(m, ttl);
	at = m->n;
	m->n += 2;
	bed_rdata(m, bed_type(type), line + data);
	dns_put16(m->bytes + at, (unsigned)(m->n - at - 2));
	dns_put16(m->bytes + 6 + 2 * section, count);
}

static const struct dns_secret bed_secret = {{0x0123456789abcdef, 0xfedcba9876543210}};

#endif
