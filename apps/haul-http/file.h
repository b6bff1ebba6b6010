/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files as answers to requests: conditions, ranges, folders.
 *
 *   http_file_open(&f, root, &head, now);         or http_file_try_open()
 *   http_reply_begin(&out, &head, f.status, now);
 *   http_file_fields(&f, &out);
 *   n = http_out_end(&out);                       send n bytes of the head
 *   while (http_file_next(&f, &piece))            send piece.text, or piece.n bytes of f.fd
 *   http_file_close(&f);
 *
 * An error is a response without content.
 */
#ifndef HTTP_FILE_H
#define HTTP_FILE_H

#include "out.h"
#include "range.h"

struct http_file {
	unsigned status; /* 200, 206, 301, 304; or an error: 403, 404, 405, 412, 416, ... */
	int fd; /* of a regular file; -1: none, as there is no content to send */
	uint64_t length; /* of the content, as Content-Length says */

	/* For http_file_fields() and http_file_next(). */
	const struct http_head *head;
	const char *type;
	uint64_t size;
	int64_t modified;
	uint32_t step;
	int nb_ranges;
	struct http_range ranges[HTTP_RANGES_MAX];
	char etag[40], boundary[24], text[256];
};

/* The next part of the content: text, if text.n > 0, or n bytes of the file. */
struct http_piece {
	struct http_str text;
	uint64_t from, n;
};

/*
 * Opens the file that the request asks for, below the folder root: a descriptor, which may be of
 * O_PATH. Of a folder it is index.html. Links that lead out of the root are not followed. h must
 * stay as it is until http_file_close(). now: seconds since 1970.
 * http_file_open: blocks its thread while a disk is read.
 * http_file_try_open: does not. Returns false if the disk may have to be read: *f is not open, and
 *     the caller calls the former where it may block.
 */
void http_file_open(struct http_file *f, int root, const struct http_head *h, int64_t now);
bool http_file_try_open(struct http_file *f, int root, const struct http_head *h, int64_t now);

/* The fields that tell of the file, or of the error, with Content-Length where it is needed. */
void http_file_fields(const struct http_file *f, struct http_out *o);

/* Returns false at the end of the content. If the file has become shorter meanwhile, the
 * connection must be closed: less was sent than promised. The text is valid until the next call. */
bool http_file_next(struct http_file *f, struct http_piece *piece);

void http_file_close(struct http_file *f);

#endif
