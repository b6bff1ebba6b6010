/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults: haul's calls for memory, threads and descriptors, of which the N-th fails, or all from
 * the N-th on. faults.c has what such a call is. A program links it by the linker's --wrap, so that
 * calls within other libraries are left alone, and a sanitizer's own functions are found.
 */
#ifndef HAUL_TESTS_FAULTS_H
#define HAUL_TESTS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

struct faults {
	unsigned nth; /* counted from 1, in all threads; 0: none */
	bool lasts; /* the later ones fail, too */
	const char *only; /* calls of this name count; NULL: all */
};

/* From now on, until faults_disarm(). */
void faults_arm(struct faults f);

/* Returns the number of calls that have failed; the last one's name is in *name. */
unsigned faults_disarm(const char **name);

/* From now on haul can map only so many bytes at once; 0: any number. */
void faults_limit(size_t bytes);

/* Bytes that haul has mapped and not unmapped. */
size_t faults_mapped(void);

#endif
