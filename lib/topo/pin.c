/* SPDX-License-Identifier: BSD-3-Clause */
#include "topo/pin.h"

#include <errno.h>
#include <pthread.h>

#include "topo/usable.h"

void hauli_place_name(char name[HAULI_THREAD_NAME], const struct haul_place *place, unsigned id)
{
	char full[64];
	int len = snprintf(full, sizeof(full), "haul%u.c%u", id, place->cluster);
	size_t skip = 0;

	if (place->cpu >= 0)
		len += snprintf(full + len, sizeof(full) - (size_t)len, ".p%d", place->cpu);
	/* Three numbers of four digits do not fit even then: the CPU is cut. */
	if (len >= HAULI_THREAD_NAME) {
		skip = sizeof("aul") - 1;
		full[skip] = 'h';
	}
	snprintf(name, HAULI_THREAD_NAME, "%.15s", full + skip);
}

int hauli_place_enter(const struct haul_place *place, unsigned id)
{
	char name[HAULI_THREAD_NAME];
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	int err = 0;

	hauli_place_name(name, place, id);
	pthread_setname_np(pthread_self(), name);
	if (!set)
		return -ENOMEM;
	if (place->cpu >= 0 && !place->elsewhere) {
		hwloc_bitmap_only(set, (unsigned)place->cpu);
		err = hauli_usable_bind(set);
	} else if (hauli_usable_get(set) == 0) {
		/* After a refusal the thread stays on a CPU that it may use. */
		(void)hauli_usable_bind(set);
	}
	hwloc_bitmap_free(set);
	return err;
}
