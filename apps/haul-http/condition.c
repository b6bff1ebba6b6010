/* SPDX-License-Identifier: BSD-3-Clause */
#include "condition.h"

#include "date.h"

/* Takes the next tag of a list, with its quotes. False: the list ends, or is wrong. */
static bool next_tag(struct http_str *list, struct http_str *tag, bool *is_weak)
{
	const char *quote;

	while (list->n > 0 && (list->at[0] == ',' || list->at[0] == ' ' || list->at[0] == '\t'))
		*list = http_skip(*list, 1);
	*is_weak = list->n >= 2 && memcmp(list->at, "W/", 2) == 0;
	if (*is_weak)
		*list = http_skip(*list, 2);
	if (list->n < 2 || list->at[0] != '"')
		return false;
	quote = memchr(list->at + 1, '"', list->n - 1);
	if (!quote)
		return false;
	*tag = (struct http_str){list->at, (size_t)(quote - list->at) + 1};
	*list = http_skip(*list, tag->n);
	return true;
}

static bool is_same(struct http_str a, struct http_str b)
{
	return a.n == b.n && memcmp(a.at, b.at, a.n) == 0;
}

/* takes_weak: also if the tag says that the version is only equivalent. */
static bool has_tag(struct http_str list, struct http_str etag, bool takes_weak)
{
	struct http_str tag;
	bool is_weak;

	if (list.n == 1 && list.at[0] == '*')
		return true;
	while (next_tag(&list, &tag, &is_weak))
		if (is_same(tag, etag) && (takes_weak || !is_weak))
			return true;
	return false;
}

/* Looks at all fields of the name. Returns 1 if one has the tag, 0 if none has, -1 without any. */
static int tags_of(
	const struct http_head *h, const char *name, struct http_str etag, bool takes_weak)
{
	int found = -1;

	for (unsigned i = 0; i < h->nb_fields && found <= 0; i++)
		if (http_is_text(http_field_name(h, i), name))
			found = has_tag(http_field_value(h, i), etag, takes_weak);
	return found;
}

/* False, too, if there is no such field, or several: what is no date is ignored. */
static bool date_of(const struct http_head *h, const char *name, int64_t now, int64_t *seconds)
{
	struct http_str value;

	return http_find(h, name, &value) == 1 && http_date_parse(value, now, seconds);
}

/* In the order of RFC 9110, 13.2.2: a date counts only where there is no tag. */
int http_condition(const struct http_head *h, const struct http_version *version, int64_t now)
{
	int tags = tags_of(h, "If-Match", version->etag, false);
	int64_t date;

	if (tags == 0)
		return 412;
	if (tags < 0 && date_of(h, "If-Unmodified-Since", now, &date) && version->modified > date)
		return 412;
	tags = tags_of(h, "If-None-Match", version->etag, true);
	if (tags > 0)
		return 304;
	if (tags < 0 && date_of(h, "If-Modified-Since", now, &date) && version->modified <= date)
		return 304;
	return 200;
}

/* RFC 9110, 13.1.5: exactly this version. A file changed within this second may change again. */
static bool is_this(struct http_str value, const struct http_version *version, int64_t now)
{
	int64_t date;

	if (value.n > 0 && value.at[0] == '"')
		return is_same(value, version->etag);
	return http_date_parse(value, now, &date) && date == version->modified && date < now;
}

struct http_str http_range_wanted(
	const struct http_head *h, const struct http_version *version, int64_t now)
{
	struct http_str range, value;
	unsigned n;

	/* Ranges are of GET only: RFC 9110, 14.2. */
	if (h->method != HTTP_GET || http_find(h, "Range", &range) != 1)
		return HTTP_STR("");
	n = http_find(h, "If-Range", &value);
	return n == 0 || (n == 1 && is_this(value, version, now)) ? range : HTTP_STR("");
}
