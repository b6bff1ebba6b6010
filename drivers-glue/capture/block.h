/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of pcapng files (draft-ietf-opsawg-pcapng). A carrier writes the block of a frame into its
 * ring as it will be in the file, but for the time: that is in ticks until the capture's thread
 * writes the block out.
 */
#ifndef HAULI_CAPTURE_BLOCK_H
#define HAULI_CAPTURE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum hauli_block_type {
	HAULI_BLOCK_SECTION = 0x0a0d0d0a,
	HAULI_BLOCK_INTERFACE = 1,
	HAULI_BLOCK_STATISTICS = 5,
	HAULI_BLOCK_FRAME = 6,
};

enum hauli_block_direction {
	HAULI_BLOCK_INBOUND = 1,
	HAULI_BLOCK_OUTBOUND = 2,
};

/* Options of a frame. */
enum hauli_block_frame_option {
	HAULI_BLOCK_FLAGS = 2,
	HAULI_BLOCK_QUEUE = 6,
};

/* What precedes a frame's bytes. */
struct hauli_block_frame {
	uint32_t type;
	uint32_t len; /* of the whole block */
	uint32_t interface;
	uint32_t time[2]; /* in the ring: ticks; in the file: ns, high word first */
	uint32_t captured, original; /* bytes of the frame */
};

/* What follows the bytes and their padding: options, and the length again. */
struct hauli_block_frame_end {
	uint16_t flags_code, flags_len;
	uint32_t flags;
	uint16_t queue_code, queue_len;
	uint32_t queue;
	uint16_t end_code, end_len;
	uint32_t len;
};

#define HAULI_BLOCK_FRAME_AROUND \
	(sizeof(struct hauli_block_frame) + sizeof(struct hauli_block_frame_end))

static inline uint32_t hauli_block_frame_len(uint32_t captured)
{
	return (uint32_t)HAULI_BLOCK_FRAME_AROUND + ((captured + 3) & ~3u);
}

static inline uint64_t hauli_block_ticks(const struct hauli_block_frame *frame)
{
	uint64_t ticks;

	memcpy(&ticks, frame->time, sizeof(ticks));
	return ticks;
}

static inline void hauli_block_set_ns(struct hauli_block_frame *frame, uint64_t ns)
{
	frame->time[0] = (uint32_t)(ns >> 32);
	frame->time[1] = (uint32_t)ns;
}

/* Blocks that are being composed in memory. */
struct hauli_blocks {
	uint8_t *bytes; /* freed by free() */
	size_t len, size;
	size_t begin; /* of the last block */
	bool failed; /* no memory */
};

/* What the heads of all files of a capture tell. */
struct hauli_block_about {
	const char *program; /* or NULL, as the next */
	const char *filter;
	uint32_t snaplen;
};

/* Each appends a whole block. */
void hauli_block_section(struct hauli_blocks *b, const struct hauli_block_about *about);
void hauli_block_interface(struct hauli_blocks *b, const struct hauli_block_about *about,
	const char *name, const uint8_t mac[6]);
void hauli_block_statistics(struct hauli_blocks *b, uint32_t interface, uint64_t began_ns,
	uint64_t now_ns, uint64_t captured, uint64_t dropped);

#endif
