/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of the user or the kernel as JSON. */
#ifndef APP_TEXT_H
#define APP_TEXT_H

#include <jansson.h>

/* JSON is UTF-8, but paths and interface names may contain any byte: each byte that is not part of
 * a UTF-8 character becomes U+FFFD. Returns a new reference. */
json_t *app_json_text(const char *text);

#endif
