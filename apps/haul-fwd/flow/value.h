/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of fields, from words to the bytes of a struct. */
#ifndef FWD_FLOW_VALUE_H
#define FWD_FLOW_VALUE_H

#include <stddef.h>

#include "grammar.h"

/* DPDK's numbers of our ports; UINT16_MAX: the port has no device, or several. */
struct fwd_flow_ports {
	const uint16_t *ids;
	unsigned n;
};

/* A decimal, hexadecimal (0x) or octal (0) number. False: the word is none, or more than most. */
bool fwd_flow_number(const char *word, uint64_t most, uint64_t *number);
/* Hex digits; the number of bytes, or -1: they are no such digits, or more than most bytes. */
int fwd_flow_hex(const char *digits, unsigned len, uint8_t *bytes, unsigned most);

/* Set a field of a struct by a word. False, with what to give instead in wanted: it is none. */
bool fwd_flow_set(const struct fwd_flow_field *field, const char *word,
	const struct fwd_flow_ports *ports, void *object, char *wanted, size_t size);
/* The same in a mask, where a port and a color are numbers, too. */
bool fwd_flow_set_mask(const struct fwd_flow_field *field, const char *word, void *mask,
	char *wanted, size_t size);
/* The first bits of the field, as many as the word says. */
bool fwd_flow_set_prefix(const struct fwd_flow_field *field, const char *word, void *mask,
	char *wanted, size_t size);
/* All bits of the field. */
void fwd_flow_set_ones(const struct fwd_flow_field *field, void *mask);

#endif
