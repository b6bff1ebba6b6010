/* SPDX-License-Identifier: BSD-3-Clause */
/* The clients that may ask: prefixes that are allowed or denied, of which the longest counts. */
#ifndef DNS_ACL_H
#define DNS_ACL_H

#include "address.h"

struct dns_acl;

/*
 * text: prefixes, separated by blanks, commas or line ends; "!" in front denies; '#' begins a
 * comment: "10.0.0.0/8, !10.6.6.0/24". What no prefix has is denied. Returns 0; -EINVAL (*wrong is
 * the offset of a word that is no prefix, or is there twice), -E2BIG (more than 65,535), -ENOMEM.
 */
int dns_acl_parse(struct dns_acl **acl, const char *text, size_t n, size_t *wrong);
void dns_acl_free(struct dns_acl *acl);

/* Any thread. */
bool dns_acl_allows(const struct dns_acl *acl, const struct haul_addr *address);

#endif
