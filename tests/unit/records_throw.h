/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HAUL_TESTS_RECORDS_THROW_H
#define HAUL_TESTS_RECORDS_THROW_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

bool record_catches(void); /* an exception, in itself */
void record_throws(void); /* one that nobody catches */

#ifdef __cplusplus
}
#endif

#endif
