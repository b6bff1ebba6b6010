/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>

#include "linux/iface.h"
#include "port/kind.h"
#include "port/kinds/table.h"

/* "tap: afxdp: ..." */
static void list_kinds(char *list, size_t size)
{
	size_t len = 0;

	list[0] = '\0';
	for (const struct hauli_kind *const *k = hauli_kinds; *k && len < size; k++)
		len += (size_t)snprintf(
			list + len, size - len, "%s%s:", len > 0 ? " " : "", (*k)->name);
}

/* "size, copy and no-rx" */
static void list_keys(const struct hauli_key *keys, char *list, size_t size)
{
	size_t len = 0;

	snprintf(list, size, "none");
	for (const struct hauli_key *k = keys; k->name && len < size; k++) {
		const char *sep = k == keys ? "" : k[1].name ? ", " : " and ";

		len += (size_t)snprintf(list + len, size - len, "%s%s", sep, k->name);
	}
}

static const struct hauli_key *find_key(const struct hauli_kind *kind, const char *name)
{
	for (const struct hauli_key *k = kind->keys; k && k->name; k++) {
		if (strcmp(k->name, name) == 0)
			return k;
	}
	return NULL;
}

static int check_value(const struct hauli_spec *spec, const struct hauli_key *key, const char *name,
	const char *value, char *errbuf, size_t errlen)
{
	struct rte_ether_addr mac;
	unsigned long n;
	char *end;

	if (value[0] == '\0')
		return hauli_spec_fail(
			spec, -EINVAL, errbuf, errlen, "%s= has no value; give it one", name);
	if (!key)
		return 0;
	if (key->type == HAULI_VALUE_FLAG && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
		return hauli_spec_fail(
			spec, -EINVAL, errbuf, errlen, "%s=%s is neither 0 nor 1", name, value);
	if (key->type == HAULI_VALUE_MAC && rte_ether_unformat_addr(value, &mac) < 0)
		return hauli_spec_fail(spec, -EINVAL, errbuf, errlen,
			"%s=%s is no address like 02:00:00:00:00:01", name, value);
	if (key->type != HAULI_VALUE_NUMBER)
		return 0;
	errno = 0;
	n = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end || errno || n < key->min || n > key->max)
		return hauli_spec_fail(spec, -EINVAL, errbuf, errlen,
			"%s=%s is no number from %lu to %lu", name, value, key->min, key->max);
	if (key->step && n % key->step)
		return hauli_spec_fail(spec, -EINVAL, errbuf, errlen,
			"%s=%s is no multiple of %lu; give one from %lu to %lu", name, value,
			key->step, key->min, key->max);
	return 0;
}

static int add_key(
	struct hauli_spec *spec, const char *name, const char *value, char *errbuf, size_t errlen)
{
	const struct hauli_kind *kind = spec->kind;
	const struct hauli_key *key = find_key(kind, name);
	char list[128];

	if (!key && kind->keys) {
		list_keys(kind->keys, list, sizeof(list));
		return hauli_spec_fail(spec, -EINVAL, errbuf, errlen, "no option %s; %s takes %s",
			name, kind->form, list);
	}
	if (hauli_spec_get(spec, name))
		return hauli_spec_fail(
			spec, -EINVAL, errbuf, errlen, "%s is given twice; once is enough", name);
	if (spec->nb == HAULI_SPEC_KEYS)
		return hauli_spec_fail(
			spec, -EINVAL, errbuf, errlen, "more than %d options", HAULI_SPEC_KEYS);
	spec->keys[spec->nb].key = key;
	spec->keys[spec->nb].name = name;
	spec->keys[spec->nb].value = value;
	spec->nb++;
	return check_value(spec, key, name, value, errbuf, errlen);
}

/* Parses the parts after "KIND:", which are in rest, separated by commas. */
static int parse_parts(struct hauli_spec *spec, char *rest, char *errbuf, size_t errlen)
{
	const struct hauli_kind *kind = spec->kind;
	bool first = true;
	int err = 0;

	while (rest && err == 0) {
		char *part = strsep(&rest, ",");
		char *equals = strchr(part, '=');

		if (first && !equals) {
			spec->main = part;
		} else if (equals) {
			*equals = '\0';
			err = add_key(spec, part, equals + 1, errbuf, errlen);
		} else {
			err = hauli_spec_fail(spec, -EINVAL, errbuf, errlen,
				"'%s' is no option like key=value; the form is %s", part,
				kind->form);
		}
		first = false;
	}
	return err;
}

static int check_main(const struct hauli_spec *spec, char *errbuf, size_t errlen)
{
	const struct hauli_kind *kind = spec->kind;

	if (kind->main == HAULI_MAIN_NONE && spec->main[0])
		return hauli_spec_fail(spec, -EINVAL, errbuf, errlen,
			"'%s' is no option like key=value; the form is %s", spec->main, kind->form);
	if (kind->main >= HAULI_MAIN_NEEDED && !spec->main[0])
		return hauli_spec_fail(spec, -EINVAL, errbuf, errlen,
			"nothing after '%s:'; the form is %s", kind->name, kind->form);
	if (kind->main == HAULI_MAIN_INTERFACE && !hauli_iface_is_name(spec->main))
		return hauli_spec_fail(spec, -EINVAL, errbuf, errlen,
			"'%s' is no interface name; they have at most %d characters and no "
			"slash, colon, percent sign or space",
			spec->main, IFNAMSIZ - 1);
	return 0;
}

static bool is_raw(const char *text)
{
	size_t word = strspn(text,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_");

	return (strncmp(text, "net_", 4) == 0 || strncmp(text, "eth_", 4) == 0) &&
		(text[word] == '\0' || text[word] == ',');
}

/* Replaces a secret's first characters by stars, and removes the others. */
static void hide_secrets(char *text)
{
	static const char stars[] = "***", key[] = "secret=";
	char *at = text;

	while ((at = strstr(at, key)) != NULL) {
		bool whole = at > text && strchr(":,", at[-1]);
		char *value = at + strlen(key);
		size_t len = strcspn(value, ",");
		size_t n = RTE_MIN(len, strlen(stars));

		at = value;
		if (!whole)
			continue;
		memcpy(value, stars, n);
		memmove(value + n, value + len, strlen(value + len) + 1);
	}
}

int hauli_spec_parse(struct hauli_spec *spec, const char *text, char *errbuf, size_t errlen)
{
	const char *colon = strchr(text, ':');
	char kinds[128];
	int err;

	memset(spec, 0, sizeof(*spec));
	spec->main = "";
	snprintf(spec->text, sizeof(spec->text), "%s", text);
	hide_secrets(spec->text);
	if (strlen(text) >= sizeof(spec->text))
		return hauli_spec_fail(spec, -EINVAL, errbuf, errlen, "longer than %zu characters",
			sizeof(spec->text) - 1);
	if (is_raw(text)) {
		spec->kind = &hauli_kind_raw;
		strcpy(spec->parts, text);
		return 0;
	}
	if (colon)
		spec->kind = hauli_kind_find(text, (size_t)(colon - text));
	if (!spec->kind) {
		list_kinds(kinds, sizeof(kinds));
		return hauli_spec_fail(spec, -EINVAL, errbuf, errlen,
			"no such kind of port; there are %s and DPDK's own, net_NAME0,key=value",
			kinds);
	}
	strcpy(spec->parts, colon + 1);
	err = parse_parts(spec, spec->parts, errbuf, errlen);
	return err < 0 ? err : check_main(spec, errbuf, errlen);
}

int haul_port_spec_check(const char *text, char *errbuf, size_t errlen)
{
	struct hauli_spec spec;

	return hauli_spec_parse(&spec, text, errbuf, errlen);
}
