/* SPDX-License-Identifier: BSD-3-Clause */
#include "tcp_message.h"

#include <errno.h>
#include <haul/fd.h>

#include "wire.h"

/* The length goes with the message: a peer may take a segment of two bytes for all there is. */
int dns_tcp_send(int fd, const uint8_t *sent, size_t n, uint64_t deadline)
{
	uint8_t prefix[DNS_TCP_PREFIX];
	struct iovec pieces[] = {{prefix, DNS_TCP_PREFIX}, {(uint8_t *)sent, n}};
	struct msghdr msg = {.msg_iov = pieces, .msg_iovlen = 2};

	dns_put16(prefix, (unsigned)n);
	while (msg.msg_iovlen > 0) {
		ssize_t done = haul_fd_sendmsg(fd, &msg, 0, deadline);

		if (done < 0)
			return (int)done;
		while (msg.msg_iovlen > 0 && (size_t)done >= msg.msg_iov->iov_len) {
			done -= (ssize_t)msg.msg_iov->iov_len;
			msg.msg_iov++;
			msg.msg_iovlen--;
		}
		if (msg.msg_iovlen > 0) {
			msg.msg_iov->iov_base = (uint8_t *)msg.msg_iov->iov_base + done;
			msg.msg_iov->iov_len -= (size_t)done;
		}
	}
	return 0;
}

int dns_tcp_receive(int fd, uint8_t *to, size_t n, uint64_t deadline)
{
	while (n > 0) {
		ssize_t got = haul_fd_recv(fd, to, n, 0, deadline);

		if (got <= 0)
			return got == 0 ? -ECONNRESET : (int)got;
		to += got;
		n -= (size_t)got;
	}
	return 0;
}
