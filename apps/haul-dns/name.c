/* SPDX-License-Identifier: BSD-3-Clause */
#include "name.h"

#include <errno.h>
#include <stdio.h>

/* A label has at least two bytes, the last one has one. */
enum { LABELS_MAX = 127 };

/* A place in a name that may be compressed. */
struct cursor {
	const uint8_t *msg;
	size_t n, at;
	size_t limit; /* pointers lead to before this */
	size_t end; /* behind the name; 0: not known yet */
	unsigned pointers;
};

/* Follows pointers to the next label. Returns its length, or -EBADMSG. */
static int next_label(struct cursor *c)
{
	for (;;) {
		size_t to;
		uint8_t length;

		if (c->at >= c->n)
			return -EBADMSG;
		length = c->msg[c->at];
		if (length <= DNS_LABEL_MAX) {
			if (c->at + 1 + length > c->n)
				return -EBADMSG;
			if (length == 0 && c->end == 0)
				c->end = c->at + 1;
			return length;
		}
		if (length < 0xc0 || c->at + 2 > c->n)
			return -EBADMSG;
		to = dns_get16(c->msg + c->at) & 0x3fff;
		if (to >= c->limit || to < DNS_HEADER || ++c->pointers > LABELS_MAX)
			return -EBADMSG;
		if (c->end == 0)
			c->end = c->at + 2;
		c->at = c->limit = to;
	}
}

int dns_name_read(const uint8_t *msg, size_t n, size_t at, uint8_t name[DNS_NAME_MAX], size_t *end)
{
	struct cursor c = {.msg = msg, .n = n, .at = at, .limit = at};
	int length, done = 0;

	while ((length = next_label(&c)) > 0) {
		/* The last label must have room, too. */
		if (done + 1 + length + 1 > DNS_NAME_MAX)
			return -EBADMSG;
		memcpy(name + done, msg + c.at, (size_t)length + 1);
		done += 1 + length;
		c.at += 1 + (size_t)length;
	}
	if (length < 0)
		return length;
	name[done] = 0;
	*end = c.end;
	return done + 1;
}

int dns_name_skip(const uint8_t *msg, size_t n, size_t at)
{
	size_t begin = at;

	while (at < n && at - begin < DNS_NAME_MAX) {
		uint8_t length = msg[at];

		if (length == 0)
			return (int)at + 1;
		if (length > DNS_LABEL_MAX) {
			if (length < 0xc0 || at + 2 > n)
				return -EBADMSG;
			return (dns_get16(msg + at) & 0x3fffu) < begin ? (int)at + 2 : -EBADMSG;
		}
		at += 1u + length;
	}
	return -EBADMSG;
}

bool dns_name_is(const uint8_t *msg, size_t n, size_t at, const uint8_t *name, size_t length)
{
	struct cursor c = {.msg = msg, .n = n, .at = at, .limit = at};
	size_t done = 0;
	int label;

	while ((label = next_label(&c)) >= 0) {
		if (done + 1 + (size_t)label > length)
			return false;
		for (int i = 0; i <= label; i++)
			if (dns_fold(msg[c.at + (size_t)i]) != name[done + (size_t)i])
				return false;
		done += 1 + (size_t)label;
		c.at += 1 + (size_t)label;
		if (label == 0)
			return done == length;
	}
	return false;
}

int dns_name_length(const uint8_t *name, size_t n)
{
	size_t at = 0;

	while (at < n && name[at] <= DNS_LABEL_MAX) {
		if (name[at] == 0)
			return (int)at + 1;
		at += 1u + name[at];
		if (at >= DNS_NAME_MAX)
			break;
	}
	return -EBADMSG;
}

void dns_name_fold(uint8_t *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		name[i] = dns_fold(name[i]);
}

bool dns_name_is_below(const uint8_t *name, size_t length, const uint8_t *zone, size_t zone_length)
{
	size_t at = 0;

	/* The zone's name must begin where a label does. */
	while (length - at > zone_length)
		at += 1u + name[at];
	return length - at == zone_length && memcmp(name + at, zone, zone_length) == 0;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '-' || c == '_';
}

int dns_name_parse(const char *text, size_t n, uint8_t name[DNS_NAME_MAX])
{
	size_t label = 0, at = 1;

	if (n > 0 && text[n - 1] == '.')
		n--;
	if (n == 0 || n > DNS_NAME_MAX - 2)
		return -EINVAL;
	for (size_t i = 0; i <= n; i++) {
		if (i < n && text[i] != '.') {
			if (!is_plain(text[i]))
				return -EINVAL;
			name[at++] = (uint8_t)text[i];
			continue;
		}
		if (at - label - 1 == 0 || at - label - 1 > DNS_LABEL_MAX)
			return -EINVAL;
		name[label] = (uint8_t)(at - label - 1);
		label = at++;
	}
	name[label] = 0;
	return (int)label + 1;
}

char *dns_name_text(const uint8_t *name, char text[DNS_NAME_TEXT])
{
	char *to = text;

	if (*name == 0)
		*to++ = '.';
	for (; *name; name += 1 + *name) {
		for (unsigned i = 1; i <= *name; i++) {
			if (is_plain((char)name[i]))
				*to++ = (char)name[i];
			else
				to += sprintf(to, "\\%03u", name[i]);
		}
		*to++ = '.';
	}
	*to = '\0';
	return text;
}
