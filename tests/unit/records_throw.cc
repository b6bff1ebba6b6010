/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of records_stack.c that throw. */
#include <stdexcept>

#include "records_throw.h"

namespace
{

struct counts {
	unsigned &n;
	~counts() { n++; }
};

__attribute__((noinline)) void throws(unsigned &unwound)
{
	counts one{unwound};

	/* With a frame pointer: a throw restores it before it leaves. */
	asm volatile("" : : "r"(__builtin_frame_address(0)));
	throw std::runtime_error("a handler's");
}

} // namespace

bool record_catches(void)
{
	unsigned unwound = 0;

	try {
		throws(unwound);
	} catch (const std::runtime_error &) {
		return unwound == 1;
	}
	return false;
}

void record_throws(void)
{
	unsigned unwound = 0;

	throws(unwound);
}
