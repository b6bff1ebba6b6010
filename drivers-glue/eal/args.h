/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line for EAL. EAL ends the program on some wrong arguments, and cannot be initialised
 * a second time with others, so haul checks here everything that it can.
 */
#ifndef HAULI_EAL_ARGS_H
#define HAULI_EAL_ARGS_H

#include <sched.h>

#include <haul-dpdk/eal.h>

#define HAULI_EAL_ARGS_OWN 24 /* most arguments that haul adds */

struct hauli_eal_args {
	int argc;
	char **argv; /* NULL-terminated; EAL may reorder it */
	unsigned owned;
	char *own[HAULI_EAL_ARGS_OWN]; /* allocated here */
	bool shared; /* other processes can attach */
	bool hugepages; /* EAL tries them */
	bool usage; /* the user asked for EAL's help or version: EAL prints it and exits */
	char notice[160]; /* "" or one line, for a verbose start */
	char pages[192]; /* "" or the reason for no huge pages on a machine that has some */
};

/*
 * opts must stay valid as long as args. 0, or -EINVAL, -ENOMEM, -EPERM with a line in errbuf. Call
 * hauli_eal_args_fini() in any case.
 */
int hauli_eal_args_init(struct hauli_eal_args *args, const struct haul_eal_opts *opts,
	const cpu_set_t *usable, char *errbuf, size_t errlen);
void hauli_eal_args_fini(struct hauli_eal_args *args);

#endif
