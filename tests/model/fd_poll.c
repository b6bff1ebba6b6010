/* SPDX-License-Identifier: BSD-3-Clause */
/* A read against the arrival of data, and a deadline or a cancel: it is not missed, and the last
 * that waits leaves no poll behind. */
#if defined(OTHERS)
#define BEHIND ", behind another of the home"
#else
#define BEHIND ""
#endif

#include "fd_home.h"

static struct {
	struct home home;
	struct kernel kernel;
} m;

static struct home *home_of_model(void)
{
	return &m.home;
}

static struct kernel *kernel_of_model(void)
{
	return &m.kernel;
}

static void init(void)
{
	home_init(&m.home);
	kernel_init(&m.kernel, &m.home.c);
	if (OTHERS)
		others_enter(&m.home);
}

static void waiter(void)
{
	int n = kernel_read(&m.home);

	MODEL_ASSERT(n == OLD || (!LASTS && n == ENDED));
	others_end(&m.home);
	home_end();
}

static void sender(void)
{
	atomic_fetch_or_explicit(&m.kernel.readable, 1 << OLD, memory_order_seq_cst);
	kernel_tells(OLD);
}

static void check(void)
{
	kernel_check(&m.kernel);
}

int main(int argc, char **argv)
{
	return model_of(
		argc, argv, "fd: poll" ENDS BEHIND, &m, sizeof(m), init, waiter, sender, check);
}
