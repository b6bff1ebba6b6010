/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DNS messages as text, by a slow reading that shares nothing with haul-dns. It ends the program if
 * a message is not well formed.
 */
#ifndef HAUL_TESTS_DNS_TEXT_H
#define HAUL_TESTS_DNS_TEXT_H

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/haul-dns/wire.h"

#define DNS_TEXT_CHECK(condition)                            \
	do {                                                 \
		if (!(condition)) {                          \
			fprintf(stderr, "%s\n", #condition); \
			abort();                             \
		}                                            \
	} while (0)

static const struct {
	const char *name;
	unsigned type;
} bed_types[] = {{"A", 1}, {"NS", 2}, {"CNAME", 5}, {"SOA", 6}, {"PTR", 12}, {"MX", 15},
	{"TXT", 16}, {"AAAA", 28}, {"SRV", 33}, {"NAPTR", 35}, {"DNAME", 39}, {"OPT", 41},
	{"RRSIG", 46}, {"NSEC", 47}, {"NSEC3", 50}, {"HTTPS", 65}, {"ANY", 255}};

static inline unsigned bed_type(const char *name)
{
	for (size_t i = 0; i < sizeof(bed_types) / sizeof(bed_types[0]); i++)
		if (strcmp(bed_types[i].name, name) == 0)
			return bed_types[i].type;
	return (unsigned)atoi(name);
}

static inline const char *bed_type_name(unsigned type)
{
	static char number[16];

	for (size_t i = 0; i < sizeof(bed_types) / sizeof(bed_types[0]); i++)
		if (bed_types[i].type == type)
			return bed_types[i].name;
	sprintf(number, "%u", type);
	return number;
}

/* The slow reading. Each aborts the test if the message is not well formed. */

static inline size_t bed_text_name(const uint8_t *msg, size_t n, size_t at, char *text)
{
	size_t end = 0, length = 0, before = at;
	unsigned labels = 0;

	text[0] = '\0';
	for (;;) {
		DNS_TEXT_CHECK(at < n);
		if (msg[at] >= 192) {
			DNS_TEXT_CHECK(at + 1 < n);
			if (end == 0)
				end = at + 2;
			at = (msg[at] & 63u) * 256 + msg[at + 1];
			DNS_TEXT_CHECK(at < before);
			before = at;
			continue;
		}
		DNS_TEXT_CHECK(msg[at] < 64 && at + 1 + msg[at] <= n);
		length += 1u + msg[at];
		DNS_TEXT_CHECK(length <= 255);
		if (msg[at] == 0)
			break;
		for (unsigned i = 1; i <= msg[at]; i++)
			text += sprintf(text,
				isgraph(msg[at + i]) && msg[at + i] != '.' ? "%c" : "\\%03u",
				msg[at + i]);
		text += sprintf(text, ".");
		at += 1u + msg[at];
		labels++;
	}
	if (labels == 0)
		strcpy(text, ".");
	else
		text[-1] = '\0';
	return end ? end : at + 1;
}

static inline char *bed_text_rdata(
	const uint8_t *msg, size_t n, unsigned type, size_t at, size_t end, char *text)
{
	char name[1100];

	switch (type) {
	case DNS_A:
	case DNS_AAAA:
		DNS_TEXT_CHECK(end - at == (type == DNS_A ? 4 : 16));
		DNS_TEXT_CHECK(inet_ntop(type == DNS_A ? AF_INET : AF_INET6, msg + at, text, 64));
		return text + strlen(text);
	case DNS_MX:
		DNS_TEXT_CHECK(bed_text_name(msg, n, at + 2, name) == end);
		return text + sprintf(text, "%u %s", dns_get16(msg + at), name);
	case DNS_SOA:
		at = bed_text_name(msg, n, at, name);
		text += sprintf(text, "%s ", name);
		at = bed_text_name(msg, n, at, name);
		DNS_TEXT_CHECK(end - at == 20);
		return text + sprintf(text, "%s %u", name, dns_get32(msg + at + 16));
	case DNS_SRV:
		DNS_TEXT_CHECK(bed_text_name(msg, n, at + 6, name) == end);
		return text + sprintf(text, "%s", name);
	case DNS_NAPTR:
		at += 4;
		for (int i = 0; i < 3; i++) {
			DNS_TEXT_CHECK(at < end);
			at += 1u + msg[at];
		}
		DNS_TEXT_CHECK(bed_text_name(msg, n, at, name) == end);
		return text + sprintf(text, "%s", name);
	case DNS_RRSIG:
		DNS_TEXT_CHECK(bed_text_name(msg, n, at + 18, name) <= end);
		return text + sprintf(text, "%s %s", bed_type_name(dns_get16(msg + at)), name);
	case DNS_NSEC:
		DNS_TEXT_CHECK(bed_text_name(msg, n, at, name) <= end);
		return text + sprintf(text, "%s", name);
	case DNS_NS:
	case DNS_CNAME:
	case DNS_PTR:
	case DNS_DNAME:
		DNS_TEXT_CHECK(bed_text_name(msg, n, at, name) == end);
		return text + sprintf(text, "%s", name);
	default:
		for (; at < end; at++)
			text += sprintf(text, "%02x", msg[at]);
		return text;
	}
}

/* A line for each record, "section owner TTL TYPE data", behind one with code and question. Returns
 * text. */
static inline char *bed_text(const uint8_t *msg, size_t n, char *text)
{
	unsigned flags = dns_get16(msg + 2);
	char name[1100], *to = text;
	size_t at = DNS_HEADER;

	DNS_TEXT_CHECK(n >= DNS_HEADER);
	to += sprintf(
		to, "%u%s%s", flags & 15, flags & DNS_TC ? " tc" : "", flags & DNS_AA ? " aa" : "");
	for (unsigned i = 0; i < dns_get16(msg + 4); i++) {
		at = bed_text_name(msg, n, at, name);
		DNS_TEXT_CHECK(at + 4 <= n);
		to += sprintf(to, " %s %s", name, bed_type_name(dns_get16(msg + at)));
		at += 4;
	}
	to += sprintf(to, "\n");
	for (unsigned section = 0; section < 3; section++) {
		for (unsigned i = 0; i < dns_get16(msg + 6 + 2 * section); i++) {
			unsigned type, length;

			at = bed_text_name(msg, n, at, name);
			DNS_TEXT_CHECK(at + 10 <= n);
			type = dns_get16(msg + at);
			length = dns_get16(msg + at + 8);
			DNS_TEXT_CHECK(at + 10 + length <= n);
			to += sprintf(to, "%u %s %u %s ", section, name, dns_get32(msg + at + 4),
				bed_type_name(type));
			to = bed_text_rdata(msg, n, type, at + 10, at + 10 + length, to);
			to += sprintf(to, "\n");
			at += 10 + length;
		}
	}
	DNS_TEXT_CHECK(at == n);
	return text;
}

#endif
