/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As order.c, with three stolen: the second one waits for the first one, which ends without
 * sending, and the third one comes back when the second one may enter and has not run.
 */
#define ORDER_COROS 3
#define ORDER_STOLEN 3
#define ORDER_BACK 1, 0, 2
#define ORDER_DOES DROPS, SENDS, SENDS
#define ORDER_KEY 1
#define ORDER_NAME "order, three stolen"
#include "order.c"
