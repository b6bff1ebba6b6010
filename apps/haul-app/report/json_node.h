/* SPDX-License-Identifier: BSD-3-Clause */
/* What haul_app_json is for those who read it. */
#ifndef HAULI_APP_REPORT_JSON_NODE_H
#define HAULI_APP_REPORT_JSON_NODE_H

#include <jansson.h>

#include <haul-app/json.h>

static inline const json_t *hauli_json_node(const struct haul_app_json *json)
{
	return (const json_t *)json;
}

#endif
