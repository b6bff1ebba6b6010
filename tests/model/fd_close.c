/* SPDX-License-Identifier: BSD-3-Clause */
/* A read against haul_fd_close(), after which another file has the number, and a deadline or a
 * cancel: the read ends, and no poll of the closed file is left. */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#if defined(OTHERS)
#define BEHIND ", behind others of the home"
#else
#define BEHIND ""
#endif

#include "fd_home.h"

static int kernel_dup3(int from, int to, int flags);
static int kernel_close(int fd);

#define fcntl(...) 0
#define dup3 kernel_dup3
#define close kernel_close
#include "fd/connection.c"

int hauli_fd_dead_file(void)
{
	return 6;
}

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

static int kernel_dup3(int from, int to, int flags)
{
	atomic_store_explicit(&m.kernel.file, DEAD, memory_order_seq_cst);
	return to;
}

/* Another thread opens a file. */
static int kernel_close(int fd)
{
	atomic_store_explicit(&m.kernel.file, NEW, memory_order_seq_cst);
	return 0;
}

static void init(void)
{
	home_init(&m.home);
	kernel_init(&m.kernel, &m.home.c);
	atomic_init(&m.kernel.readable, OTHERS ? 1 << OLD : 1 << NEW);
	if (OTHERS)
		others_enter(&m.home);
}

static void waiter(void)
{
	int n = kernel_read(&m.home);

	MODEL_ASSERT(n == -EBADF || n == (OTHERS ? OLD : NEW) || (!LASTS && n == ENDED));
	others_end(&m.home);
	home_end();
}

static void closer(void)
{
	MODEL_ASSERT(haul_fd_close(FD) == 0);
}

static void check(void)
{
	kernel_check(&m.kernel);
	MODEL_ASSERT(hauli_fd_closes(&m.kernel.slot.q[HAULI_FD_IN]) == HAULI_WAITQ_UNIT);
}

int main(int argc, char **argv)
{
	return model_of(
		argc, argv, "fd: close" ENDS BEHIND, &m, sizeof(m), init, waiter, closer, check);
}
