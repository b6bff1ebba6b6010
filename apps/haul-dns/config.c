/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reload replaces: who may ask, local names, servers; from the command line and files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <haul-app/file.h>

#include "options.h"

enum { FILE_MAX = 64 << 20 }; /* bytes */

/* The mark of UTF-8 that some editors put in front. */
static void skip_mark(char *text, size_t *n)
{
	static const char mark[] = "\xef\xbb\xbf";
	const size_t length = sizeof(mark) - 1;

	if (*n < length || memcmp(text, mark, length) != 0)
		return;
	*n -= length;
	memmove(text, text + length, *n);
}

/* The whole of a file. Returns an exit code. */
static int read_file(
	const struct haul_app *app, const char *option, const char *path, char **text, size_t *n)
{
	struct haul_app_input in;
	size_t room = 0, got = 1;
	char line[256];
	int err;

	*text = NULL;
	*n = 0;
	err = haul_app_input_open(&in, path, FILE_MAX, line, sizeof(line));
	while (!err && got > 0) {
		if (*n == room) {
			char *more;

			room = room > 0 ? 2 * room : 65536;
			more = realloc(*text, room);
			err = more ? 0 : -ENOMEM;
			*text = more ? more : *text;
		}
		got = err ? 0 : fread(*text + *n, 1, room - *n, in.file);
		*n += got;
	}
	if (in.file || !err) {
		int rc = haul_app_input_close(&in, line, sizeof(line));

		err = err ? err : rc;
	}
	if (!err) {
		skip_mark(*text, n);
		return HAUL_APP_DONE;
	}
	haul_app_say(app->program, "%s %s: %s", option, path,
		err == -ENOMEM ? "not enough memory" : line);
	free(*text);
	*text = NULL;
	return HAUL_APP_FAILED;
}

/* What is wrong in a text. */
struct fault {
	int err;
	const char *at; /* if it is not the memory */
	size_t n; /* bytes that are shown */
	const char *problem;
};

enum { SHOWN_MAX = 60 };

/* path: NULL if the text is the option's own. */
static int fail(const struct haul_app *app, const char *option, const char *path, const char *text,
	const struct fault *f)
{
	int n = (int)(f->n < SHOWN_MAX ? f->n : SHOWN_MAX);
	size_t line = 1;

	if (f->err == -ENOMEM) {
		haul_app_say(app->program, "%s %s: not enough memory", option, path ? path : "");
		return HAUL_APP_FAILED;
	}
	if (!path)
		return haul_app_wrong(app->program, "%s: '%.*s': %s", option, n, f->at, f->problem);
	for (const char *c = text; c < f->at; c++)
		line += *c == '\n';
	haul_app_say(app->program, "%s %s, line %zu: '%.*s': %s", option, path, line, n, f->at,
		f->problem);
	return HAUL_APP_FAILED;
}

static size_t length_until(const char *text, const char *end, const char *stops)
{
	size_t n = 0;

	while (text + n < end && !strchr(stops, text[n]))
		n++;
	return n;
}

static const char *line_of(const char *text, const char *end, unsigned number)
{
	for (const char *lf; number > 1 && (lf = memchr(text, '\n', (size_t)(end - text)));
		number--)
		text = lf + 1;
	return text;
}

static int read_acl(const struct haul_app *app, struct dns_config *config)
{
	const char *path = dns_options.acl_file, *text = dns_options.allow;
	size_t n = strlen(text), wrong = 0;
	char *read = NULL;
	int rc;

	if (path) {
		rc = read_file(app, "--acl", path, &read, &n);
		if (rc != HAUL_APP_DONE)
			return rc;
		text = read;
	}
	rc = dns_acl_parse(&config->acl, text, n, &wrong);
	if (rc < 0) {
		const struct fault f = {.err = rc,
			.at = text + wrong,
			.n = length_until(text + wrong, text + n, " \t\r\n,#"),
			.problem = rc == -E2BIG
				? "more than 65,535 networks"
				: "no network, such as 10.0.0.0/8 or fd00::/8, or there twice"};

		rc = fail(app, path ? "--acl" : "--allow", path, text, &f);
	}
	free(read);
	return rc;
}

static int read_hosts(
	const struct haul_app *app, const struct dns_secret *secret, struct dns_config *config)
{
	const char *path = dns_options.hosts_file;
	unsigned wrong = 0;
	char *text;
	size_t n;
	int rc;

	if (!path)
		return HAUL_APP_DONE;
	rc = read_file(app, "--hosts", path, &text, &n);
	if (rc != HAUL_APP_DONE)
		return rc;
	rc = dns_hosts_parse(&config->hosts, text, n, secret, &wrong);
	if (rc < 0) {
		const char *at = line_of(text, text + n, wrong);
		const struct fault f = {.err = rc,
			.at = at,
			.n = length_until(at, text + n, "\r\n"),
			.problem = "no address and its names, such as 10.0.0.1 a.example"};

		rc = fail(app, "--hosts", path, text, &f);
	}
	free(text);
	return rc;
}

struct list {
	struct dns_endpoint addrs[DNS_UPSTREAMS_MAX];
	unsigned n;
};

/* file: what the word of n bytes at `at` stands in; NULL: it is an option's. */
static int add(
	const struct haul_app *app, struct list *list, const char *file, const char *at, size_t n)
{
	const struct fault f = {.err = -EINVAL,
		.at = at,
		.n = n,
		.problem = "not the address of a server, such as 10.0.0.1, 10.0.0.1:5353 or "
			   "[fd00::1]:5353"};

	if (list->n == DNS_UPSTREAMS_MAX) {
		haul_app_say(app->program, "more than %u servers are given", DNS_UPSTREAMS_MAX);
		return HAUL_APP_FAILED;
	}
	if (dns_endpoint_parse(&list->addrs[list->n], at, n) == 0) {
		list->n++;
		return HAUL_APP_DONE;
	}
	return file ? fail(app, "--upstreams", dns_options.upstreams_file, file, &f)
		    : fail(app, "--upstream", NULL, NULL, &f);
}

/* The addresses of lines "nameserver ADDR"; others mean other things. */
static int add_lines(const struct haul_app *app, struct list *list, const char *text, size_t n)
{
	static const char word[] = "nameserver";
	const char *const file = text, *end = text + n;
	int rc = HAUL_APP_DONE;

	while (text < end && rc == HAUL_APP_DONE) {
		const char *lf = memchr(text, '\n', (size_t)(end - text));
		const char *next = lf ? lf + 1 : end, *stop = lf ? lf : end;

		if ((size_t)(stop - text) > sizeof(word) &&
			memcmp(text, word, sizeof(word) - 1) == 0 &&
			(text[sizeof(word) - 1] == ' ' || text[sizeof(word) - 1] == '\t')) {
			size_t length = 0;

			for (text += sizeof(word); text < stop && (*text == ' ' || *text == '\t');)
				text++;
			while (text + length < stop && !strchr(" \t\r#;", text[length]))
				length++;
			rc = add(app, list, file, text, length);
		}
		text = next;
	}
	return rc;
}

static int read_upstreams(const struct haul_app *app, const struct dns_upstream_opts *opts,
	struct dns_upstreams *previous, struct dns_config *config)
{
	const char *path = dns_options.upstreams_file;
	struct list list = {.n = 0};
	int rc = HAUL_APP_DONE;

	for (unsigned i = 0; i < dns_options.upstreams.n && rc == HAUL_APP_DONE; i++)
		rc = add(app, &list, NULL, dns_options.upstreams.items[i],
			strlen(dns_options.upstreams.items[i]));
	if (rc == HAUL_APP_DONE && path) {
		char *text;
		size_t n;

		rc = read_file(app, "--upstreams", path, &text, &n);
		if (rc != HAUL_APP_DONE)
			return rc;
		rc = add_lines(app, &list, text, n);
		free(text);
	}
	if (rc == HAUL_APP_DONE && list.n == 0)
		rc = haul_app_wrong(app->program,
			"no server to ask: use --upstream, for example --upstream 10.0.0.1");
	if (rc != HAUL_APP_DONE)
		return rc;
	config->upstreams = dns_upstreams_create(list.addrs, list.n, opts, previous);
	if (config->upstreams)
		return HAUL_APP_DONE;
	haul_app_say(app->program, "not enough memory");
	return HAUL_APP_FAILED;
}

int dns_config_read(const struct haul_app *app, struct haul_host *host,
	const struct dns_service *service, struct dns_config **config)
{
	const struct dns_upstream_opts opts = {.host = host,
		.secret = &service->cookies,
		.stale = (uint32_t)(dns_options.stale / HAUL_S)};
	const struct dns_config *now = hauli_ptr_published_get(&service->config);
	struct dns_config *c = calloc(1, sizeof(*c));
	int rc;

	if (!c) {
		haul_app_say(app->program, "not enough memory");
		return HAUL_APP_FAILED;
	}
	rc = read_upstreams(app, &opts, now ? now->upstreams : NULL, c);
	if (rc == HAUL_APP_DONE)
		rc = read_acl(app, c);
	if (rc == HAUL_APP_DONE)
		rc = read_hosts(app, &service->hash, c);
	if (rc == HAUL_APP_DONE)
		*config = c;
	else
		dns_config_free(c);
	return rc;
}

void dns_config_free(struct dns_config *c)
{
	if (!c)
		return;
	dns_acl_free(c->acl);
	dns_hosts_free(c->hosts);
	dns_upstreams_release(c->upstreams);
	free(c);
}
