/* SPDX-License-Identifier: BSD-3-Clause */
/* A placement plan as JSON. */
#include "report.h"

static void add_place(struct haul_app_json *places, const struct haul_plan *plan, unsigned i)
{
	const struct haul_place *place = &plan->places[i];
	struct haul_app_json *object = haul_app_json_object(places, NULL), *nearest;
	unsigned others = plan->carriers - 1;

	haul_app_json_number(object, "id", i);
	haul_app_json_number(object, "cpu", place->cpu);
	haul_app_json_number(object, "core", place->core);
	haul_app_json_number(object, "node", place->node);
	haul_app_json_number(object, "cluster", place->cluster);
	haul_app_json_bool(object, "smt", place->smt);
	nearest = haul_app_json_array(object, "nearest");
	for (unsigned k = 0; k < others; k++)
		haul_app_json_number(nearest, NULL, plan->by_distance[(size_t)i * others + k]);
}

void doctor_plan_json(struct haul_app_json *to, const struct haul_plan *plan)
{
	struct haul_app_json *places = haul_app_json_array(to, "carriers");

	for (unsigned i = 0; i < plan->carriers; i++)
		add_place(places, plan, i);
	haul_app_json_number(to, "clusters", plan->clusters);
	haul_app_json_text(to, "notice", plan->notice);
}
