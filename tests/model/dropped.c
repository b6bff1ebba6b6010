/* SPDX-License-Identifier: BSD-3-Clause */
/* The ledger's count of packets that stolen handlers drop, by the real ledger.c: two thieves drop
 * packets of one queue at the same time, and its home drops others. */
#include <rte_mbuf.h>

#define rte_mbuf_raw_free(pkt) ((void)(pkt))
#define rte_pktmbuf_free(pkt) ((void)(pkt))
#define rte_pktmbuf_free_bulk(pkts, n) ((void)(pkts))
#include "io/ledger.c"

#include "explorer.h"

static struct {
	struct hauli_rxq r;
	struct haul_carrier *home;
	struct rte_mbuf pkts[3]; /* by thread */
} m;

/* Thread 0 is the home. */
struct haul_carrier *haul_carrier_self(void)
{
	return (struct haul_carrier *)&m.home + model_thread();
}

static void init(void)
{
	m.r.home = (struct haul_carrier *)&m.home;
	for (unsigned i = 0; i < 3; i++)
		m.pkts[i].refcnt = 2; /* others use it, too */
}

static void drops(uint16_t n)
{
	struct rte_mbuf *mine = &m.pkts[model_thread()];
	struct rte_mbuf *pkts[4] = {mine, mine, mine, mine};

	haul_drop(&m.r.rx, pkts, n, HAUL_DROP_MALFORMED);
}

static void home(void)
{
	drops(1);
}

static void thief(void)
{
	drops(2);
}

static void check(void)
{
	MODEL_ASSERT(hauli_rxq_dropped(&m.r, HAUL_DROP_MALFORMED) == 5);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "dropped packets",
			.nb_threads = 3,
			.threads = {home, thief, thief},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
