/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The version of haul: of these headers by macros, of the library by a call. While the major number
 * is 0, programs need not run with a library of another minor number (libhaul.so.0.1, .0.2, ...).
 */
#ifndef HAUL_VERSION_H
#define HAUL_VERSION_H

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* meson.build has the same version, or refuses to build. */
#define HAUL_VERSION_MAJOR 0
#define HAUL_VERSION_MINOR 1
#define HAUL_VERSION_PATCH 0

/* A number that grows with the version: #if HAUL_VERSION >= HAUL_VERSION_NUM(0, 1, 0). Each part is
 * at most 255. */
#define HAUL_VERSION_NUM(major, minor, patch) ((major) << 16 | (minor) << 8 | (patch))
#define HAUL_VERSION HAUL_VERSION_NUM(HAUL_VERSION_MAJOR, HAUL_VERSION_MINOR, HAUL_VERSION_PATCH)

/* The version of the library that the program runs with, such as "0.1.0". Any thread. Does not
 * suspend. */
HAUL_API const char *haul_version(void);

#ifdef __cplusplus
}
#endif

#endif
