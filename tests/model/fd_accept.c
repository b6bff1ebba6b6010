/* SPDX-License-Identifier: BSD-3-Clause */
/* An accept against haul_fd_close(), after which another socket has the number: it asks the socket
 * whose O_NONBLOCK it has set, or a dead file. */
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fd_home.h"

static int kernel_fcntl(int fd, int cmd);
static int kernel_accept(int fd);
static int kernel_dup3(int from, int to, int flags);
static int kernel_close(int fd);

#define fcntl(fd, cmd, ...) kernel_fcntl(fd, cmd)
#define accept4(fd, addr, addrlen, flags) kernel_accept(fd)
#define dup3 kernel_dup3
#define close kernel_close
#define sched_yield() model_await(&m.kernel.slot.gate.word, 8, 0)

static struct {
	struct home home;
	struct kernel kernel;
	_Atomic(uint64_t) nonblocking; /* the files with O_NONBLOCK, a bit for each */
	_Atomic(uint64_t) began, ended; /* 1: the accept's first system call, its last */
} m;

#include "fd/connection.c"

int hauli_fd_dead_file(void)
{
	return 6;
}

static struct home *home_of_model(void)
{
	return &m.home;
}

static struct kernel *kernel_of_model(void)
{
	return &m.kernel;
}

/* What the kernel does is in no order that a fence of the program does not give. */
static uint64_t get(_Atomic(uint64_t) *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void set(_Atomic(uint64_t) *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

/* F_GETFD: of haul_fd_close(). */
static int kernel_fcntl(int fd, int cmd)
{
	uint64_t f = get(&m.kernel.file);

	if (cmd == F_GETFD)
		return 0;
	if (f == DEAD) {
		set(&m.ended, get(&m.began));
		errno = EBADF;
		return -1;
	}
	set(&m.began, 1);
	if (cmd == F_SETFL)
		atomic_fetch_or_explicit(&m.nonblocking, UINT64_C(1) << f, memory_order_relaxed);
	return 0;
}

static int kernel_accept(int fd)
{
	uint64_t f = get(&m.kernel.file);

	MODEL_ASSERT(
		f == DEAD || atomic_load_explicit(&m.nonblocking, memory_order_relaxed) >> f & 1);
	set(&m.ended, 1);
	errno = f == DEAD ? EBADF : EAGAIN;
	return -1;
}

static int kernel_dup3(int from, int to, int flags)
{
	set(&m.kernel.file, DEAD);
	return to;
}

static int kernel_close(int fd)
{
	MODEL_ASSERT(get(&m.began) == get(&m.ended));
	set(&m.kernel.file, NEW);
	return 0;
}

static void init(void)
{
	home_init(&m.home);
	kernel_init(&m.kernel, &m.home.c);
	hauli_gate_init(&m.kernel.slot.gate);
}

static void accepter(void)
{
	MODEL_ASSERT(hauli_fd_accept(&m.kernel.slot, FD, NULL, NULL, 0) == -1);
}

static void closer(void)
{
	MODEL_ASSERT(haul_fd_close(FD) == 0);
}

int main(int argc, char **argv)
{
	return model_main(argc, argv,
		&(struct model){.name = "fd: accept",
			.nb_threads = 2,
			.threads = {accepter, closer},
			.memory = &m,
			.size = sizeof(m),
			.init = init});
}
