/* SPDX-License-Identifier: BSD-3-Clause */
/* Coroutines that generate frames: sending as plain blocking code. */
#include "generator.h"

#include <errno.h>
#include <stdlib.h>

#include "modes/txonly.h"
#include "vlan.h"

/* Between attempts while the pool is empty. */
#define NO_BUFFER_PAUSE (100 * HAUL_US)

struct generator {
	struct haul_txq *txq;
	const struct fwd *fwd;
	unsigned port, carrier;
	uint64_t left;
};

/* Returns 0 or -ECANCELED. */
static int send_one(struct generator *g)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(g->fwd->pool);
	int err;

	if (!pkt || !fwd_txonly_fill(g->fwd, g->port, g->carrier, pkt)) {
		rte_pktmbuf_free(pkt);
		return haul_sleep(NO_BUFFER_PAUSE);
	}
	fwd_vlan_mark(g->port, &pkt, 1);
	err = haul_send(g->txq, pkt);
	if (err)
		rte_pktmbuf_free(pkt);
	else
		g->left--;
	return err;
}

static void *generate(void *arg)
{
	struct generator *g = arg;

	while (g->left > 0 && send_one(g) == 0)
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
			if (!haul_io_txq(app->io, i, c))
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
