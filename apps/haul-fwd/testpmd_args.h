/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines of dpdk-testpmd: EAL's arguments, "--", testpmd's options. */
#ifndef FWD_TESTPMD_ARGS_H
#define FWD_TESTPMD_ARGS_H

#include <stdbool.h>

/*
 * If the first argument is --testpmd, or the program was started as dpdk-testpmd or testpmd: the
 * command line of haul-fwd that does the same, and *argc becomes its length. What has no place in
 * that is left out, with a note. Otherwise argv.
 */
char **fwd_testpmd_args(int *argc, char **argv);

/* True: it was. The prompt is testpmd's then. */
bool fwd_testpmd_is_meant(void);

/* True: it was, and stdout is not that of --json: lines of testpmd's may be printed. */
bool fwd_testpmd_speaks(void);

/* Its --stats-period, in seconds, if there was no -i; else 0. */
unsigned fwd_testpmd_period_s(void);

#endif
