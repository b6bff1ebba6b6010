/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection of haul-http on standard input and output, for http_peer.py: files of the folder
 * that is named, and /echo, which sends content back in chunks. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../../apps/haul-http/body.h"
#include "../../apps/haul-http/file.h"
#include "../../apps/haul-http/reply.h"

enum { BUFFER = 16384, CONTENT_MAX = 1 << 20 };

static char buf[BUFFER];
static size_t from, to;

static void send_all(const char *bytes, size_t n)
{
	for (ssize_t sent; n > 0; bytes += sent, n -= (size_t)sent) {
		sent = write(1, bytes, n);
		if (sent <= 0)
			exit(0);
	}
}

/* More bytes, behind those from from to to, which move. False: there are none. */
static bool receive(void)
{
	ssize_t n;

	memmove(buf, buf + from, to - from);
	to -= from;
	from = 0;
	n = read(0, buf + to, BUFFER - to);
	to += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static int reply(const struct http_head *h, unsigned status)
{
	char text[512];
	struct http_out o;
	int n;

	http_out_init(&o, text, sizeof(text));
	n = http_reply_text(&o, h, status, time(NULL));
	send_all(text, (size_t)n);
	return -1;
}

static void send_range(int fd, uint64_t at, uint64_t n)
{
	char part[4096];

	while (n > 0) {
		ssize_t got = pread(fd, part, n < sizeof(part) ? n : sizeof(part), (off_t)at);

		if (got <= 0)
			exit(1); /* shorter than promised */
		send_all(part, (size_t)got);
		at += (uint64_t)got;
		n -= (uint64_t)got;
	}
}

static void send_file(int root, const struct http_head *h)
{
	const int64_t now = time(NULL);
	struct http_piece piece;
	struct http_file f;
	struct http_out o;
	char text[2048];

	http_file_open(&f, root, h, now);
	http_out_init(&o, text, sizeof(text));
	http_reply_begin(&o, h, f.status, now);
	http_file_fields(&f, &o);
	send_all(text, (size_t)http_out_end(&o));
	while (http_file_next(&f, &piece)) {
		send_all(piece.text.at, piece.text.n);
		send_range(f.fd, piece.from, piece.n);
	}
	http_file_close(&f);
}

static void begin_echo(const struct http_head *h)
{
	char text[512];
	struct http_out o;

	http_out_init(&o, text, sizeof(text));
	http_reply_begin(&o, h, 200, time(NULL));
	http_out_text(&o, "Transfer-Encoding", "chunked");
	send_all(text, (size_t)http_out_end(&o));
}

static void send_chunk(struct http_str content)
{
	char text[HTTP_CHUNK_HEAD_MAX];

	send_all(text, http_chunk_head(text, content.n));
	send_all(content.at, content.n);
	if (content.n > 0)
		send_all("\r\n", 2);
}

/* The body, which the client sends if it is told to; sent back if it is an echo. Returns 0, or an
 * error. The buffer moves: of the head only numbers are left. */
static int take_body(struct http_body *b, bool echo)
{
	struct http_str content;

	while (!b->is_done) {
		ssize_t taken;

		if (from == to && !receive())
			return http_body_close(b);
		taken = http_body_take(b, buf + from, to - from, &content);
		if (taken < 0)
			return (int)taken;
		if (echo && content.n > 0)
			send_chunk(content);
		from += (size_t)taken;
	}
	if (echo)
		send_chunk(HTTP_STR(""));
	return 0;
}

/* Returns 0 if there may be another request. */
static int serve(int root)
{
	struct http_head h;
	struct http_body b;
	bool echo;
	int rc;

	http_request_init(&h, NULL);
	while ((rc = http_head_parse(&h, buf + from, to - from)) == 0)
		if (!receive())
			return -1;
	if (rc < 0)
		return reply(NULL, (unsigned)-rc);
	from += (size_t)rc;
	rc = http_body_init(&b, &h, CONTENT_MAX);
	if (rc < 0)
		return reply(NULL, (unsigned)-rc);
	if (h.expect_continue)
		send_all("HTTP/1.1 100 Continue\r\n\r\n", 25);
	echo = http_is_text(http_path(&h), "/echo") && h.minor > 0;
	if (echo)
		begin_echo(&h);
	else
		send_file(root, &h);
	if (take_body(&b, echo) < 0)
		return -1;
	return h.keep_alive ? 0 : -1;
}

int main(int argc, char **argv)
{
	int root = argc == 2 ? open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	if (root < 0) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	while (serve(root) == 0)
		continue;
	return 0;
}
