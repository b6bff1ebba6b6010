/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/block.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#define BYTE_ORDER_MAGIC 0x1a2b3c4d
#define LENGTH_UNKNOWN UINT64_MAX
#define ETHERNET 1
#define NANOSECONDS 9 /* 10^-9 s */
#define TEXT_MOST 4096u /* bytes of an option's text */

enum option {
	END = 0,
	COMMENT = 1,
	SECTION_OS = 3,
	SECTION_PROGRAM = 4,
	INTERFACE_NAME = 2,
	INTERFACE_MAC = 6,
	INTERFACE_RESOLUTION = 9,
	INTERFACE_FILTER = 11,
	STATISTICS_BEGAN = 2,
	STATISTICS_ENDED = 3,
	STATISTICS_RECEIVED = 4,
	STATISTICS_DROPPED = 5,
};

static void add(struct hauli_blocks *b, const void *bytes, size_t len)
{
	if (b->len + len > b->size) {
		size_t size = 2 * (b->len + len);
		uint8_t *more = realloc(b->bytes, size);

		b->failed |= !more;
		if (!more)
			return;
		b->bytes = more;
		b->size = size;
	}
	memcpy(b->bytes + b->len, bytes, len);
	b->len += len;
}

static void add_u32(struct hauli_blocks *b, uint32_t value)
{
	add(b, &value, sizeof(value));
}

static void add_option(struct hauli_blocks *b, enum option code, const void *value, size_t len)
{
	const uint16_t head[2] = {(uint16_t)code, (uint16_t)len};
	const uint8_t padding[3] = {0};

	add(b, head, sizeof(head));
	add(b, value, len);
	add(b, padding, -len & 3);
}

static void add_text(struct hauli_blocks *b, enum option code, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (len > 0)
		add_option(b, code, text, len < TEXT_MOST ? len : TEXT_MOST);
}

/* Statistics have times as two words, the high one first. */
static void add_time(struct hauli_blocks *b, enum option code, uint64_t ns)
{
	const uint32_t words[2] = {(uint32_t)(ns >> 32), (uint32_t)ns};

	add_option(b, code, words, sizeof(words));
}

static void begin(struct hauli_blocks *b, enum hauli_block_type type)
{
	b->begin = b->len;
	add_u32(b, type);
	add_u32(b, 0); /* the length */
}

static void end(struct hauli_blocks *b)
{
	uint32_t len;

	add_option(b, END, "", 0);
	len = (uint32_t)(b->len - b->begin + sizeof(len));
	add_u32(b, len);
	if (!b->failed)
		memcpy(b->bytes + b->begin + sizeof(uint32_t), &len, sizeof(len));
}

void hauli_block_section(struct hauli_blocks *b, const struct hauli_block_about *about)
{
	const uint16_t version[2] = {1, 0};
	const uint64_t len = LENGTH_UNKNOWN;
	char os[sizeof(struct utsname)];
	struct utsname kernel;

	begin(b, HAULI_BLOCK_SECTION);
	add_u32(b, BYTE_ORDER_MAGIC);
	add(b, version, sizeof(version));
	add(b, &len, sizeof(len));
	if (uname(&kernel) == 0) {
		snprintf(os, sizeof(os), "%s %s", kernel.sysname, kernel.release);
		add_text(b, SECTION_OS, os);
	}
	add_text(b, SECTION_PROGRAM, about->program);
	end(b);
}

void hauli_block_interface(struct hauli_blocks *b, const struct hauli_block_about *about,
	const char *name, const uint8_t mac[6])
{
	const uint16_t link[2] = {ETHERNET, 0};
	const uint8_t resolution = NANOSECONDS;
	char filter[TEXT_MOST] = {0}; /* a filter's text begins with its kind: 0, an expression */

	begin(b, HAULI_BLOCK_INTERFACE);
	add(b, link, sizeof(link));
	add_u32(b, about->snaplen);
	add_text(b, INTERFACE_NAME, name);
	add_option(b, INTERFACE_MAC, mac, 6);
	add_option(b, INTERFACE_RESOLUTION, &resolution, 1);
	if (about->filter) {
		size_t len = strnlen(about->filter, sizeof(filter) - 1);

		memcpy(filter + 1, about->filter, len);
		add_option(b, INTERFACE_FILTER, filter, 1 + len);
	}
	end(b);
}

void hauli_block_statistics(struct hauli_blocks *b, uint32_t interface, uint64_t began_ns,
	uint64_t now_ns, uint64_t captured, uint64_t dropped)
{
	const uint64_t received = captured + dropped;
	const uint32_t now[2] = {(uint32_t)(now_ns >> 32), (uint32_t)now_ns};

	begin(b, HAULI_BLOCK_STATISTICS);
	add_u32(b, interface);
	add(b, now, sizeof(now));
	add_time(b, STATISTICS_BEGAN, began_ns);
	add_time(b, STATISTICS_ENDED, now_ns);
	add_option(b, STATISTICS_RECEIVED, &received, sizeof(received));
	add_option(b, STATISTICS_DROPPED, &dropped, sizeof(dropped));
	end(b);
}
