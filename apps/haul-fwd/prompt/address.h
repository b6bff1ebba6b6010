/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses that commands give to ports. */
#ifndef FWD_PROMPT_ADDRESS_H
#define FWD_PROMPT_ADDRESS_H

/* The device of the port was opened: it has its own address only. */
void fwd_addresses_begin(unsigned port);

#endif
