/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that nobody can guess, from the kernel: one system call for 256 bytes. One carrier uses a
 * pool at a time. */
#ifndef DNS_RANDOM_H
#define DNS_RANDOM_H

#include "wire.h"

struct dns_random {
	uint16_t left; /* bytes; all zero is ready for use */
	uint8_t bytes[256];
};

/* n <= 256. Ends the program if the kernel has none: no query goes out with a number that can be
 * guessed. */
void dns_random_take(struct dns_random *r, void *to, size_t n);

#endif
