/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-http: random messages, several on a connection, are printed and parsed back, however they
 * are split; and the same with bytes changed at random, for which only the splits must not matter.
 * HAUL_STRESS_SEED replays, HAUL_STRESS_SECONDS is for longer runs.
 */
#include <ctype.h>

#include "http_bed.h"
#include "support/http_walk.h"
#include "support/stress.h"
#include "support/suite.h"

#define TRIES 500 /* at least, so that each kind of end comes up on a slow machine, too */

enum { MESSAGES_MAX = 5, FIELDS_MAX = 6, TEXT_MAX = 40, STREAM_MAX = 1 << 16 };

struct message {
	char method[8], target[3 * TEXT_MAX], path[TEXT_MAX], query[TEXT_MAX], host[TEXT_MAX];
	char names[FIELDS_MAX][TEXT_MAX], values[FIELDS_MAX][TEXT_MAX];
	char content[TEXT_MAX];
	unsigned status, nb_fields, nb_content;
	enum http_framing framing;
	bool keep;
};

struct bed {
	struct hauli_random random;
	struct message messages[MESSAGES_MAX];
	unsigned nb_messages;
	bool responses;
	unsigned piece_max;
	char stream[STREAM_MAX];
	size_t n;
};

static unsigned below(struct bed *b, unsigned n)
{
	return hauli_random_below(&b->random, n);
}

static const char *one_of(struct bed *b, const char *const *texts, unsigned n)
{
	return texts[below(b, n)];
}

#define ONE_OF(b, ...)                                \
	one_of(b, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void random_text(struct bed *b, char *text, enum http_class class, unsigned min)
{
	unsigned n = min + below(b, TEXT_MAX - min - 1);

	for (unsigned i = 0; i < n; i++)
		do
			text[i] = (char)below(b, 256);
		while (!http_is(text[i], class));
	text[n] = '\0';
}

static void random_letters(
	struct bed *b, char *text, const char *letters, unsigned min, unsigned max)
{
	unsigned n = min + below(b, max - min + 1);

	for (unsigned i = 0; i < n; i++)
		text[i] = letters[below(b, (unsigned)strlen(letters))];
	text[n] = '\0';
}

static void random_path(struct bed *b, char *path)
{
	unsigned n = 1;

	path[0] = '/';
	while (n < TEXT_MAX - 4 && below(b, 10) > 0) {
		if (below(b, 8) == 0) {
			n += (unsigned)sprintf(path + n, "%%%02x", below(b, 256));
			continue;
		}
		do
			path[n] = (char)below(b, 128);
		while (!http_is(path[n], HTTP_PATH));
		n++;
	}
	path[n] = '\0';
}

static void random_target(struct bed *b, struct message *m)
{
	const char *scheme = below(b, 4) ? "" : ONE_OF(b, "http://", "HTTP://");
	bool has_query = below(b, 2);
	char target[sizeof(m->target)];

	strcpy(m->host, ONE_OF(b, "h", "example.org:80", "[2001:db8::1]:1", "1.2.3.4", "a_b-c.d:"));
	if (strcmp(m->method, "OPTIONS") == 0 && below(b, 2)) {
		strcpy(m->path, "*");
		strcpy(m->target, "*");
		return;
	}
	random_path(b, m->path);
	if (has_query)
		random_text(b, m->query, HTTP_QUERY, 0);
	snprintf(target, sizeof(target), "%s%s%s%s%s", scheme, scheme[0] ? m->host : "", m->path,
		has_query ? "?" : "", m->query);
	strcpy(m->target, target);
}

/* The names cannot be those that the parser knows: they have an x in front. */
static void random_fields(struct bed *b, struct message *m)
{
	m->nb_fields = below(b, FIELDS_MAX + 1);
	for (unsigned i = 0; i < m->nb_fields; i++) {
		random_text(b, m->names[i], HTTP_TOKEN, 1);
		m->names[i][0] = 'x';
		do
			random_text(b, m->values[i], HTTP_TEXT, 0);
		while (m->values[i][0] &&
			(strchr(" \t", m->values[i][0]) ||
				strchr(" \t", m->values[i][strlen(m->values[i]) - 1])));
	}
}

static void random_message(struct bed *b, struct message *m, bool last)
{
	bool has_content;

	if (b->responses) {
		m->status = (const unsigned[]){200, 206, 404, 500, 204, 304, 100}[below(b, 7)];
		has_content = m->status >= 200 && m->status != 204 && m->status != 304;
	} else {
		strcpy(m->method,
			ONE_OF(b, "GET", "POST", "PUT", "DELETE", "OPTIONS", "get", "A!"));
		random_target(b, m);
		has_content = m->method[0] == 'P';
	}
	random_fields(b, m);
	random_letters(b, m->content, "0123456789\r\nabc;: ", 1, TEXT_MAX - 1);
	m->framing = has_content || (!b->responses && below(b, 4) == 0)
		? HTTP_LENGTH + below(b, b->responses && last ? 3 : 2)
		: HTTP_NO_BODY;
	m->nb_content = m->framing == HTTP_NO_BODY ? 0 : (unsigned)strlen(m->content);
	m->keep = !last;
}

static void put(struct bed *b, const char *text)
{
	size_t n = strlen(text);

	ck_assert_uint_lt(b->n + n, STREAM_MAX);
	memcpy(b->stream + b->n, text, n);
	b->n += n;
}

static void put_blanks(struct bed *b)
{
	char blanks[4];

	random_letters(b, blanks, " \t", 0, 3);
	put(b, blanks);
}

/* Name in any case. */
static void put_field(struct bed *b, const char *name, const char *value)
{
	bool known = name[0] != 'x';

	for (; *name; name++) {
		char c = known && below(b, 2) ? (char)toupper(*name) : *name;

		put(b, (char[]){c, '\0'});
	}
	put(b, ":");
	put_blanks(b);
	put(b, value);
	put_blanks(b);
	put(b, "\r\n");
}

static void put_chunks(struct bed *b, const struct message *m)
{
	for (unsigned at = 0, n; at < m->nb_content; at += n) {
		char size[32], part[TEXT_MAX];

		n = 1 + below(b, m->nb_content - at);
		sprintf(size, below(b, 2) ? "%x" : "%04X", n);
		put(b, size);
		put(b, ONE_OF(b, "", "", ";a", ";a=\"b c\"", "; a ; b=c"));
		put(b, "\r\n");
		sprintf(part, "%.*s", (int)n, m->content + at);
		put(b, part);
		put(b, "\r\n");
	}
	put(b, ONE_OF(b, "0", "00", "0;end"));
	put(b, "\r\n");
	if (below(b, 3) == 0)
		put_field(b, "xtrailer", "1");
	put(b, "\r\n");
}

static void put_framing(struct bed *b, const struct message *m)
{
	char length[16];

	sprintf(length, "%u", m->nb_content);
	if (m->framing == HTTP_LENGTH ||
		(m->framing == HTTP_NO_BODY && m->status == 0 && below(b, 2)))
		put_field(b, "content-length", length);
	if (m->framing == HTTP_CHUNKED)
		put_field(b, "transfer-encoding", "chunked");
}

static void put_message(struct bed *b, const struct message *m)
{
	const unsigned where = below(b, m->nb_fields + 1);
	char line[4 * TEXT_MAX];

	if (b->responses)
		sprintf(line, "HTTP/1.1 %u %s\r\n", m->status, ONE_OF(b, "", "OK", "No: such\t"));
	else
		sprintf(line, "%s%s %s HTTP/1.1\r\n", below(b, 5) ? "" : "\r\n", m->method,
			m->target);
	put(b, line);
	for (unsigned i = 0; i <= m->nb_fields; i++) {
		if (i == where) {
			put_framing(b, m);
			if (!b->responses)
				put_field(b, "host", m->host);
			if (!m->keep && m->framing != HTTP_UNTIL_CLOSE)
				put_field(b, "connection",
					ONE_OF(b, "close", "x,Close", ", close ,"));
		}
		if (i < m->nb_fields)
			put_field(b, m->names[i], m->values[i]);
	}
	put(b, "\r\n");
	if (m->framing == HTTP_CHUNKED)
		put_chunks(b, m);
	else if (m->framing != HTTP_NO_BODY)
		put(b, m->content);
}

static void draw(struct bed *b)
{
	b->responses = below(b, 2);
	b->nb_messages = 1 + below(b, MESSAGES_MAX);
	b->n = 0;
	memset(b->messages, 0, sizeof(b->messages));
	for (unsigned i = 0; i < b->nb_messages; i++) {
		random_message(b, &b->messages[i], i + 1 == b->nb_messages);
		put_message(b, &b->messages[i]);
	}
}

static size_t draw_piece(void *arg, size_t n)
{
	struct bed *b = arg;
	size_t piece = 1 + below(b, b->piece_max);

	return piece < n ? piece : n;
}

static void check_message(void *arg, unsigned i, const struct http_head *h, struct http_str content)
{
	const struct bed *b = arg;
	const struct message *m = &b->messages[i];
	unsigned found = 0;

	ASSERT_EACH(h->keep_alive == m->keep && h->framing == m->framing);
	ASSERT_EACH(content.n == m->nb_content && memcmp(content.at, m->content, content.n) == 0);
	ASSERT_EACH(h->status == m->status);
	if (!b->responses) {
		ASSERT_EACH(bed_is(http_method_name(h), m->method));
		ASSERT_EACH(bed_is(http_path(h), m->path) && bed_is(http_query(h), m->query));
		ASSERT_EACH(bed_is(http_host(h), m->host));
	}
	for (unsigned j = 0; j < h->nb_fields; j++)
		if (http_field_name(h, j).at[0] == 'x') {
			ASSERT_EACH(found < m->nb_fields);
			ASSERT_EACH(bed_is(http_field_name(h, j), m->names[found]));
			ASSERT_EACH(bed_is(http_field_value(h, j), m->values[found]));
			found++;
		}
	ASSERT_EACH(found == m->nb_fields);
}

/* Walks through the stream in one piece and in random ones. */
static void walk(struct bed *b, struct walk *w)
{
	uint64_t whole;

	w->responses = b->responses;
	w->method = HTTP_GET;
	w->max = 1 << 12;
	w->copy = bed_copy;
	w->piece = draw_piece;
	w->arg = b;
	b->piece_max = STREAM_MAX * 64;
	walk_run(w, b->stream, b->n);
	whole = w->sum;
	for (unsigned i = 0; i < 3; i++) {
		b->piece_max = (const unsigned[]){1, 10, 200}[i];
		walk_run(w, b->stream, b->n);
		ASSERT_EACH(w->sum == whole);
	}
}

static struct bed bed;
static struct walk walked;

START_TEST(messages_are_parsed_back)
{
	const uint64_t deadline = stress_deadline();

	hauli_random_init(&bed.random, stress_seed());
	do {
		draw(&bed);
		walked.on_message = check_message;
		walk(&bed, &walked);
		ASSERT_EACH(walked.error == 0 && walked.messages == bed.nb_messages);
		ASSERT_EACH(walked.closed && walked.at == bed.n);
	} while (haul_now() < deadline);
}
END_TEST

static void mutate(struct bed *b)
{
	size_t at = below(b, (unsigned)b->n), n = 1 + below(b, 20);
	static const char odd[] = "\r\n\0 \t:;,0x+-\"%/.*?#\x80\xff";

	switch (below(b, 5)) {
	case 0:
		b->stream[at] = (char)below(b, 256);
		break;
	case 1:
		b->stream[at] = odd[below(b, sizeof(odd))];
		break;
	case 2: /* remove */
		if (n > b->n - at)
			n = b->n - at;
		memmove(b->stream + at, b->stream + at + n, b->n - at - n);
		b->n -= n;
		break;
	case 3: /* repeat */
		if (n > b->n - at)
			n = b->n - at;
		if (b->n + n > STREAM_MAX)
			break;
		memmove(b->stream + at + n, b->stream + at, b->n - at);
		b->n += n;
		break;
	default: /* insert */
		if (b->n == STREAM_MAX)
			break;
		memmove(b->stream + at + 1, b->stream + at, b->n - at);
		b->stream[at] = odd[below(b, sizeof(odd))];
		b->n++;
	}
}

START_TEST(splits_do_not_matter_in_wrong_messages)
{
	const uint64_t deadline = stress_deadline();
	unsigned errors = 0, more = 0, taken = 0, tries = 0;

	hauli_random_init(&bed.random, stress_seed());
	do {
		draw(&bed);
		for (unsigned n = 1 + below(&bed, 4); n > 0 && bed.n > 0; n--)
			mutate(&bed);
		walked.on_message = NULL;
		walk(&bed, &walked);
		errors += walked.error != 0;
		more += walked.error == 0 && !walked.closed;
		taken += walked.closed;
	} while (++tries < TRIES || haul_now() < deadline);
	ck_assert(errors > 0 && more > 0 && taken > 0);
}
END_TEST

SUITE_MAIN("http_random", {messages_are_parsed_back}, {splits_do_not_matter_in_wrong_messages})
