/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of simulated networks have in common. */
#ifndef HAUL_TESTS_SIM_NETWORKS_H
#define HAUL_TESTS_SIM_NETWORKS_H

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <haul-sim/main.h>
#include <haul-sim/net.h>

/* The main() of their programs. */
static inline int networks_main(int argc, char **argv, const struct haul_sim_test *tests)
{
	char err[256];

	if (haul_sim_net_init(err, sizeof(err)) != 0) {
		fprintf(stderr, "%s\n", err);
		return 4;
	}
	return haul_sim_main(argc, argv, tests);
}

/* Faults that programs are to outlive; without flipped bits, which not all protocols notice. */
#define NETWORKS_FAULTS                                                             \
	"loss,burst-loss,duplicate,reorder,delay,partition,clog,link-down,no-mbuf," \
	"slow,stall,late,kill,clock-step"

/* For haul_sim_always(): no frame on a link is forgotten. */
static inline const char *networks_conserve(void *arg)
{
	static char line[200];
	struct haul_sim_link_stats s;

	haul_sim_net_get_stats(&s);
	if (s.sent + s.duplicated == s.arrived + s.lost + s.in_flight)
		return NULL;
	snprintf(line, sizeof(line),
		"sent %" PRIu64 " duplicated %" PRIu64 ", but arrived %" PRIu64 " lost %" PRIu64
		" in flight %" PRIu64,
		s.sent, s.duplicated, s.arrived, s.lost, s.in_flight);
	return line;
}

/* Faults for so many simulated seconds, and then none, until what they have begun is over. */
static inline void networks_trouble(unsigned trouble, unsigned recovery)
{
	haul_sim_faults_start();
	sleep(trouble); /* simulated */
	haul_sim_faults_stop();
	haul_sim_net("heal");
	sleep(recovery); /* simulated */
}

#endif
