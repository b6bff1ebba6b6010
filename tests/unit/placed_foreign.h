/* SPDX-License-Identifier: BSD-3-Clause */
/* What the compiler is told is another's header; for placed.c. */
#ifndef PLACED_FOREIGN_H
#define PLACED_FOREIGN_H

static inline void foreign_inline_hog(void)
{
	while (!hog_may_end())
		;
}

#endif
