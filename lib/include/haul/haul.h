/* SPDX-License-Identifier: BSD-3-Clause */
/* All of haul's public headers but haul/fd.h, which brings those of sockets. What holds for all
 * functions is in docs/guide/conventions.md. */
#ifndef HAUL_HAUL_H
#define HAUL_HAUL_H

#include <haul/base.h>
#include <haul/build.h>
#include <haul/carrier.h>
#include <haul/coro.h>
#include <haul/driver.h>
#include <haul/hist.h>
#include <haul/look.h>
#include <haul/net.h>
#include <haul/offload.h>
#include <haul/placed.h>
#include <haul/runtime.h>
#include <haul/scope.h>
#include <haul/sometimes.h>
#include <haul/sum.h>
#include <haul/sync.h>
#include <haul/topo.h>
#include <haul/trace.h>
#include <haul/version.h>

#endif
