/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of options: from text, and to text. */
#ifndef HAULI_APP_OPTIONS_VALUE_H
#define HAULI_APP_OPTIONS_VALUE_H

#include <haul-app/options.h>

/* False: text is no such value, and *to stays. */
bool hauli_number_parse(uint64_t *to, const char *text);
bool hauli_time_parse(uint64_t *to, const char *text); /* as HAUL_APP_TIME */
bool hauli_choice_parse(unsigned *to, const char *choices, const char *text);

/* "90ms", for people to read. */
void hauli_time_text(char *buf, size_t len, uint64_t ns);

#endif
