/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched/look/peek.h"

#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

bool hauli_peek(void *to, const void *from, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)from, bytes};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

unsigned hauli_peek_each(void *to, const void *const *from, size_t bytes, unsigned n)
{
	struct iovec local = {to, n * bytes}, remote[HAULI_PEEKS];
	ssize_t got;

	for (unsigned i = 0; i < n; i++)
		remote[i] = (struct iovec){(void *)(uintptr_t)from[i], bytes};
	got = process_vm_readv(getpid(), &local, 1, remote, n, 0);
	return got < 0 ? 0 : (unsigned)((size_t)got / bytes);
}

void hauli_peek_text(char to[HAUL_LOOK_TEXT], const char *from)
{
	size_t left = 4096 - (uintptr_t)from % 4096;

	memset(to, 0, HAUL_LOOK_TEXT);
	if (!hauli_peek(to, from, HAUL_LOOK_TEXT - 1) &&
		(left >= HAUL_LOOK_TEXT || !hauli_peek(to, from, left)))
		strcpy(to, "?");
	for (char *c = to; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}
