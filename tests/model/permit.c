/* SPDX-License-Identifier: BSD-3-Clause */
/* A permit: one thread gives it twice, each time after a write; another thread takes it meanwhile,
 * and sees the writes that came before the permit, or finds the permit again. */
#include "conc/word.h"

#include "explorer.h"

static struct {
	struct hauli_permit permit;
	uint64_t first; /* written before the first permit */
	_Atomic uint64_t second;
	uint64_t taken, seen;
} m;

static void init(void)
{
	atomic_init(&m.permit.given, false);
}

static void giver(void)
{
	m.first = 1;
	hauli_permit_give(&m.permit);
	atomic_store_explicit(&m.second, 1, memory_order_relaxed);
	hauli_permit_give(&m.permit);
}

static void taker(void)
{
	m.taken = hauli_permit_take_remote(&m.permit);
	if (m.taken)
		MODEL_ASSERT(m.first == 1);
	m.seen = atomic_load_explicit(&m.second, memory_order_relaxed);
}

static void check(void)
{
	/* A permit that the taker has not seen is still there for its next park. */
	MODEL_ASSERT(m.seen || hauli_permit_is_given(&m.permit));
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "permit",
			.nb_threads = 2,
			.threads = {giver, taker},
			.memory = &m,
			.size = sizeof(m),
			.init = init,
			.check = check});
}
