/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that a shared library imports from others. */
#ifndef HAULI_LINUX_IMPORTS_H
#define HAULI_LINUX_IMPORTS_H

#include <stdbool.h>

/* Makes the loaded libraries whose file name contains library call fn where they call the imported
 * function name. fn has its type. False: none of them imports it (they may be linked statically),
 * or the kernel does not let their tables be written. Repeated calls are harmless. */
bool hauli_imports_replace(const char *library, const char *name, void (*fn)(void));

#endif
