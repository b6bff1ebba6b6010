/* SPDX-License-Identifier: BSD-3-Clause */
/* A placement plan as JSON. */
#include "report.h"

static json_t *place_json(const struct haul_plan *plan, unsigned i)
{
	const struct haul_place *place = &plan->places[i];
	unsigned others = plan->carriers - 1;
	json_t *object = json_object(), *nearest = json_array();

	json_object_set_new(object, "id", json_integer(i));
	json_object_set_new(object, "cpu", json_integer(place->cpu));
	json_object_set_new(object, "core", json_integer(place->core));
	json_object_set_new(object, "node", json_integer(place->node));
	json_object_set_new(object, "cluster", json_integer(place->cluster));
	json_object_set_new(object, "smt", json_boolean(place->smt));
	for (unsigned k = 0; k < others; k++)
		json_array_append_new(
			nearest, json_integer(plan->by_distance[(size_t)i * others + k]));
	json_object_set_new(object, "nearest", nearest);
	return object;
}

json_t *doctor_plan_json(const struct haul_plan *plan)
{
	json_t *object = json_object(), *carriers = json_array();

	for (unsigned i = 0; i < plan->carriers; i++)
		json_array_append_new(carriers, place_json(plan, i));
	json_object_set_new(object, "carriers", carriers);
	json_object_set_new(object, "clusters", json_integer(plan->clusters));
	json_object_set_new(object, "notice", json_string(plan->notice));
	return object;
}
