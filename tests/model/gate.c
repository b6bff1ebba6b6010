/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate: two threads pass through it, twice and once, while a third closes it. */
#include "conc/gate.h"

#include "explorer.h"

static struct {
	struct hauli_gate gate;
	uint64_t house; /* 1 while a thread may be inside; cleared after the close */
	uint64_t visits[2];
} m;

static void init(void)
{
	hauli_gate_init(&m.gate);
	m.house = 1;
}

static void visit(unsigned who)
{
	if (hauli_gate_enter(&m.gate)) {
		MODEL_ASSERT(m.house == 1);
		m.visits[who]++;
		hauli_gate_leave(&m.gate);
	}
}

static void visitor_0(void)
{
	visit(0);
	visit(0);
}

static void visitor_1(void)
{
	visit(1);
}

static void closer(void)
{
	hauli_gate_close(&m.gate);
	while (!hauli_gate_is_quiet(&m.gate))
		model_await(&m.gate.word, 8, 1);
	m.house = 0;
	MODEL_ASSERT(m.visits[0] <= 2 && m.visits[1] <= 1);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "gate",
			.nb_threads = 3,
			.threads = {closer, visitor_0, visitor_1},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
