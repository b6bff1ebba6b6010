/* SPDX-License-Identifier: BSD-3-Clause */
#include "io.h"

#include <errno.h>
#include <stdlib.h>

enum {
	SIZE_FIRST = 2048, /* most heads are smaller; thousands of connections are idle */
	LINGER_MAX = 1 << 18, /* bytes that are thrown away at the end */
};

int http_io_open(struct http_io *io, int fd)
{
	*io = (struct http_io){.fd = fd, .buf = malloc(SIZE_FIRST), .size = SIZE_FIRST};
	if (io->buf)
		return 0;
	haul_fd_close(fd);
	return -ENOMEM;
}

void http_io_close(struct http_io *io)
{
	haul_fd_close(io->fd);
	free(io->buf);
}

/* Room for more: what was taken goes, and then the buffer grows, up to the size of a head. */
static int make_room(struct http_io *io)
{
	if (io->from > 0) {
		memmove(io->buf, io->buf + io->from, io->to - io->from);
		io->to -= io->from;
		io->from = 0;
	}
	if (io->to == io->size) {
		char *larger = realloc(io->buf, 2 * (size_t)io->size);

		if (!larger)
			return -ENOMEM;
		io->buf = larger;
		io->size *= 2;
	}
	return 0;
}

/* Returns the number of bytes, 0 at the end, or an error. */
static ssize_t receive(struct http_io *io, uint64_t deadline)
{
	int rc = make_room(io);
	ssize_t n;

	if (rc < 0)
		return rc;
	n = haul_fd_recv(io->fd, io->buf + io->to, io->size - io->to, 0, deadline);
	if (n > 0) {
		io->to += (uint32_t)n;
		io->rx_bytes += (uint64_t)n;
	}
	return n;
}

int http_io_head(struct http_io *io, struct http_head *h, uint64_t idle_ns, uint64_t head_ns)
{
	bool begun = io->to > io->from;
	uint64_t deadline = haul_in(begun ? head_ns : idle_ns);
	ssize_t n;
	int rc;

	/* The parser returns an error before the bytes are more than its limit. */
	while ((rc = http_head_parse(h, io->buf + io->from, io->to - io->from)) == 0) {
		n = receive(io, deadline);
		if (n == 0)
			return begun ? -ECONNRESET : 0;
		if (n < 0)
			return n == -ETIMEDOUT && begun ? -408 : (int)n;
		if (!begun)
			deadline = haul_in(head_ns);
		begun = true;
	}
	if (rc < 0)
		return rc;
	io->from += (uint32_t)rc;
	return 1;
}

int http_io_body(
	struct http_io *io, struct http_body *b, struct http_str *content, uint64_t deadline)
{
	ssize_t n;

	if (b->is_done)
		return 0;
	if (io->from == io->to) {
		n = receive(io, deadline);
		if (n < 0)
			return (int)n;
		if (n == 0)
			return http_body_close(b);
	}
	n = http_body_take(b, io->buf + io->from, io->to - io->from, content);
	if (n < 0)
		return (int)n;
	io->from += (uint32_t)n;
	return 1;
}

int http_io_send(struct http_io *io, struct iovec *pieces, int n, uint64_t deadline)
{
	while (n > 0) {
		struct msghdr msg = {.msg_iov = pieces, .msg_iovlen = (size_t)n};
		ssize_t sent = haul_fd_sendmsg(io->fd, &msg, 0, deadline);

		if (sent < 0)
			return (int)sent;
		io->tx_bytes += (uint64_t)sent;
		for (; n > 0 && (size_t)sent >= pieces->iov_len; n--, pieces++)
			sent -= (ssize_t)pieces->iov_len;
		if (n > 0) {
			pieces->iov_base = (char *)pieces->iov_base + sent;
			pieces->iov_len -= (size_t)sent;
		}
	}
	return 0;
}

void http_io_linger(struct http_io *io, uint64_t deadline)
{
	ssize_t n = 1;

	if (shutdown(io->fd, SHUT_WR) != 0)
		return;
	for (size_t sum = 0; n > 0 && sum < LINGER_MAX; sum += (size_t)n) {
		n = haul_fd_recv(io->fd, io->buf, io->size, 0, deadline);
		if (n < 0)
			return;
	}
}
