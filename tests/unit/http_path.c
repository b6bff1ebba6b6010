/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-http: names of files from paths, which never lead out of the root. */
#include "../../apps/haul-http/path.h"

#include "http_bed.h"
#include "support/stress.h"
#include "support/suite.h"

enum { NAME_MAX_TESTED = 4096 };

static ssize_t decode(const char *path, char *name, size_t max)
{
	size_t n = strlen(path);

	return http_path_decode((struct http_str){bed_copy(path, n), n}, name, max);
}

static const struct {
	const char *path, *name;
	int error;
} rows[] = {
	{"/", ""},
	{"", ""},
	{"//", ""},
	{"/.", ""},
	{"/a", "a"},
	{"/a/", "a/"},
	{"/a//b///c", "a/b/c"},
	{"/a/./b/.", "a/b/"},
	{"/a/../b", "b"},
	{"/a/b/..", "a/"},
	{"/a/b/../", "a/"},
	{"/a/b/../../", ""},
	{"/a/b/c/../../d", "a/d"},
	{"/a/..", ""},
	{"/%61%2Fb", NULL, -404},
	{"/%61%2fb", NULL, -404},
	{"/a%20b", "a b"},
	{"/%c3%a4", "\xc3\xa4"},
	{"/%25", "%"},
	{"/%252e%252e/", "%2e%2e/"},
	{"/%0a", "\n"},
	{"/a\\..\\b", "a\\..\\b"},
	{"/..", NULL, -400},
	{"/../", NULL, -400},
	{"/../a", NULL, -400},
	{"/a/../..", NULL, -400},
	{"/%2e%2e", NULL, -400},
	{"/%2e./a", NULL, -400},
	{"/.%2E/a", NULL, -400},
	{"/a/%2E%2e/%2e%2e/a", NULL, -400},
	{"//..", NULL, -400},
	{"/%00", NULL, -400},
	{"/a%00.html", NULL, -400},
	{"/%", NULL, -400},
	{"/%2", NULL, -400},
	{"/%g0", NULL, -400},
	{"/.git/config", NULL, -404},
	{"/a/.htaccess", NULL, -404},
	{"/%2egit", NULL, -404},
	{"/...", NULL, -404},
	{"/.well-known/acme", ".well-known/acme"},
	{"/a/.well-known", NULL, -404},
	{"/.well-known2", NULL, -404},
	{"/a.b/c..", "a.b/c.."},
};

START_TEST(paths_become_names)
{
	char name[64];

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ssize_t rc = decode(rows[i].path, name, sizeof(name));

		if (rows[i].error)
			ck_assert_msg(rc == rows[i].error, "%s: %zd", rows[i].path, rc);
		else
			ck_assert_msg(rc == (ssize_t)strlen(rows[i].name) &&
					strcmp(name, rows[i].name) == 0,
				"%s: %zd, %s", rows[i].path, rc, name);
	}
}
END_TEST

START_TEST(names_fit)
{
	char name[8];

	ck_assert_int_eq(decode("/abcdefg", name, 8), 7);
	ck_assert_int_eq(decode("/abcdefgh", name, 8), -414);
	ck_assert_int_eq(decode("/abcdef/", name, 8), 7);
	ck_assert_int_eq(decode("/abcdefg/", name, 8), -414);
	ck_assert_int_eq(decode("/", name, 2), 0);
	ck_assert_int_eq(decode("", name, 0), -414);
}
END_TEST

/* No segment of the name is empty, "." or "..". */
static void check_name(const char *name, size_t n)
{
	ASSERT_EACH(strlen(name) == n && name[0] != '/');
	for (const char *s = name; *s;) {
		size_t length = strcspn(s, "/");

		ASSERT_EACH(length > 0);
		ASSERT_EACH(!(length == 1 && s[0] == '.'));
		ASSERT_EACH(!(length == 2 && s[0] == '.' && s[1] == '.'));
		s += length + (s[length] == '/');
	}
}

/* What a shell would do: a depth that falls below 0 leads out. */
static bool leads_out(const char *path)
{
	int depth = 0;

	for (const char *s = path; *s; s += strcspn(s, "/"), s += *s == '/') {
		size_t n = strcspn(s, "/");

		if (n == 2 && s[0] == '.' && s[1] == '.') {
			if (--depth < 0)
				return true;
		} else if (n > 0 && !(n == 1 && s[0] == '.')) {
			depth++;
		}
	}
	return false;
}

START_TEST(random_paths_stay_below_the_root)
{
	static const char *const parts[] = {
		"/", "/", "..", ".", "a", "b.c", "%2e", "%2E", "%62", "/../", "%2f", "%00", "/a/"};
	static const char *const plain[] = {
		"/", "/", "..", ".", "a", "b.c", ".", ".", "b", "/../", NULL, NULL, "/a/"};
	uint64_t deadline = stress_deadline();
	struct hauli_random r;
	unsigned taken = 0, refused = 0;

	hauli_random_init(&r, stress_seed());
	do {
		char path[512] = "/", same[512] = "/", name[NAME_MAX_TESTED];
		bool is_plain = true;
		ssize_t rc;

		for (unsigned n = hauli_random_below(&r, 20); n > 0; n--) {
			unsigned i = hauli_random_below(&r, sizeof(parts) / sizeof(parts[0]));

			if (!plain[i] && hauli_random_below(&r, 4) > 0)
				continue;
			strcat(path, parts[i]);
			strcat(same, plain[i] ? plain[i] : "");
			is_plain &= plain[i] != NULL;
		}
		rc = decode(path, name, sizeof(name));
		if (rc >= 0) {
			ASSERT_EACH(is_plain && !leads_out(same));
			check_name(name, (size_t)rc);
			taken++;
		} else {
			/* The first error counts: hidden names are one, too. */
			ASSERT_EACH(rc == -400 || rc == -404);
			ASSERT_EACH(rc == -404 || !is_plain || leads_out(same));
			refused++;
		}
	} while (haul_now() < deadline);
	ck_assert(taken > 0 && refused > 0);
}
END_TEST

SUITE_MAIN("http_path", {paths_become_names}, {names_fit}, {random_paths_stay_below_the_root})
