/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* rte_intr_instance_alloc() and the like, in DPDK 22.11 */
#include "eal/interrupts.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_interrupts.h>

#include "conc/completion.h"

static void reached(void *arg)
{
	hauli_completion_set(arg);
}

void hauli_interrupts_quiesce(void)
{
	/* Alarms run on EAL's interrupt thread. The first one may run in the middle of a round of
	 * its loop, the second one only in a later round: then all callbacks of the first are
	 * done. */
	for (int round = 0; round < 2; round++) {
		struct hauli_completion done;

		hauli_completion_init(&done);
		if (rte_eal_alarm_set(1, reached, &done) != 0)
			return;
		hauli_completion_wait(&done);
	}
}

/* The callback of a descriptor, not an alarm: rte_eal_cleanup() waits for alarms to end. */
static void stay(void *arg)
{
	hauli_completion_set(arg);
	for (;;)
		pause();
}

void hauli_interrupts_still(void)
{
	struct rte_intr_handle *handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	/* Readable from the start. Once the thread is blocked in stay(), it uses this for good. */
	int fd = eventfd(1, EFD_CLOEXEC);
	struct hauli_completion done;

	hauli_completion_init(&done);
	if (handle && fd >= 0 && rte_intr_fd_set(handle, fd) == 0 &&
		rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) == 0 &&
		rte_intr_callback_register(handle, stay, &done) == 0) {
		hauli_completion_wait(&done);
		fd = -1;
	}
	rte_intr_instance_free(handle); /* EAL has a copy */
	if (fd >= 0)
		close(fd);
}
