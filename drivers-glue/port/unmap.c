/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/unmap.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "linux/imports.h"

#define POLL_US 20

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hauli_unmap_reader *readers;

static void wait_for(const struct hauli_unmap_reader *r)
{
	uint32_t calls = hauli_u32_published_get(&r->calls);

	while (calls % 2 == 1 && hauli_u32_published_get(&r->calls) == calls)
		usleep(POLL_US); /* the poller may wait for this CPU */
}

static int unmap(void *memory, size_t bytes)
{
	pthread_mutex_lock(&lock);
	hauli_fence_heavy();
	for (const struct hauli_unmap_reader *r = readers; r; r = r->next)
		wait_for(r);
	pthread_mutex_unlock(&lock);
	return munmap(memory, bytes);
}

void hauli_unmap_waits(const char *library)
{
	/* Without membarrier(2) the PMD stays as it is. */
	if (hauli_fence_init() == 0)
		hauli_imports_replace(library, "munmap", (void (*)(void))unmap);
}

void hauli_unmap_add(struct hauli_unmap_reader *r)
{
	pthread_mutex_lock(&lock);
	r->next = readers;
	readers = r;
	pthread_mutex_unlock(&lock);
}

void hauli_unmap_remove(struct hauli_unmap_reader *r)
{
	struct hauli_unmap_reader **at = &readers;

	pthread_mutex_lock(&lock);
	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	pthread_mutex_unlock(&lock);
}
