/* SPDX-License-Identifier: BSD-3-Clause */
/* A gate that is closed, and opened again when the house behind it has changed, while two threads
 * come by. */
#include "conc/gate.h"

#include "explorer.h"

static struct {
	struct hauli_gate gate;
	uint64_t house; /* 1, and 2 after the change */
} m;

static void init(void)
{
	hauli_gate_init(&m.gate);
	m.house = 1;
}

static void visitor(void)
{
	if (!hauli_gate_enter(&m.gate))
		return;
	MODEL_ASSERT(m.house == 1 || m.house == 2);
	hauli_gate_leave(&m.gate);
}

static void keeper(void)
{
	hauli_gate_close(&m.gate);
	while (!hauli_gate_is_quiet(&m.gate))
		model_await(&m.gate.word, 8, 1);
	m.house = 0;
	m.house = 2;
	hauli_gate_open(&m.gate);
}

static void check(void)
{
	MODEL_ASSERT(hauli_gate_is_empty(&m.gate) && m.house == 2);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "a gate that opens again",
			.nb_threads = 3,
			.threads = {keeper, visitor, visitor},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
