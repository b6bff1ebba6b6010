/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains faults in PMDs. The signal handler calls async-signal-safe functions only. */
#include "port/fault.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "coro/overflow.h"
#include "port/fp_ops.h"
#include "port/kind.h"
#include "port/ports.h"

#define STACK_WORDS 512 /* of the searched frames, innermost first */
#define LIBRARY "/librte_"
#if defined(__x86_64__)
#define REGISTERS 16
#elif defined(__aarch64__)
#define REGISTERS 31
#endif

/* The state of the thread that faulted. */
struct fault_state {
	uintptr_t pc, caller; /* return address of a function without a frame */
	uintptr_t words[REGISTERS + STACK_WORDS]; /* registers, then the stack upwards */
	unsigned nb;
};

static void add_stack(struct fault_state *at, uintptr_t sp)
{
	struct iovec to = {at->words + at->nb, STACK_WORDS * sizeof(at->words[0])};
	struct iovec from = {(void *)sp, to.iov_len};
	/* Reads memory without a fault if it is not mapped. */
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

	if (n > 0)
		at->nb += (unsigned)((size_t)n / sizeof(at->words[0]));
}

static void read_state(struct fault_state *at, const ucontext_t *uc)
{
	const mcontext_t *m = &uc->uc_mcontext;

	at->nb = 0;
#if defined(__x86_64__)
	for (unsigned i = 0; i < REGISTERS; i++)
		at->words[at->nb++] = (uintptr_t)m->gregs[i];
	at->pc = (uintptr_t)m->gregs[REG_RIP];
	at->words[REGISTERS] = 0;
	add_stack(at, (uintptr_t)m->gregs[REG_RSP]);
	at->caller = at->words[REGISTERS];
#elif defined(__aarch64__)
	for (unsigned i = 0; i < REGISTERS; i++)
		at->words[at->nb++] = m->regs[i];
	at->pc = m->pc;
	at->caller = m->regs[30];
	add_stack(at, m->sp);
#endif
}

/* For a line "7f12a000-7f12b000 r-xp 00000000 fe:01 1234 /usr/lib/librte_net_memif.so.23": the part
 * from "net_memif" on if the mapping contains pc; else NULL. */
static const char *match_mapping(char *line, uintptr_t pc)
{
	uintptr_t ends[2] = {0, 0};
	const char *p = line;
	char *name;

	for (unsigned i = 0; i < 2; i++, p++) {
		for (; *p && *p != '-' && *p != ' '; p++)
			ends[i] = ends[i] << 4 | (uintptr_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
	}
	if (pc < ends[0] || pc >= ends[1])
		return NULL;
	name = strstr(line, LIBRARY);
	return name ? name + strlen(LIBRARY) : NULL;
}

/* Writes the name of DPDK's library that contains pc. */
static bool find_library(uintptr_t pc, char *library, size_t size)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	const char *name = NULL;
	char buf[1024], line[512];
	size_t len = 0;
	ssize_t n;

	while (!name && (n = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n && !name; i++) {
			if (buf[i] != '\n') {
				if (len < sizeof(line) - 1)
					line[len++] = buf[i];
				continue;
			}
			line[len] = '\0';
			len = 0;
			name = match_mapping(line, pc);
		}
	}
	if (fd >= 0)
		close(fd);
	library[0] = '\0';
	for (size_t i = 0; name && name[i] && name[i] != '.' && i < size - 1; i++) {
		library[i] = name[i];
		library[i + 1] = '\0';
	}
	return library[0];
}

static bool is_of(const struct haul_port *port, const char *library)
{
	const char *driver = port->kind->driver, *below = port->kind->dpdk_library;

	/* virtio-user's driver, net_virtio_user, is in librte_net_virtio. */
	if (strncmp(library, "net_", 4) == 0 && driver)
		return strncmp(driver, library, strlen(library)) == 0;
	return below && strcmp(below, library) == 0;
}

/* The first word from *at on that points to a queue of the port; at->nb if none does. */
static unsigned first_seen(const struct haul_port *port, const struct fault_state *at)
{
	for (unsigned i = 0; i < at->nb; i++) {
		for (unsigned q = 0; q < port->queues; q++) {
			struct haul_queue queue = haul_port_queue(port, q);
			const struct rte_eth_fp_ops *ops = hauli_fp_ops(queue.port_id);

			if (at->words[i] == (uintptr_t)ops->rxq.data[queue.queue_id] ||
				at->words[i] == (uintptr_t)ops->txq.data[queue.queue_id])
				return i;
		}
	}
	return at->nb;
}

static const struct haul_port *find_port(const struct fault_state *at, const char *library)
{
	const struct haul_port *found = NULL;
	unsigned best = 0;

	for (const struct haul_port *p = hauli_ports_open(); p; p = p->next) {
		bool may = is_of(p, library) && !p->detached;
		unsigned seen = may ? first_seen(p, at) : 0;

		if (!may || (found && seen >= best))
			continue;
		found = p;
		best = seen;
	}
	return found;
}

static void say(int sig, const struct haul_port *port, const char *library)
{
	const char *why = port->kind->shares_memory
		? "): the peer corrupted the shared memory, or the PMD has a bug; let only trusted "
		  "processes connect (mode= of the spec)\n"
		: "): the PMD has a bug, or a packet buffer was corrupted before\n";
	const char *parts[] = {"haul: port '", port->spec.text,
		"': ", sig == SIGBUS ? "SIGBUS" : "SIGSEGV", " in its PMD (librte_", library, why};
	struct iovec v[sizeof(parts) / sizeof(parts[0])];

	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		v[i] = (struct iovec){(void *)parts[i], strlen(parts[i])};
	if (writev(STDERR_FILENO, v, sizeof(v) / sizeof(v[0])) < 0)
		return; /* stderr is closed */
}

static bool explain(int sig, const void *uc)
{
	const struct haul_port *port;
	struct fault_state at;
	char library[64];

	read_state(&at, uc);
	if (!find_library(at.pc, library, sizeof(library)) &&
		!find_library(at.caller, library, sizeof(library)))
		return false;
	port = find_port(&at, library);
	if (port)
		say(sig, port, library);
	return port;
}

void hauli_fault_explain(void)
{
	hauli_overflow_explain_others(explain);
}
