/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * haul-dns: carriers that send answers to one network. Two pay for two each, of which the account
 * has three; a third one makes an account in the same set.
 */
#include "../../apps/haul-dns/rrl.c"

#include "explorer.h"

enum { NETWORK = 5, OTHER = 7, NOW = SECOND };

static struct {
	struct set set;
	struct hauli_u64_shared sent;
} m;

/* Three answers a second. */
static const struct dns_rrl rrl = {.most = 2 * SECOND};

static bool pays(uint64_t tag)
{
	return pay(&rrl, &m.set, tag, SECOND / 4, NOW);
}

static void init(void)
{
	pays(NETWORK); /* of four */
}

static void carrier(void)
{
	for (int i = 0; i < 2; i++)
		if (pays(NETWORK))
			hauli_u64_shared_add(&m.sent, 1);
}

static void stranger(void)
{
	MODEL_ASSERT(pays(OTHER));
}

static void check(void)
{
	unsigned accounts = 0;

	for (int i = 0; i < WAYS; i++)
		accounts += hauli_u64_shared_get(&m.set.ways[i]) >> TIME_BITS == NETWORK;
	MODEL_ASSERT(accounts == 1 && hauli_u64_shared_get(&m.sent) == 3);
	/* All have paid. */
	MODEL_ASSERT(lacks(&rrl, hauli_u64_shared_get(&m.set.ways[0]), NOW) == 5 * SECOND / 4);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "carriers that share a rate",
			.nb_threads = 3,
			.threads = {carrier, carrier, stranger},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
