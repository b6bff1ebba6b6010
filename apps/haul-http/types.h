/* SPDX-License-Identifier: BSD-3-Clause */
/* Media types by the ends of files' names. */
#ifndef HTTP_TYPES_H
#define HTTP_TYPES_H

/* Never NULL. */
const char *http_type_of(const char *name);

#endif
