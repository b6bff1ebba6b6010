/* SPDX-License-Identifier: BSD-3-Clause */
/* Text from outside in JSON: what the user typed, names that the kernel has. */
#ifndef APP_TEXT_H
#define APP_TEXT_H

#include <jansson.h>

/* JSON is UTF-8, and a path or an interface's name may be anything: a byte that is none becomes
 * U+FFFD. */
json_t *app_json_text(const char *text);

#endif
