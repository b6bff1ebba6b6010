/* SPDX-License-Identifier: BSD-3-Clause */
/* A pile: two threads add a node each, after a write; the owner takes twice meanwhile. It gets each
 * node once, with what its adder wrote, though one adder may have seen the other's node. */
#include "conc/pile.h"

#include "explorer.h"

struct item {
	struct hauli_node node;
	uint64_t written, taken;
};

static struct {
	struct hauli_pile pile;
	struct item items[2];
} m;

static void init(void)
{
}

static void add(struct item *item)
{
	item->written = 1;
	hauli_pile_add(&m.pile, &item->node);
}

static void first(void)
{
	add(&m.items[0]);
}

static void second(void)
{
	add(&m.items[1]);
}

static void take(void)
{
	struct hauli_node *node = hauli_pile_take(&m.pile);

	while (node) {
		struct item *item = (struct item *)node;

		node = node->next;
		MODEL_ASSERT(item->written == 1);
		item->taken++;
	}
}

static void owner(void)
{
	take();
	take();
}

static void check(void)
{
	take();
	MODEL_ASSERT(m.items[0].taken == 1);
	MODEL_ASSERT(m.items[1].taken == 1);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "pile",
			.nb_threads = 3,
			.threads = {first, second, owner},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
