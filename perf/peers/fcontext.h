/* SPDX-License-Identifier: BSD-3-Clause */
/* The C symbols of Boost.Context's switch, whose own header is C++ only. */
#ifndef PERF_PEERS_FCONTEXT_H
#define PERF_PEERS_FCONTEXT_H

#include <stddef.h>

struct fcontext_transfer {
	void *from; /* the context that was left */
	void *data;
};

struct fcontext_transfer jump_fcontext(void *to, void *data);

/* A context that starts with entry({jumper, data}), on the stack with this upper end. */
void *make_fcontext(void *hi, size_t size, void (*entry)(struct fcontext_transfer));

#endif
