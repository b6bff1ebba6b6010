/* SPDX-License-Identifier: BSD-3-Clause */
#include "counts.h"

const char *http_limit_name(enum http_limit limit)
{
	static const char *const names[] = {
		[HTTP_LIMIT_IDLE] = "idle",
		[HTTP_LIMIT_HEAD_TIME] = "head",
		[HTTP_LIMIT_LINE] = "line",
		[HTTP_LIMIT_FIELDS] = "fields",
		[HTTP_LIMIT_BODY] = "body",
		[HTTP_LIMIT_TRANSFER] = "transfer",
		[HTTP_LIMIT_STOP] = "stop_time",
	};

	return names[limit];
}
