/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes protobuf messages: a message is built in a buffer, from its fields. */
#ifndef TRACE_PROTO_H
#define TRACE_PROTO_H

#include <stddef.h>
#include <stdint.h>

#define PROTO_ROOM 512

struct proto {
	size_t len;
	uint8_t bytes[PROTO_ROOM];
};

/* Fields: numbers are varints; negative ones have ten bytes. What does not fit is left out. */
void proto_number(struct proto *p, unsigned field, uint64_t n);
void proto_fixed64(struct proto *p, unsigned field, uint64_t n);
void proto_text(struct proto *p, unsigned field, const char *text);
void proto_message(struct proto *p, unsigned field, const struct proto *m);

#endif
