/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of dpdk-testpmd that haul-fwd does not have. */
#ifndef FWD_PROMPT_ABSENT_H
#define FWD_PROMPT_ABSENT_H

/* Why it has none with the first words of this line; NULL: testpmd has none either, or haul-fwd has
 * it in another form. */
const char *fwd_absent(const char *line);

#endif
