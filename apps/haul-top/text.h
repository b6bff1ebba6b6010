/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and times in few characters, and texts of others that are safe to print. */
#ifndef TOP_TEXT_H
#define TOP_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Replaces all that is not printable ASCII by '?'. */
void top_text_clean(char *text);

/* At most 5 characters: "0", "0.25", "999", "1.23k", "45.6M", "789G"; "-" for NaN. Below 0: "-". */
void top_text_number(char *buf, size_t len, double n);

/* At most 6 characters: "0", "90ns", "1.23ms", "45.6s", "12min", "3.4h", "120d". */
void top_text_time(char *buf, size_t len, uint64_t ns);

/* "4d 01:02:03", without days if there are none. */
void top_text_clock(char *buf, size_t len, uint64_t seconds);

#endif
