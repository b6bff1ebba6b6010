/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads small files of the kernel in /proc and /sys. */
#ifndef DOCTOR_KERNEL_H
#define DOCTOR_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stores the first line of the file, without newline. On an error stores "" and returns false. */
__attribute__((format(printf, 3, 4))) bool kernel_line(
	char *line, size_t size, const char *path, ...);

/* Returns the number at the start of the file; -1 if there is none. */
__attribute__((format(printf, 1, 2))) int64_t kernel_number(const char *path, ...);

/* Stores the value of "key: value" in a file of such lines. Returns false if there is no such
 * key. */
bool kernel_field(char *value, size_t size, const char *path, const char *key);

/* True if text, a list of words with blanks between, contains word. */
bool kernel_has_word(const char *text, const char *word);

/* True if a CPU list in the kernel's format, "0,2-3", contains cpu. */
bool kernel_in_list(const char *list, int cpu);

#endif
