/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLACED_PLAIN_H
#define PLACED_PLAIN_H

/* Calls fn. Compiled without the plugin, as a library's function would be. */
void placed_plain(void (*fn)(void));

#endif
