/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's memory of a call: what is left of its iovecs. */
#ifndef HAULI_SIM_FDS_BYTES_H
#define HAULI_SIM_FDS_BYTES_H

#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

struct hauli_sim_bytes {
	const struct iovec *iov;
	size_t at; /* in the first one */
	size_t left; /* of all */
};

static inline struct hauli_sim_bytes hauli_sim_bytes(const struct iovec *iov, size_t n)
{
	struct hauli_sim_bytes b = {.iov = iov};

	for (size_t i = 0; i < n; i++)
		b.left += iov[i].iov_len;
	return b;
}

/* Copies the next n of them, which there are, to `to` or from `from`, where it is not NULL. */
static inline void hauli_sim_bytes_move(
	struct hauli_sim_bytes *b, void *to, const void *from, size_t n)
{
	b->left -= n;
	while (n) {
		size_t here = b->iov->iov_len - b->at;
		char *place = (char *)b->iov->iov_base + b->at;

		here = here < n ? here : n;
		if (to && here)
			to = (char *)memcpy(to, place, here) + here;
		if (from && here) {
			memcpy(place, from, here);
			from = (const char *)from + here;
		}
		b->at += here;
		n -= here;
		if (b->at == b->iov->iov_len) {
			b->iov++;
			b->at = 0;
		}
	}
}

#endif
