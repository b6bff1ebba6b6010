/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK's EAL for a haul program: starts it with one lcore for each carrier of a placement plan. */
#ifndef HAUL_DPDK_EAL_H
#define HAUL_DPDK_EAL_H

#include <rte_mempool.h>

#include <haul/base.h>
#include <haul/runtime.h>
#include <haul/topo.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_eal_opts {
	const char *program; /* NULL: "haul" */
	/* Carrier i will run on lcore i; the calling thread becomes the main lcore. */
	const struct haul_plan *plan;
	unsigned mem_mb; /* EAL's memory, in MiB; 0: 512; see haul_pool_mem_mb() */
	/* The user's own EAL arguments, appended to haul's. Arguments about memory, devices and the
	 * file prefix replace haul's. Errors are arguments about lcores, another --proc-type than
	 * primary, and words that belong to no option. The caller keeps the strings, valid until
	 * haul_eal_fini(). */
	char *const *args;
	int nb_args;
	bool pci; /* probe PCI devices, for ports pci:; false: --no-pci */
	bool verbose; /* EAL logs at its default level; false: warnings and errors only */
	/*
	 * For the case that another program takes the huge pages while EAL starts, after which EAL
	 * cannot start again in this process. true: haul_eal_init() executes the program again
	 * from main(), in the same process, without huge pages; so set it only if the program has
	 * not read or written anything, or made threads, before haul_eal_init(). false:
	 * haul_eal_init() returns -EAGAIN.
	 */
	bool restartable;
};

/*
 * Starts EAL, once in a process, with lcores from the plan, and with huge pages if enough are free
 * (else --no-huge). The calling thread becomes the main lcore, which is no carrier: it floats over
 * those of its CPUs that have no carrier, or over all of them if each has one. Output of other
 * threads to stdout and stderr during the call is lost. Any thread; it blocks. Returns 0, or errbuf
 * gets one line and it returns:
 *	-EINVAL		no plan or an empty one, wrong arguments, too many carriers
 *	-EPERM		threads cannot be bound to CPUs; arguments that a program with more
 *			privileges than its user (setcap) refuses: they load code or name files
 *	-EMFILE		too few file descriptors
 *	-EAGAIN		too few threads; another program took the huge pages (see restartable)
 *	-ERANGE		more memory than is free, where there are no huge pages
 *	-ENOMEM, -EALREADY, or an error of EAL
 * Since DPDK 25.11 EAL ends the program, with status 234, if it does not know an argument, or one
 * without its value, or one given twice. The line is then printed to stderr.
 */
HAUL_API int haul_eal_init(const struct haul_eal_opts *opts, char *errbuf, size_t errlen);

/* One line for the user if the machine has huge pages and EAL runs without: the reason. Else "".
 * EAL owns it, until haul_eal_fini(). */
HAUL_API const char *haul_eal_notice(void);

/* Ends EAL. Called by the thread that called haul_eal_init(), after all ports are closed and all
 * pools freed. Does nothing if EAL is not running, or in a child of fork(). */
HAUL_API void haul_eal_fini(void);

/*
 * For a program that starts EAL itself: makes a plan with a carrier for each worker lcore, on the
 * CPU of that lcore. Lcores with a CPU of their own come first, sorted by number, then those that
 * float or share a CPU. The thread that started EAL. Returns 0; -ENODEV (EAL is not running, or has
 * no worker lcore) or -ENOMEM, with one line in errbuf. The caller frees *plan by
 * haul_plan_destroy().
 */
HAUL_API int haul_eal_attach(struct haul_plan **plan, char *errbuf, size_t errlen);

/* The launcher for haul_runtime_opts that runs carrier i of the plan on its lcore. Valid from
 * haul_eal_init() or haul_eal_attach() until EAL ends, for one runtime at a time: haul_start() of a
 * second one returns -EBUSY. */
HAUL_API const struct haul_launcher *haul_eal_launcher(void);

/* Megabytes of memory that this process may still take: of the machine's, including swap, and of
 * its cgroups' (haul_cgroup_memory()). ULONG_MAX if the kernel does not tell. Any thread, also
 * without EAL. */
HAUL_API unsigned long haul_memory_free_mb(void);

#ifdef __cplusplus
}
#endif

#endif
