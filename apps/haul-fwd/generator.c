/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines that generate frames: sending as plain blocking code. */
#include "generator.h"

#include <errno.h>
#include <stdlib.h>

#include "modes/txonly.h"
#include "topology.h"
#include "vlan.h"

/* Between attempts while the pool is empty. */
#define NO_BUFFER_PAUSE (100 * HAUL_US)
#define FRAMES 32 /* made at a time */

struct generator {
	struct haul_txq *txq;
	const struct fwd *fwd;
	unsigned port, carrier;
	uint64_t left;
};

/* Makes some frames at a time, and sends them one by one. Returns 0 or -ECANCELED. */
static int send_some(struct generator *g)
{
	struct rte_mbuf *pkts[FRAMES];
	uint16_t n = (uint16_t)RTE_MIN(g->left, (uint64_t)FRAMES);
	int err = 0;

	n = fwd_txonly_make(g->fwd, g->port, g->carrier, pkts, n);
	if (n == 0) /* few buffers are left, or none */
		n = fwd_txonly_make(g->fwd, g->port, g->carrier, pkts, 1);
	if (n == 0)
		return haul_sleep(NO_BUFFER_PAUSE);
	fwd_vlan_mark(g->port, pkts, n);
	for (uint16_t i = 0; i < n; i++) {
		err = haul_send(g->txq, pkts[i]);
		if (err) {
			rte_pktmbuf_free_bulk(pkts + i, n - i);
			break;
		}
	}
	g->left -= n;
	return err;
}

static void *generate(void *arg)
{
	struct generator *g = arg;

	while (g->left > 0 && send_some(g) == 0)
		;
	free(g);
	return NULL;
}

int generator_start(struct fwd *fwd, struct haul_app *app, uint64_t count)
{
	const struct haul_coro_opts opts = {.name = "generator", .pinned = true};
	struct generator *g;
	unsigned c, i;
	int err;

	for (c = 0; c < app->plan->carriers; c++) {
		for (i = 0; i < app->nb_ports; i++) {
			if (!haul_io_txq(app->io, i, c) || !fwd_topology_forwards(i))
				continue;
			g = malloc(sizeof(*g));
			if (!g)
				return -ENOMEM;
			*g = (struct generator){
				.txq = haul_io_txq(app->io, i, c),
				.fwd = fwd,
				.port = i,
				.carrier = c,
				.left = count ? count : UINT64_MAX,
			};
			err = haul_spawn_on(haul_carrier(app->rt, c), NULL, generate, g, &opts);
			if (err) {
				free(g);
				return err;
			}
		}
	}
	return 0;
}
