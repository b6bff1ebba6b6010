/* SPDX-License-Identifier: BSD-3-Clause */
/* haul-http: files of a folder, as whole responses that are parsed back. */
#include "../../apps/haul-http/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../../apps/haul-http/body.h"
#include "../../apps/haul-http/reply.h"
#include "http_bed.h"
#include "support/stress.h"
#include "support/suite.h"

#define NOW INT64_C(1793664000)
#define SIZE 1000

static char root_name[] = "/tmp/haul-http-XXXXXX", content[SIZE];
static int root;

/* The response to a request, and its parts. */
static struct {
	char bytes[1 << 16];
	size_t n;
	struct http_head head;
	struct http_str content;
} reply;

static unsigned nb_cached; /* opened without blocking */

/* For what is done outside of a test. */
#define CHECK(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static void put_file(const char *name, const void *bytes, size_t n)
{
	const struct timespec times[2] = {
		{.tv_sec = NOW - 100}, {.tv_sec = NOW - 100, .tv_nsec = 5}};
	int fd = openat(root, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && futimens(fd, times) == 0);
	close(fd);
}

static void make_folder(void)
{
	static const char *const folders[] = {"a", "a/b", "odd", "odd/index.html", "a/.git"};

	CHECK(mkdtemp(root_name));
	root = open(root_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK(root >= 0);
	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		CHECK(mkdirat(root, folders[i], 0755) == 0);
	for (unsigned i = 0; i < SIZE; i++)
		content[i] = (char)(i % 251);
	put_file("index.html", "root", 4);
	put_file("a/index.html", "index of a", 10);
	put_file("a/data.bin", content, SIZE);
	put_file("a/.git/config", "secret", 6);
	put_file("a b.txt", "blank", 5);
	put_file("empty", "", 0);
	CHECK(mkfifoat(root, "fifo", 0644) == 0);
	CHECK(symlinkat("a/data.bin", root, "link") == 0);
	CHECK(symlinkat("../../../../../../etc/passwd", root, "out") == 0);
	CHECK(symlinkat("/etc/passwd", root, "absolute") == 0);
	CHECK(symlinkat("..", root, "up") == 0);
	CHECK(symlinkat("loop", root, "loop") == 0);
}

static void remove_folder(void)
{
	char command[64];

	close(root);
	snprintf(command, sizeof(command), "rm -r %s", root_name);
	CHECK(system(command) == 0);
}

static void append(const char *bytes, size_t n)
{
	ASSERT_EACH(reply.n + n <= sizeof(reply.bytes));
	if (n > 0)
		memcpy(reply.bytes + reply.n, bytes, n);
	reply.n += n;
}

static void send_content(struct http_file *f)
{
	struct http_piece piece;

	while (http_file_next(f, &piece)) {
		append(piece.text.at, piece.text.n);
		ASSERT_EACH(reply.n + piece.n <= sizeof(reply.bytes));
		if (piece.n > 0)
			ASSERT_EACH(pread(f->fd, reply.bytes + reply.n, piece.n,
					    (off_t)piece.from) == (ssize_t)piece.n);
		reply.n += piece.n;
	}
}

/* As a server does it: without blocking, if that is possible. */
static void open_file(struct http_file *f, const struct http_head *request)
{
	struct http_file blocking;

	http_file_open(&blocking, root, request, NOW);
	if (http_file_try_open(f, root, request, NOW)) {
		ASSERT_EACH(f->status == blocking.status && f->length == blocking.length);
		http_file_close(&blocking);
		nb_cached++;
	} else {
		*f = blocking;
	}
}

/* Sends "METHOD PATH" with the fields, each with CRLF, and returns the status. */
static unsigned get(const char *what, const char *fields)
{
	char text[1024], head[1024];
	struct http_head request;
	struct http_body body;
	struct http_file f;
	struct http_out o;
	int n;

	n = snprintf(text, sizeof(text), "%s HTTP/1.1\r\nHost: h\r\n%s\r\n", what, fields);
	http_request_init(&request, NULL);
	ASSERT_EACH(http_head_parse(&request, text, (size_t)n) == n);
	open_file(&f, &request);
	http_out_init(&o, head, sizeof(head));
	http_reply_begin(&o, &request, f.status, NOW);
	http_file_fields(&f, &o);
	n = http_out_end(&o);
	ASSERT_EACH(n > 0);
	reply.n = 0;
	append(head, (size_t)n);
	send_content(&f);
	http_file_close(&f);

	/* As a client sees it: there is nothing beyond the length. */
	http_response_init(&reply.head, request.method, NULL);
	n = http_head_parse(&reply.head, reply.bytes, reply.n);
	ASSERT_EACH(n > 0 && reply.head.status == f.status);
	ASSERT_EACH(http_body_init(&body, &reply.head, SIZE * 100) == 0);
	reply.content = (struct http_str){reply.bytes, 0};
	if (!body.is_done)
		ASSERT_EACH(http_body_take(&body, reply.bytes + n, reply.n - (size_t)n,
				    &reply.content) == (ssize_t)reply.n - n);
	ASSERT_EACH(body.is_done && reply.content.n == reply.n - (size_t)n);
	return f.status;
}

static const char *field(const char *name)
{
	static char text[256];
	struct http_str value = {text, 0};

	ck_assert_uint_le(http_find(&reply.head, name, &value), 1);
	snprintf(text, sizeof(text), "%.*s", (int)value.n, value.at);
	return text;
}

START_TEST(files_and_their_fields)
{
	ck_assert_uint_eq(get("GET /a/data.bin?x", ""), 200);
	ck_assert(reply.content.n == SIZE && memcmp(reply.content.at, content, SIZE) == 0);
	ck_assert_str_eq(field("Content-Type"), "application/octet-stream");
	ck_assert_str_eq(field("Last-Modified"), "Mon, 02 Nov 2026 23:58:20 GMT");
	ck_assert_str_eq(field("Date"), "Tue, 03 Nov 2026 00:00:00 GMT");
	ck_assert_str_eq(field("Accept-Ranges"), "bytes");
	ck_assert_str_eq(field("Connection"), "");
	ck_assert_str_eq(field("ETag"), "\"6ae9239c.5.3e8\"");
	ck_assert_uint_eq(get("GET /", "Connection: close\r\n"), 200);
	ck_assert(bed_is(reply.content, "root"));
	ck_assert_str_eq(field("Connection"), "close");
	ck_assert_str_eq(field("Content-Type"), "text/html; charset=utf-8");
	ck_assert_uint_eq(get("GET /a%20b.txt", ""), 200);
	ck_assert(bed_is(reply.content, "blank"));
	ck_assert_uint_eq(get("GET /empty", ""), 200);
	ck_assert_uint_eq(reply.content.n, 0);
	ck_assert_uint_eq(get("GET /a/../a/./index.html", ""), 200);
	ck_assert(bed_is(reply.content, "index of a"));
	ck_assert_uint_eq(get("GET http://h/link", ""), 200);
	ck_assert_uint_eq(reply.content.n, SIZE);
	ck_assert_uint_eq(get("HEAD /a/data.bin", ""), 200);
	ck_assert(reply.head.length == SIZE && reply.content.n == 0);
}
END_TEST

/* Linux 5.12 on. */
START_TEST(what_was_open_opens_without_blocking)
{
	nb_cached = 0;
	ck_assert_uint_eq(get("GET /a/data.bin", ""), 200);
	ck_assert_uint_eq(nb_cached, 1);
	ck_assert_uint_eq(get("GET /link", ""), 200);
	ck_assert_uint_eq(nb_cached, 2);
	ck_assert_uint_eq(get("GET /a", ""), 301);
	ck_assert_uint_eq(nb_cached, 3);
}
END_TEST

START_TEST(what_is_no_file)
{
	static const struct {
		const char *what;
		unsigned status;
	} rows[] = {
		{"GET /none", 404},
		{"GET /none/", 404},
		{"GET /a/data.bin/", 404},
		{"GET /a/data.bin/x", 404},
		{"GET /a/b/", 404},
		{"GET /odd/", 404},
		{"GET /fifo", 404},
		{"GET /out", 404},
		{"GET /absolute", 404},
		{"GET /up/", 404},
		{"GET /up/etc/passwd", 404},
		{"GET /loop", 404},
		{"GET /a/.git/config", 404},
		{"GET /..", 400},
		{"GET /%00", 400},
		{"GET /a%2fdata.bin", 404},
		{"POST /", 405},
		{"OPTIONS *", 405},
		{"TRACE /", 405},
		{"BREW /", 501},
		{"get /", 501},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned status = get(rows[i].what, "Content-Length: 0\r\n");

		ck_assert_msg(status == rows[i].status, "%s: %u", rows[i].what, status);
		ck_assert_uint_eq(reply.content.n, 0);
		ck_assert_str_eq(field("Allow"), status == 405 ? "GET, HEAD" : "");
	}
}
END_TEST

START_TEST(folders_have_another_path)
{
	ck_assert_uint_eq(get("GET /a", ""), 301);
	ck_assert_str_eq(field("Location"), "/a/");
	ck_assert_uint_eq(get("HEAD /a?b=c", ""), 301);
	ck_assert_str_eq(field("Location"), "/a/?b=c");
	/* Not the host a. */
	ck_assert_uint_eq(get("GET //a", ""), 301);
	ck_assert_str_eq(field("Location"), "/a/");
	ck_assert_uint_eq(get("GET ///x/../a", ""), 301);
	ck_assert_str_eq(field("Location"), "/x/../a/");
}
END_TEST

#define TAG "\"6ae9239c.5.3e8\""
#define MODIFIED "Mon, 02 Nov 2026 23:58:20 GMT"
#define BEFORE "Mon, 02 Nov 2026 23:58:19 GMT"

START_TEST(conditions)
{
	static const struct {
		const char *fields;
		unsigned status;
	} rows[] = {
		{"If-None-Match: " TAG "\r\n", 304},
		{"If-None-Match: W/" TAG "\r\n", 304},
		{"If-None-Match: \"x\", \"a,b\" ," TAG "\r\n", 304},
		{"If-None-Match: \"x\"\r\nIf-None-Match: " TAG "\r\n", 304},
		{"If-None-Match: *\r\n", 304},
		{"If-None-Match: \"x\"\r\n", 200},
		{"If-None-Match: \"x\r\n", 200},
		{"If-None-Match: x," TAG "\r\n", 200},
		{"If-None-Match:\r\n", 200},
		{"If-Modified-Since: " MODIFIED "\r\n", 304},
		{"If-Modified-Since: Monday, 02-Nov-26 23:58:20 GMT\r\n", 304},
		{"If-Modified-Since: " BEFORE "\r\n", 200},
		{"If-Modified-Since: yesterday\r\n", 200},
		{"If-Modified-Since: " MODIFIED "\r\nIf-Modified-Since: " MODIFIED "\r\n", 200},
		{"If-None-Match: \"x\"\r\nIf-Modified-Since: " MODIFIED "\r\n", 200},
		{"If-Match: " TAG "\r\n", 200},
		{"If-Match: *\r\n", 200},
		{"If-Match: W/" TAG "\r\n", 412},
		{"If-Match: \"x\"\r\n", 412},
		{"If-Match: \"x\"\r\nIf-None-Match: *\r\n", 412},
		{"If-Unmodified-Since: " BEFORE "\r\n", 412},
		{"If-Unmodified-Since: " MODIFIED "\r\n", 200},
		{"If-Match: *\r\nIf-Unmodified-Since: " BEFORE "\r\n", 200},
		{"Range: bytes=0-0\r\nIf-Range: " TAG "\r\n", 206},
		{"Range: bytes=0-0\r\nIf-Range: W/" TAG "\r\n", 200},
		{"Range: bytes=0-0\r\nIf-Range: \"x\"\r\n", 200},
		{"Range: bytes=0-0\r\nIf-Range: " MODIFIED "\r\n", 206},
		{"Range: bytes=0-0\r\nIf-Range: " BEFORE "\r\n", 200},
		{"Range: bytes=0-0\r\nIf-None-Match: " TAG "\r\n", 304},
		{"Range: bytes=1000-\r\nIf-Range: \"x\"\r\n", 200},
		{"Range: bytes=1000-\r\n", 416},
		{"Range: bytes=0-0\r\nRange: bytes=1-1\r\n", 200},
		{"Range: lines=0-0\r\n", 200},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned status = get("GET /a/data.bin", rows[i].fields);

		ck_assert_msg(status == rows[i].status, "%s: %u", rows[i].fields, status);
		ck_assert_str_eq(field("ETag"), status < 400 ? TAG : "");
		ck_assert_uint_eq(reply.content.n, status == 200 ? SIZE : status == 206);
	}
	ck_assert_uint_eq(get("HEAD /a/data.bin", "Range: bytes=0-0\r\n"), 200);
	ck_assert_uint_eq(reply.head.length, SIZE);
	ck_assert_uint_eq(get("GET /a/data.bin", "Range: bytes=1000-\r\n"), 416);
	ck_assert_str_eq(field("Content-Range"), "bytes */1000");
	ck_assert_uint_eq(get("GET /a/data.bin", "Range: bytes=2-6\r\n"), 206);
	ck_assert_str_eq(field("Content-Range"), "bytes 2-6/1000");
	ck_assert(reply.content.n == 5 && memcmp(reply.content.at, content + 2, 5) == 0);
}
END_TEST

/* Takes "--BOUNDARY CRLF fields CRLF CRLF content CRLF" from the content, as a client would. */
static void check_part(const char *boundary, unsigned from, unsigned n)
{
	char expected[256];
	int length = snprintf(expected, sizeof(expected),
		"\r\n--%s\r\nContent-Type: application/octet-stream\r\n"
		"Content-Range: bytes %u-%u/%u\r\n\r\n",
		boundary, from, from + n - 1, SIZE);

	ASSERT_EACH(reply.content.n >= (size_t)length + n);
	ASSERT_EACH(memcmp(reply.content.at, expected, (size_t)length) == 0);
	ASSERT_EACH(memcmp(reply.content.at + length, content + from, n) == 0);
	reply.content = http_skip(reply.content, (size_t)length + n);
}

START_TEST(several_ranges)
{
	uint64_t deadline = stress_deadline();
	struct hauli_random r;

	hauli_random_init(&r, stress_seed());
	do {
		unsigned n = 2 + hauli_random_below(&r, HTTP_RANGES_MAX - 1),
			 froms[HTTP_RANGES_MAX];
		unsigned lengths[HTTP_RANGES_MAX];
		char fields[512] = "Range: bytes=", boundary[64], type[64], end[80];

		for (unsigned i = 0; i < n; i++) {
			froms[i] = hauli_random_below(&r, SIZE - SIZE / HTTP_RANGES_MAX);
			lengths[i] = 1 + hauli_random_below(&r, SIZE / HTTP_RANGES_MAX);
			sprintf(fields + strlen(fields), "%s%u-%u", i ? "," : "", froms[i],
				froms[i] + lengths[i] - 1);
		}
		strcat(fields, "\r\n");
		ASSERT_EACH(get("GET /a/data.bin", fields) == 206);
		strcpy(type, field("Content-Type"));
		ASSERT_EACH(sscanf(type, "multipart/byteranges; boundary=%63s", boundary) == 1);
		for (unsigned i = 0; i < n; i++)
			check_part(boundary, froms[i], lengths[i]);
		sprintf(end, "\r\n--%s--\r\n", boundary);
		ASSERT_EACH(bed_is(reply.content, end));
	} while (haul_now() < deadline);
}
END_TEST

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

START_TEST(files_are_closed)
{
	static const char *const whats[] = {"GET /", "HEAD /", "GET /a", "GET /none", "GET /fifo",
		"GET /odd/", "POST /", "GET /empty"};
	unsigned before = descriptors();

	for (unsigned i = 0; i < sizeof(whats) / sizeof(whats[0]); i++)
		get(whats[i], "Content-Length: 0\r\n");
	get("GET /a/data.bin", "If-None-Match: *\r\n");
	get("GET /a/data.bin", "Range: bytes=0-0,1-1\r\n");
	get("GET /a/data.bin", "Range: bytes=1000-\r\n");
	ck_assert_uint_eq(descriptors(), before);
}
END_TEST

START_TEST(replies_of_a_line)
{
	char text[512];
	struct http_head h;
	struct http_out o;
	int n;

	http_out_init(&o, text, sizeof(text));
	n = http_reply_text(&o, NULL, 431, NOW);
	http_response_init(&h, HTTP_GET, NULL);
	ck_assert_int_eq(http_head_parse(&h, text, (size_t)n) + (int)h.length, n);
	ck_assert(h.status == 431 && !h.keep_alive);
	ck_assert_int_eq(memcmp(text + n - 36, "431 Request Header Fields Too Large\n", 36), 0);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {{files_and_their_fields},
		{what_was_open_opens_without_blocking}, {what_is_no_file},
		{folders_have_another_path}, {conditions}, {several_ranges}, {files_are_closed},
		{replies_of_a_line}};
	int rc;

	/* qemu-user has none, and some containers. */
	if (syscall(SYS_openat2, -1, "", NULL, 0) != 0 && errno == ENOSYS) {
		puts("1..0 # SKIP no openat2");
		return 0;
	}
	make_folder();
	rc = suite_run("http_file", tests, sizeof(tests) / sizeof(tests[0]));
	remove_folder();
	return rc;
}
