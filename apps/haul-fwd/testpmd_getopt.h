/* SPDX-License-Identifier: BSD-3-Clause */
/* What getopt_long() makes of testpmd's options: abbreviations, and letters in one word. */
#ifndef FWD_TESTPMD_GETOPT_H
#define FWD_TESTPMD_GETOPT_H

/* Words that end with NULL, each option by its full name, where it is one of dpdk-testpmd's and the
 * abbreviation is of no other. They stay for the time of the process. */
char **fwd_testpmd_getopt(char **argv);

#endif
