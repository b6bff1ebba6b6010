/* SPDX-License-Identifier: BSD-3-Clause */
#define LASTS 1
#include "sync_chan_send.c"
