/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers of telemetry as trees of values. They have what DPDK's telemetry can carry, whichever
 * socket they go to: objects whose keys are letters, digits, '_' and '/'; integers; short texts of
 * ASCII; and so many of these that an answer fits in a packet.
 */
#ifndef HAULI_APP_TELEMETRY_TREE_H
#define HAULI_APP_TELEMETRY_TREE_H

#include <jansson.h>

#include <haul-app/json.h>

#define HAULI_TELEMETRY_ANSWER 16384 /* bytes of an answer, with the command */
#define HAULI_TELEMETRY_ROOM 16000 /* of these for values */

/* A copy with such values only: arrays become objects with the keys "0", "1", ...; a real number
 * becomes a text; true and false 1 and 0; null "". The caller owns it. */
json_t *hauli_telemetry_tree(const struct haul_app_json *from);

/*
 * Adds the elements of the array `list` from `first` on to the tree, as "0", "1", ..., as long as
 * there is room; then "next" says with which one to go on.
 */
void hauli_telemetry_tree_add(json_t *tree, const struct haul_app_json *list, size_t first);

/* The bytes of its text. */
size_t hauli_telemetry_tree_size(const json_t *tree);

#endif
