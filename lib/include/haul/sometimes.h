/* SPDX-License-Identifier: BSD-3-Clause */
/* Places that are taken now and then in a simulation, and never in production. */
#ifndef HAUL_SOMETIMES_H
#define HAUL_SOMETIMES_H

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * HAUL_SOMETIMES("slow disk") is false, a constant, and so is what depends on it: no instruction
 * remains. In a program that is compiled for simulation (pkg-config haul-sim, which gives
 * -DHAUL_SIMULATED) it is true now and then, by the seed: the seed draws which names are taken in
 * this run, and how often. It is for what may happen, but rarely does: a cache that misses, a queue
 * that is full, a retry that is due early.
 *
 *	if (HAUL_SOMETIMES("full queue") || queue_is_full(q))
 *		return -ENOBUFS;
 *
 * Any thread; does not suspend. name: a constant text.
 */
#ifdef HAUL_SIMULATED
bool haul_sometimes_(const char *name);
#define HAUL_SOMETIMES(name) haul_sometimes_("" name)
#else
#define HAUL_SOMETIMES(name) ((void)"" name, false)
#endif

#ifdef __cplusplus
}
#endif

#endif
