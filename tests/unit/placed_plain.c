/* SPDX-License-Identifier: BSD-3-Clause */
#include "placed_plain.h"

void placed_plain(void (*fn)(void))
{
	fn();
	__asm__ volatile(""); /* so that the call is no jump */
}
