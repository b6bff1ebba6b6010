/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK's environment on behalf of a haul program: from a placement plan to running lcores. */
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
	/* Carrier i becomes lcore i; the calling thread the main lcore. */
	const struct haul_plan *plan;
	unsigned mem_mb; /* 0: 512; see haul_pool_mem_mb() */
	/* The user's own EAL arguments, after ours. Those about lcores are refused, and words that
	 * belong to no option; those about memory, devices and the file prefix replace ours. Valid
	 * until haul_eal_fini(). */
	char *const *args;
	int nb_args;
	bool pci; /* for ports pci:; false: --no-pci */
	bool verbose; /* let EAL log at its own level; false: warnings and above */
	/*
	 * What haul_eal_init() does when another program takes the huge pages before EAL maps them.
	 * EAL can be started only once in a process. true: haul executes the program again, from
	 * main(), in the same process, without huge pages. So set it only if the program has read
	 * nothing, written nothing and made no thread before haul_eal_init(). false: -EAGAIN.
	 */
	bool restartable;
};

/*
 * Initialises EAL: composes --lcores from the plan, takes huge pages when enough are free and
 * --no-huge when not. The calling thread becomes the main lcore, which is no carrier: it floats
 * over those of the thread's CPUs that no carrier has, or over all of them if carriers have all.
 * Once per process. What other threads print to stdout and stderr meanwhile is lost. 0, or one line
 * in errbuf and:
 *	-EINVAL		no plan or none in it, arguments, carriers
 *	-EPERM		threads cannot be bound
 *	-EMFILE		too few descriptors
 *	-EAGAIN		too few threads; another program took the huge pages (see restartable)
 *	-ENOMEM, -EALREADY, or what EAL failed with
 */
HAUL_API int haul_eal_init(const struct haul_eal_opts *opts, char *errbuf, size_t errlen);

/* "", or one line for the user: why EAL's memory is not huge pages although the machine has some.
 * Valid until haul_eal_fini(). */
HAUL_API const char *haul_eal_notice(void);

/* Ends EAL. Called by the thread that started it, after all ports are closed and all pools are
 * freed. Does nothing if EAL does not run, and in a child of fork(). */
HAUL_API void haul_eal_fini(void);

/*
 * For a program that has initialised EAL itself: a plan whose carriers are EAL's worker lcores, on
 * the CPUs that they have. Lcores with a CPU of their own come first, in their order; then those
 * that float or share a CPU. 0, -ENODEV (no EAL, no worker lcore), -ENOMEM. The caller frees *plan
 * by haul_plan_destroy().
 */
HAUL_API int haul_eal_attach(struct haul_plan **plan, char *errbuf, size_t errlen);

/* The launcher for haul_runtime_opts, which runs each carrier of such a plan on its lcore. Valid
 * after either of the above, until EAL ends; for one runtime at a time (-EBUSY). */
HAUL_API const struct haul_launcher *haul_eal_launcher(void);

/* True if EAL runs and has its memory in huge pages. */
HAUL_API bool haul_eal_has_hugepages(void);

#ifdef __cplusplus
}
#endif

#endif
