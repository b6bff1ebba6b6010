/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-http's parser under libFuzzer: messages in one piece and in random ones give the same
 * result. The first byte of an input says what the others are, the second how they are split.
 */
#include "support/http_walk.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct http_limits small = {.line = 64, .head = 256, .fields = 4};

enum { INPUT_MAX = 1 << 16 };

static void *copy(const void *bytes, size_t n)
{
	static char *end;

	if (!end) {
		end = (char *)mmap(NULL, 2 * INPUT_MAX, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) +
			INPUT_MAX;
		WALK_CHECK(mprotect(end, INPUT_MAX, PROT_NONE) == 0);
	}
	return n > 0 ? memcpy(end - n, bytes, n) : end;
}

static size_t whole(void *arg, size_t n)
{
	return n;
}

/* Mostly short pieces, now and then a long one. */
static size_t piece(void *arg, size_t n)
{
	uint32_t *random = arg;
	size_t size;

	*random = *random * 1664525 + 1013904223;
	size = 1 + (*random >> 8) % (1u << (*random >> 28));
	return size < n ? size : n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct walk w;
	uint32_t random;
	uint64_t sum;

	if (size < 2 || size > INPUT_MAX)
		return 0;
	random = data[1];
	w.responses = data[0] & 1;
	w.limits = data[0] & 2 ? &small : NULL;
	w.method = data[0] & 4 ? HTTP_HEAD : HTTP_GET;
	w.max = data[0] & 8 ? 64 : 1 << 16;
	w.copy = copy;
	w.piece = whole;
	walk_run(&w, (const char *)data + 2, size - 2);
	sum = w.sum;
	w.piece = piece;
	w.arg = &random;
	walk_run(&w, (const char *)data + 2, size - 2);
	WALK_CHECK(w.sum == sum);
	return 0;
}
