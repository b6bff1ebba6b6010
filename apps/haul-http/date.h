/* SPDX-License-Identifier: BSD-3-Clause */
/* Dates of fields (RFC 9110, 5.6.7), as seconds since 1970. */
#ifndef HTTP_DATE_H
#define HTTP_DATE_H

#include "chars.h"

enum { HTTP_DATE_LENGTH = 29 };

/* "Sun, 06 Nov 1994 08:49:37 GMT", without a NUL. Years 0 to 9999. */
void http_date_print(char text[HTTP_DATE_LENGTH], int64_t seconds);

/* All three forms that the RFC asks for; now is for that with a year of two digits. Returns false
 * if it is none of them, or no date. */
bool http_date_parse(struct http_str text, int64_t now, int64_t *seconds);

#endif
