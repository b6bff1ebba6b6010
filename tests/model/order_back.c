/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As order.c, but the thief never runs the second stolen coroutine, which ends without sending: the
 * home takes it back and runs it, before or after the coroutines behind it.
 */
#define ORDER_COROS 3
#define ORDER_STOLEN 2
#define ORDER_LEFT 1
#define ORDER_BACK 0, 1
#define ORDER_DOES SENDS, DROPS, SENDS
#define ORDER_KEY 1
#define ORDER_NAME "order, taken back"
#include "order.c"
