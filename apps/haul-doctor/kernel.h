/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading what the kernel writes in small files. */
#ifndef DOCTOR_KERNEL_H
#define DOCTOR_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first line of the file, without its end; false, and "", when there is none. */
__attribute__((format(printf, 3, 4))) bool kernel_line(
	char *line, size_t size, const char *path, ...);

/* The number that the file begins with; -1 when there is none. */
__attribute__((format(printf, 1, 2))) int64_t kernel_number(const char *path, ...);

/* What follows "key:" in a file of such lines; false when it is not there. */
bool kernel_field(char *value, size_t size, const char *path, const char *key);

/* Whether word is one of those between blanks in text. */
bool kernel_has_word(const char *text, const char *word);

/* Limits of this process's cgroup and of those above it, of either version. */
double kernel_cgroup_cpus(void); /* CPUs' worth of time; 0: no limit */
uint64_t kernel_cgroup_memory_left(void); /* bytes; UINT64_MAX: no limit */

#endif
