/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <haul-app/file.h>
#include <pcap/pcap.h>

#define BYTES_MAX ((size_t)4 << 30)
#define WHAT_SIZE (PCAP_ERRBUF_SIZE + 64)

/* Frames while the file is read: offsets, because the bytes move. */
struct reader {
	struct replay r;
	size_t frames_room, bytes_room, bytes;
	uint64_t first_at;
};

static bool grow(void **array, size_t *room, size_t needed, size_t size)
{
	size_t more = *room ? *room : 4096;
	void *bigger;

	if (needed <= *room)
		return true;
	while (more < needed)
		more *= 2;
	bigger = realloc(*array, more * size);
	if (!bigger)
		return false;
	*array = bigger;
	*room = more;
	return true;
}

static int add(struct reader *in, const struct pcap_pkthdr *h, const uint8_t *bytes)
{
	/* tv_usec holds nanoseconds: the file was opened with that precision. */
	uint64_t at = (uint64_t)h->ts.tv_sec * 1000000000 + (uint64_t)h->ts.tv_usec;
	struct replay *r = &in->r;
	struct replay_frame *f;

	if (in->bytes + h->caplen > BYTES_MAX ||
		!grow((void **)&r->bytes, &in->bytes_room, in->bytes + h->caplen, 1) ||
		!grow((void **)&r->frames, &in->frames_room, r->n + 1, sizeof(*r->frames)))
		return -ENOMEM;
	if (r->n == 0)
		in->first_at = at;
	at = at > in->first_at ? at - in->first_at : 0;
	f = &r->frames[r->n];
	f->at = r->n > 0 && at < f[-1].at ? f[-1].at : at; /* files may be out of order */
	f->len = (uint16_t)h->caplen;
	f->bytes = (const uint8_t *)in->bytes; /* an offset, until the end */
	memcpy(r->bytes + in->bytes, bytes, h->caplen);
	in->bytes += h->caplen;
	r->n++;
	return 0;
}

/* Reads all frames. Returns 0, or an error with the rest of a line in what. */
static int read_all(struct reader *in, pcap_t *file, size_t most, char *what, size_t len)
{
	struct pcap_pkthdr *h;
	const uint8_t *bytes;
	int next;

	if (pcap_datalink(file) != DLT_EN10MB) {
		snprintf(what, len, "its frames are not Ethernet");
		return -EINVAL;
	}
	while ((next = pcap_next_ex(file, &h, &bytes)) == 1) {
		if (h->caplen < h->len || h->caplen > most || h->caplen == 0) {
			snprintf(what, len,
				"frame %zu has %u bytes, of which %u were captured: "
				"frames of 1 to %zu bytes can be sent, whole",
				in->r.n + 1, h->len, h->caplen, most);
			return -EINVAL;
		}
		if (add(in, h, bytes) != 0) {
			snprintf(what, len, "no memory for its frames after %zu", in->r.n);
			return -ENOMEM;
		}
	}
	if (next == PCAP_ERROR)
		snprintf(what, len, "%s", pcap_geterr(file));
	else if (in->r.n == 0)
		snprintf(what, len, "it has no frames");
	else
		return 0;
	return -EINVAL;
}

/* The next round begins one mean gap after the last frame. */
static void finish(struct replay *r)
{
	uint64_t last = r->frames[r->n - 1].at;

	for (size_t i = 0; i < r->n; i++)
		r->frames[i].bytes = r->bytes + (uintptr_t)r->frames[i].bytes;
	r->length_ns = last + (r->n > 1 ? last / (r->n - 1) : 0);
	if (r->length_ns == 0)
		r->length_ns = 1;
}

static int read_file(struct reader *in, const char *path, size_t most, char what[WHAT_SIZE])
{
	struct haul_app_input input;
	int wrong, err = haul_app_input_open(&input, path, BYTES_MAX, what, WHAT_SIZE);
	pcap_t *file;

	if (err)
		return err;
	file = pcap_fopen_offline_with_tstamp_precision(
		input.file, PCAP_TSTAMP_PRECISION_NANO, what);
	wrong = file ? read_all(in, file, most, what, WHAT_SIZE) : -EINVAL;
	if (file) {
		pcap_close(file);
		input.file = NULL;
	}
	err = haul_app_input_close(&input, what, WHAT_SIZE);
	return err ? err : wrong;
}

int replay_read(struct replay *r, const char *path, size_t most, char *errbuf, size_t errlen)
{
	char what[WHAT_SIZE] = "";
	struct reader in = {0};
	int err = read_file(&in, path, most, what);

	if (err) {
		snprintf(errbuf, errlen, "--replay %s: %s", path, what);
		replay_free(&in.r);
		return err;
	}
	*r = in.r;
	finish(r);
	return 0;
}

void replay_free(struct replay *r)
{
	free(r->frames);
	free(r->bytes);
	memset(r, 0, sizeof(*r));
}
