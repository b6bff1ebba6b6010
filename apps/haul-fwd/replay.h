/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture file in memory, to be sent again. libpcap reads it: pcap and pcapng, any resolution. */
#ifndef FWD_REPLAY_H
#define FWD_REPLAY_H

#include <stddef.h>
#include <stdint.h>

struct replay_frame {
	uint64_t at; /* ns since the first frame; never less than the frame before */
	const uint8_t *bytes;
	uint16_t len;
};

struct replay {
	struct replay_frame *frames;
	size_t n;
	uint8_t *bytes; /* of all frames */
	uint64_t length_ns; /* time from the first frame of one round to that of the next */
};

/* Reads a file. most: bytes that fit a packet buffer. Returns 0, or -EINVAL or -ENOMEM with one
 * line in errbuf; then nothing is to be freed. */
int replay_read(struct replay *r, const char *path, size_t most, char *errbuf, size_t errlen);
void replay_free(struct replay *r);

#endif
