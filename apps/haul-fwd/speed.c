/* SPDX-License-Identifier: BSD-3-Clause */
#include "speed.h"

#include <stdlib.h>
#include <string.h>

#include <haul-dpdk/port_info.h> /* with ethdev's constants */

static const struct {
	unsigned long mbits;
	uint32_t full, half;
} speeds[] = {
	{10, RTE_ETH_LINK_SPEED_10M, RTE_ETH_LINK_SPEED_10M_HD},
	{100, RTE_ETH_LINK_SPEED_100M, RTE_ETH_LINK_SPEED_100M_HD},
	{1000, RTE_ETH_LINK_SPEED_1G, 0},
	{2500, RTE_ETH_LINK_SPEED_2_5G, 0},
	{5000, RTE_ETH_LINK_SPEED_5G, 0},
	{10000, RTE_ETH_LINK_SPEED_10G, 0},
	{20000, RTE_ETH_LINK_SPEED_20G, 0},
	{25000, RTE_ETH_LINK_SPEED_25G, 0},
	{40000, RTE_ETH_LINK_SPEED_40G, 0},
	{50000, RTE_ETH_LINK_SPEED_50G, 0},
	{56000, RTE_ETH_LINK_SPEED_56G, 0},
	{100000, RTE_ETH_LINK_SPEED_100G, 0},
	{200000, RTE_ETH_LINK_SPEED_200G, 0},
};

const char *fwd_speed(const char *text, bool half_duplex, uint32_t *flags)
{
	char *end;
	unsigned long mbits = strtoul(text, &end, 10);

	*flags = RTE_ETH_LINK_SPEED_AUTONEG;
	if (strcmp(text, "auto") == 0)
		return NULL;
	for (unsigned s = 0; s < RTE_DIM(speeds) && !*end; s++) {
		if (speeds[s].mbits != mbits)
			continue;
		if (half_duplex && !speeds[s].half)
			return "Invalid speed/duplex parameters";
		*flags = (half_duplex ? speeds[s].half : speeds[s].full) | RTE_ETH_LINK_SPEED_FIXED;
		return NULL;
	}
	return "give auto, or 10, 100, 1000, ..., 200000 Mbit/s";
}
