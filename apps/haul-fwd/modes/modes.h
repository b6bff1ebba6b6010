/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of all modes. */
#ifndef FWD_MODES_MODES_H
#define FWD_MODES_MODES_H

#include "../mode.h"

#define FWD_MODE_TABLE(constant, table, name, help) \
	extern const struct fwd_mode_ops fwd_mode_##table;
FWD_MODE_LIST(FWD_MODE_TABLE)
#undef FWD_MODE_TABLE

#endif
