/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded (LD_PRELOAD): an EAL that ends the program, as that of DPDK 25.11 and later does when
 * it does not know an argument. */
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_log.h>

__attribute__((visibility("default"))) int rte_eal_init(int argc, char **argv)
{
	printf("usage\n");
	fprintf(stderr, "not a log message\n");
	rte_log(RTE_LOG_ERR, RTE_LOGTYPE_USER1, "the argument %s is unknown\n", argv[argc - 1]);
	rte_log(RTE_LOG_ALERT, RTE_LOGTYPE_USER1, "a caller gives up\n");
	exit(234);
}
