/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As order.c, but two coroutines yield at home in the midst of their slice, as placed.c lets them:
 * one sends after that, one ends without sending. What is behind them may be stolen meanwhile.
 */
#define ORDER_COROS 3
#define ORDER_STOLEN 1
#define ORDER_BACK 0
#define ORDER_DOES YIELDS_SENDS, YIELDS_DROPS, SENDS
#define ORDER_KEY 1
#define ORDER_NAME "order, slices that yield"
#include "order.c"
