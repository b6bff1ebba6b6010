/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers of haul-app: only while the main thread admits them, one at a time, and none at its
 * end. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "../../apps/haul-app/process/readers.h"
#include "support/stress.h"
#include "support/suite.h"

enum { READERS = 4 };

/* Plain: TSan sees it if the main thread and a reader, or two readers, are there at once. */
static unsigned long owned, read_by;
static atomic_ulong entered;

static void *reads(void *arg)
{
	const char *why;
	unsigned long last = 0;

	for (;;) {
		if (!hauli_reader_enter(&why)) {
			if (strcmp(why, "the program ends") == 0)
				return NULL;
			continue;
		}
		ck_assert_uint_ge(owned, last);
		ck_assert_uint_eq(owned % 2, 0);
		last = owned;
		read_by++;
		entered++;
		hauli_reader_leave();
	}
}

START_TEST(while_it_waits)
{
	const uint64_t until = stress_deadline();
	pthread_t threads[READERS];
	const char *why;

	/* Nobody enters before the first time, for a second. */
	ck_assert(!hauli_reader_enter(&why));
	for (unsigned i = 0; i < READERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, reads, NULL), 0);
	do {
		owned++; /* odd: amid a change */
		owned++;
		hauli_readers_admit();
		if (owned % 64 == 0)
			usleep(100); /* a time for readers */
		hauli_readers_bar();
	} while (haul_now() < until || entered < 100);
	hauli_readers_end();
	hauli_readers_admit();
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(read_by, entered);
	ck_assert(!hauli_reader_enter(&why));
	ck_assert_str_eq(why, "the program ends");
}
END_TEST

SUITE_MAIN("readers", {while_it_waits, 1})
