/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of samples (ask.h). What is not there, or has another type, is 0, NaN or NULL. */
#ifndef TOP_SAMPLE_H
#define TOP_SAMPLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Two samples of one program, one after the other: for rates. before may be NULL. */
struct top_pair {
	json_t *now, *before;
};

/* Takes over the sample: the one that is `now` becomes `before`, if it is of the same program. One
 * of a program that is about to end, and so has no answer to what it told before, is dropped: the
 * last figures are to stay. True if it was taken. */
bool top_pair_push(struct top_pair *pair, json_t *sample);
void top_pair_clear(struct top_pair *pair);

/* The values of a command's answer; NULL: it is not there, or is an error. */
const json_t *top_values(const json_t *sample, const char *command);
/* The error in the place of values, or NULL. */
const char *top_error(const json_t *sample, const char *command);

/* Element i of a list, as telemetry has lists: under the key "0", "1", ... */
const json_t *top_item(const json_t *list, unsigned i);

int64_t top_number(const json_t *object, const char *key);
/* "" if there is none. Not cleaned: may have any bytes. */
const char *top_string(const json_t *object, const char *key);

/* The growth of a counter for each second, of element i of a command's list, or of all values with
 * TOP_WHOLE. NaN: it is not known, since there is no earlier sample, or the counter began anew. */
#define TOP_WHOLE (-1)
double top_rate(const struct top_pair *pair, const char *command, int i, const char *key);

/* The seconds between the two; 0: not known. */
double top_seconds(const struct top_pair *pair, const char *command);

#endif
