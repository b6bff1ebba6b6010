/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As order.c, but the stolen coroutines need their home's thread in the midst of their slice: one
 * sends there, one ends there without sending. A third one is behind them.
 */
#define ORDER_COROS 3
#define ORDER_STOLEN 2
#define ORDER_BACK 1, 0
#define ORDER_DOES HOME_SENDS, HOME_DROPS, SENDS
#define ORDER_KEY 1
#define ORDER_NAME "order, slices that go on at home"
#include "order.c"
