/* SPDX-License-Identifier: BSD-3-Clause */
/* From the path of a request to the name of a file. */
#ifndef HTTP_PATH_H
#define HTTP_PATH_H

#include <sys/types.h>

#include "chars.h"

/*
 * Decodes %XX, and removes empty segments, "." and "..". The name is relative and ends with a NUL;
 * it is empty for the root, and ends with '/' where the path does, or where it ends with "." or
 * "..". Returns its length, or the negative status of the response: -400 if the path leads above
 * the root, or has a NUL; -404 if it has a %2F, which no file's name has, or a segment that begins
 * with '.', other than .well-known as the first; -414 if the name takes more than max bytes.
 */
ssize_t http_path_decode(struct http_str path, char *name, size_t max);

#endif
