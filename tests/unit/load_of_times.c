/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the record of a load that it reads from stdin: a packet in each line, with its time in ns,
 * its length and the UDP source port of its flow. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../apps/haul-fwd/load.h"

#define HZ UINT64_C(1000000000)

static uint8_t frame[64] = {
	[12] = 0x08, [14] = 0x45, [23] = 17, [26] = 198, [27] = 18, [30] = 198, [31] = 19};

int main(int argc, char **argv)
{
	/* Two queues, packets in turn, to be added up at the end. */
	struct load *loads = aligned_alloc(64, 2 * sizeof(*loads));
	struct rte_mbuf pkt = {.buf_addr = frame, .data_len = sizeof(frame)}, *pkts = &pkt;
	struct haul_app_json *object = haul_app_json_begin();
	unsigned queues = argc > 1 ? 2 : 1, n = 0;
	uint64_t ns;
	uint16_t port;

	if (!loads)
		return 1;
	load_init(&loads[0], 0, HZ);
	load_init(&loads[1], 0, HZ);
	while (scanf("%lu %u %hu", &ns, &pkt.pkt_len, &port) == 3) {
		port = htons(port);
		memcpy(frame + 34, &port, sizeof(port));
		load_count(&loads[n++ % queues], &pkts, 1, ns);
	}
	load_add(&loads[0], &loads[1]);
	haul_app_json_number(object, "format", 1);
	load_json(&loads[0], HZ, object);
	haul_app_json_end(object, stdout);
	free(loads);
	return 0;
}
