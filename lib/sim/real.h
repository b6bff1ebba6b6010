/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the C library that lib/sim replaces. */
#ifndef HAULI_SIM_REAL_H
#define HAULI_SIM_REAL_H

#include <dlfcn.h>
#include <stdint.h>

#define HAULI_SIM_REPLACED __attribute__((visibility("default")))

/* libc's function of that name, found at the first call. */
#define HAULI_SIM_REAL(name)                                                              \
	(__extension__({                                                                  \
		static __typeof__(name) *hauli_sim_fn;                                    \
		if (!hauli_sim_fn)                                                        \
			hauli_sim_fn = (__typeof__(hauli_sim_fn))dlsym(RTLD_NEXT, #name); \
		hauli_sim_fn;                                                             \
	}))

/* CLOCK_MONOTONIC. */
uint64_t hauli_sim_real_ns(void);

#endif
