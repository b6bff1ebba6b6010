/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts that send datagrams of some flows, numbered from 1 in each, as haul_sim_in_order() knows
 * them: two to each other, over whatever is between, or one to a host that sends them back.
 */
#ifndef HAUL_TESTS_SIM_NUMBERED_H
#define HAUL_TESTS_SIM_NUMBERED_H

/* Without faults: starts them on these nodes. b: NULL: a alone. */
void numbered_start(const char *a, const char *b);
/* Faults, then none, for so many simulated seconds each. All that is sent at least 15 seconds after
 * the faults has to arrive, once. Ends the hosts, and returns the number of what has arrived. */
unsigned numbered_run(unsigned trouble, unsigned calm);
/* In place of that: ends them at once, whatever has arrived. */
void numbered_stop(void);

#endif
