/* SPDX-License-Identifier: BSD-3-Clause */
/* As order.c, but the first one, which may be stolen, sends twice in a slice; the second one waits
 * for it. */
#define ORDER_COROS 2
#define ORDER_STOLEN 1
#define ORDER_BACK 0
#define ORDER_DOES TWICE, SENDS
#define ORDER_KEY 1
#define ORDER_NAME "order, two packets of a slice"
#include "order.c"
