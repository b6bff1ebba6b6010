/* SPDX-License-Identifier: BSD-3-Clause */
#include "random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static void fill(struct dns_random *r)
{
	ssize_t n;

	do /* of up to 256 bytes, all or none */
		n = getrandom(r->bytes, sizeof(r->bytes), 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(r->bytes)) {
		fputs("haul-dns: the kernel gives no random numbers\n", stderr);
		abort();
	}
	r->left = sizeof(r->bytes);
}

/* What was taken is erased: it cannot be read from a dump of memory later. */
void dns_random_take(struct dns_random *r, void *to, size_t n)
{
	if (n > r->left)
		fill(r);
	r->left = (uint16_t)(r->left - n);
	memcpy(to, r->bytes + r->left, n);
	memset(r->bytes + r->left, 0, n);
}
