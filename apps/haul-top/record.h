/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recordings: a line with {"haul_top": 1}, and then a line with each sample (ask.h).
 */
#ifndef TOP_RECORD_H
#define TOP_RECORD_H

#include <stdio.h>

#include "ask.h"

/* Creates the file, or empties it. Returns NULL with errno. */
FILE *top_record_begin(const char *path);
/* Writes a sample at once, so that it is there whatever comes. Returns 0 or -errno. */
int top_record_add(FILE *file, const json_t *sample);

/* A recording to look at. */
struct top_replay {
	FILE *file;
	long *offsets; /* [nb] of the samples' lines */
	unsigned nb, room;
};

/* Reads all of it once. False: it cannot be read, or is none, or has no sample, as a line in why. A
 * last line that was cut short is left out. */
bool top_replay_begin(struct top_replay *r, const char *path, char *why, size_t len);
void top_replay_end(struct top_replay *r);

/* Sample i, from 0, which the caller owns; NULL: it is damaged. */
json_t *top_replay_sample(struct top_replay *r, unsigned i);

#endif
