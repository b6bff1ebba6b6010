/* SPDX-License-Identifier: BSD-3-Clause */
#include "value.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_meter.h>

bool fwd_flow_number(const char *word, uint64_t most, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)word[0]))
		return false;
	errno = 0;
	*number = strtoull(word, &end, 0);
	return !errno && !*end && *number <= most;
}

static int digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

int fwd_flow_hex(const char *digits, unsigned len, uint8_t *bytes, unsigned most)
{
	if (len >= 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
		digits += 2;
		len -= 2;
	}
	if (len == 0 || len % 2 || len / 2 > most)
		return -1;
	for (unsigned i = 0; i < len; i += 2) {
		int high = digit(digits[i]), low = digit(digits[i + 1]);

		if (high < 0 || low < 0)
			return -1;
		bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	return (int)(len / 2);
}

/* The bits of the field in the number that it is stored in. */
static uint64_t bits_of(const struct fwd_flow_field *field)
{
	return field->bits ? field->bits
			   : UINT64_MAX >> (64 - 8 * RTE_MIN((unsigned)field->size, 8U));
}

static uint64_t most_of(const struct fwd_flow_field *field)
{
	const uint64_t bits = bits_of(field);

	return bits >> __builtin_ctzll(bits);
}

static unsigned byte_of(const struct fwd_flow_field *field, unsigned i)
{
	return field->kind == FWD_FLOW_NET ? field->size - 1U - i : i;
}

/* Replaces the field's bits of a number; other fields have the others. */
static void store(const struct fwd_flow_field *field, uint64_t value, void *object)
{
	uint8_t *at = (uint8_t *)object + field->at;
	const uint64_t bits = bits_of(field);
	uint64_t number = 0;

	for (unsigned i = 0; i < field->size; i++)
		number |= (uint64_t)at[byte_of(field, i)] << 8 * i;
	number = (number & ~bits) | (value << __builtin_ctzll(bits) & bits);
	for (unsigned i = 0; i < field->size; i++)
		at[byte_of(field, i)] = (uint8_t)(number >> 8 * i);
}

static bool set_number(const struct fwd_flow_field *field, const char *word, void *object,
	char *wanted, size_t size)
{
	uint64_t number;

	snprintf(wanted, size, "a number up to %" PRIu64, most_of(field));
	if (!fwd_flow_number(word, most_of(field), &number))
		return false;
	store(field, number, object);
	return true;
}

/* One of the names, which stand for 0, 1...; NULL ends them. */
static bool set_name(const struct fwd_flow_field *field, const char *word, const char *const *names,
	void *object)
{
	for (unsigned i = 0; names[i]; i++) {
		if (strcmp(names[i], word) != 0)
			continue;
		store(field, i, object);
		return true;
	}
	return false;
}

static bool set_switch(const struct fwd_flow_field *field, const char *word, void *object,
	char *wanted, size_t size)
{
	static const char *const forms[][3] = {
		{"off", "on"}, {"no", "yes"}, {"false", "true"}, {"N", "Y"}, {"0", "1"}};

	for (unsigned i = 0; i < RTE_DIM(forms); i++)
		if (set_name(field, word, forms[i], object))
			return true;
	snprintf(wanted, size, "on or off");
	return false;
}

static bool set_port(const struct fwd_flow_field *field, const char *word,
	const struct fwd_flow_ports *ports, void *object, char *wanted, size_t size)
{
	uint64_t port;

	snprintf(wanted, size, "the number of a port that has one device");
	if (!fwd_flow_number(word, UINT64_MAX, &port) || port >= ports->n ||
		ports->ids[port] == UINT16_MAX)
		return false;
	store(field, ports->ids[port], object);
	return true;
}

static bool set_mac(const struct fwd_flow_field *field, const char *word, void *object,
	char *wanted, size_t size)
{
	snprintf(wanted, size, "a MAC address");
	return rte_ether_unformat_addr(
		       word, (struct rte_ether_addr *)((uint8_t *)object + field->at)) == 0;
}

static bool set_address(const struct fwd_flow_field *field, const char *word, void *object,
	char *wanted, size_t size)
{
	bool v4 = field->kind == FWD_FLOW_IPV4;
	uint8_t address[16];
	uint64_t number;

	snprintf(wanted, size, "an IPv%c address", v4 ? '4' : '6');
	if (inet_pton(v4 ? AF_INET : AF_INET6, word, address) != 1) {
		/* testpmd takes numbers, too. */
		if (!v4 || !fwd_flow_number(word, UINT32_MAX, &number))
			return false;
		number = htonl((uint32_t)number);
		memcpy(address, &number, 4);
	}
	memcpy((uint8_t *)object + field->at, address, field->size);
	return true;
}

bool fwd_flow_set(const struct fwd_flow_field *field, const char *word,
	const struct fwd_flow_ports *ports, void *object, char *wanted, size_t size)
{
	static const char *const colors[] = {[RTE_COLOR_GREEN] = "green",
		[RTE_COLOR_YELLOW] = "yellow",
		[RTE_COLOR_RED] = "red",
		NULL};

	switch (field->kind) {
	case FWD_FLOW_NET:
	case FWD_FLOW_HOST:
		return set_number(field, word, object, wanted, size);
	case FWD_FLOW_SWITCH:
		return set_switch(field, word, object, wanted, size);
	case FWD_FLOW_PORT:
		return set_port(field, word, ports, object, wanted, size);
	case FWD_FLOW_COLOR:
		snprintf(wanted, size, "green|yellow|red");
		return set_name(field, word, colors, object);
	case FWD_FLOW_MAC:
		return set_mac(field, word, object, wanted, size);
	case FWD_FLOW_IPV4:
	case FWD_FLOW_IPV6:
		break;
	}
	return set_address(field, word, object, wanted, size);
}

bool fwd_flow_set_mask(
	const struct fwd_flow_field *field, const char *word, void *mask, char *wanted, size_t size)
{
	if (field->kind == FWD_FLOW_PORT || field->kind == FWD_FLOW_COLOR)
		return set_number(field, word, mask, wanted, size);
	return fwd_flow_set(field, word, NULL, mask, wanted, size);
}

static bool is_bytes(const struct fwd_flow_field *field)
{
	return field->kind == FWD_FLOW_MAC || field->kind == FWD_FLOW_IPV4 ||
		field->kind == FWD_FLOW_IPV6;
}

bool fwd_flow_set_prefix(
	const struct fwd_flow_field *field, const char *word, void *mask, char *wanted, size_t size)
{
	const unsigned width =
		field->bits ? (unsigned)__builtin_popcount(field->bits) : 8U * field->size;
	uint8_t *at = (uint8_t *)mask + field->at;
	uint64_t n;

	snprintf(wanted, size, "a number of bits, up to %u", width);
	if (!fwd_flow_number(word, width, &n))
		return false;
	if (!is_bytes(field)) {
		store(field, n ? most_of(field) >> (width - n) << (width - n) : 0, mask);
		return true;
	}
	for (unsigned i = 0; i < field->size; i++, n -= RTE_MIN(n, UINT64_C(8)))
		at[i] = (uint8_t)(0xff00 >> RTE_MIN(n, UINT64_C(8)));
	return true;
}

void fwd_flow_set_ones(const struct fwd_flow_field *field, void *mask)
{
	if (is_bytes(field))
		memset((uint8_t *)mask + field->at, 0xff, field->size);
	else
		store(field, UINT64_MAX, mask);
}
