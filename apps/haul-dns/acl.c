/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two prefixes are either apart, or one is inside the other. Sorted by their first address, IPv4
 * before IPv6, and the longer one last, those that have an address are the last one that begins at
 * or before it, or around that one; so each keeps the one around it.
 */
#include "acl.h"

#include <errno.h>
#include <stdlib.h>

enum { RULES_MAX = 65535 };

struct rule {
	struct dns_prefix prefix;
	bool allows;
	uint16_t around; /* 1 more than its index; 0: none */
	uint32_t at; /* in the text */
};

struct dns_acl {
	unsigned n;
	struct rule rules[];
};

static bool is_separator(char c)
{
	return c == ' ' || c == '\t' || c == ',' || c == '\n' || c == '\r';
}

/* The next word from *at on. Returns its length, 0 at the end. */
static size_t next_word(const char *text, size_t n, size_t *at)
{
	size_t length = 0;

	while (*at < n && (is_separator(text[*at]) || text[*at] == '#')) {
		if (text[(*at)++] == '#')
			while (*at < n && text[*at] != '\n')
				(*at)++;
	}
	while (*at + length < n && !is_separator(text[*at + length]) && text[*at + length] != '#')
		length++;
	return length;
}

static int compare(const void *a, const void *b)
{
	const struct rule *p = a, *q = b;
	int differ = memcmp(&p->prefix.address, &q->prefix.address, sizeof(p->prefix.address));

	return differ ? differ : p->prefix.length - q->prefix.length;
}

static bool covers(const struct dns_prefix *p, const struct haul_addr *address)
{
	struct haul_addr masked = *address;

	dns_address_mask(&masked, p->length);
	return haul_addr_equal(&masked, &p->address);
}

/* Returns 0, or -EINVAL if a prefix is there twice. */
static int nest(struct dns_acl *acl, size_t *wrong)
{
	for (unsigned i = 1; i < acl->n; i++) {
		struct rule *r = &acl->rules[i];
		unsigned around = i; /* its predecessor, first */

		if (compare(r, r - 1) == 0) {
			*wrong = r->at > r[-1].at ? r->at : r[-1].at;
			return -EINVAL;
		}
		while (around > 0 && !covers(&acl->rules[around - 1].prefix, &r->prefix.address))
			around = acl->rules[around - 1].around;
		r->around = (uint16_t)around;
	}
	return 0;
}

static int parse(struct dns_acl *acl, const char *text, size_t n, size_t *wrong)
{
	size_t at = 0, length;

	for (; (length = next_word(text, n, &at)) > 0; at += length) {
		struct rule *r = &acl->rules[acl->n];
		bool denies = text[at] == '!';

		*wrong = at;
		if (acl->n == RULES_MAX)
			return -E2BIG;
		*r = (struct rule){.allows = !denies, .at = (uint32_t)at};
		if (dns_prefix_parse(&r->prefix, text + at + denies, length - denies) < 0)
			return -EINVAL;
		acl->n++;
	}
	qsort(acl->rules, acl->n, sizeof(acl->rules[0]), compare);
	return nest(acl, wrong);
}

int dns_acl_parse(struct dns_acl **acl, const char *text, size_t n, size_t *wrong)
{
	size_t words = 0, at = 0, length;
	struct dns_acl *made;
	int rc;

	for (; (length = next_word(text, n, &at)) > 0; at += length)
		words++;
	/* One more than may be: parse() looks at it before it refuses. */
	if (words > RULES_MAX)
		words = RULES_MAX + 1;
	made = calloc(1, sizeof(*made) + words * sizeof(made->rules[0]));
	if (!made)
		return -ENOMEM;
	rc = parse(made, text, n, wrong);
	if (rc < 0)
		dns_acl_free(made);
	else
		*acl = made;
	return rc;
}

void dns_acl_free(struct dns_acl *acl)
{
	free(acl);
}

bool dns_acl_allows(const struct dns_acl *acl, const struct haul_addr *address)
{
	unsigned low = 0, high = acl->n;

	/* rules[low - 1] is the last one that begins at or before the address. */
	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (memcmp(&acl->rules[middle].prefix.address, address, sizeof(*address)) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > 0 && !covers(&acl->rules[low - 1].prefix, address))
		low = acl->rules[low - 1].around;
	return low > 0 && acl->rules[low - 1].allows;
}
