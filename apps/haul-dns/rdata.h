/* SPDX-License-Identifier: BSD-3-Clause */
/* Data of records, whose names may be compressed (RFC 3597, 4). */
#ifndef DNS_RDATA_H
#define DNS_RDATA_H

#include "out.h"

/* Copies the data of a record of msg, and writes its names again: compressed only if the type is
 * one of RFC 1035. Data of a wrong form is an error of -EBADMSG; of types not known it is
 * copied. */
int dns_rdata_copy(struct dns_out *o, const uint8_t *msg, size_t n, const struct dns_record *r);

#endif
