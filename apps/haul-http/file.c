/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "condition.h"
#include "path.h"
#include "types.h"

static const char index_name[] = "index.html";

enum { NAME_SIZE = 1024 };

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

/* RESOLVE_BENEATH: neither ".." nor a link leads above the root. O_NONBLOCK: a FIFO without a
 * writer does not block. cached: RESOLVE_CACHED, or 0. */
static int open_below(int root, const char *name, uint64_t cached)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | cached};
	int fd;

	/* The kernel gives up when somebody renames folders on the way. */
	for (unsigned i = 0; i < 10; i++) {
		fd = (int)syscall(SYS_openat2, root, name, &how, sizeof(how));
		if (fd >= 0 || cached || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd >= 0 ? fd : -errno;
}

static unsigned status_of(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENOTDIR:
	case -ELOOP:
	case -EXDEV: /* above the root */
	case -ENAMETOOLONG:
	case -ENXIO: /* a socket */
		return 404;
	case -EACCES:
	case -EPERM:
		return 403;
	case -EAGAIN:
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
		return 503;
	default:
		return 500;
	}
}

/* Returns 0 with the name of the file, or the status. *is_index: the path is that of a folder. */
static unsigned name_of(const struct http_head *h, char name[NAME_SIZE], bool *is_index)
{
	ssize_t n;

	if (h->method == HTTP_OTHER)
		return 501;
	if (h->method != HTTP_GET && h->method != HTTP_HEAD)
		return 405;
	n = http_path_decode(http_path(h), name, NAME_SIZE - sizeof(index_name));
	if (n < 0)
		return (unsigned)-n;
	*is_index = n == 0 || name[n - 1] == '/';
	if (*is_index)
		strcpy(name + n, index_name);
	return 0;
}

/* Nanoseconds and size: a change within a tick of the kernel's clock shows if the size changes. */
static void set_version(struct http_file *f, const struct stat *st, int64_t now)
{
	f->size = (uint64_t)st->st_size;
	f->modified = st->st_mtim.tv_sec < now ? st->st_mtim.tv_sec : now;
	snprintf(f->etag, sizeof(f->etag), "\"%" PRIx64 ".%lx.%" PRIx64 "\"",
		(uint64_t)st->st_mtim.tv_sec, (unsigned long)st->st_mtim.tv_nsec, f->size);
}

static struct http_str text_of(const char *text)
{
	return (struct http_str){text, strlen(text)};
}

static void put_range(struct http_out *o, const struct http_file *f, const struct http_range *r)
{
	http_out_put(o, HTTP_STR("bytes "));
	http_out_put_number(o, r->from);
	http_out_put(o, HTTP_STR("-"));
	http_out_put_number(o, r->from + r->n - 1);
	http_out_put(o, HTTP_STR("/"));
	http_out_put_number(o, f->size);
}

/* The text before a range of several, or after the last (RFC 9110, 14.6). */
static struct http_str part_text(struct http_file *f, int i)
{
	struct http_out o;

	http_out_init(&o, f->text, sizeof(f->text));
	http_out_put(&o, HTTP_STR("\r\n--"));
	http_out_put(&o, text_of(f->boundary));
	if (i < f->nb_ranges) {
		http_out_put(&o, HTTP_STR("\r\nContent-Type: "));
		http_out_put(&o, text_of(f->type));
		http_out_put(&o, HTTP_STR("\r\nContent-Range: "));
		put_range(&o, f, &f->ranges[i]);
		http_out_put(&o, HTTP_STR("\r\n\r\n"));
	} else {
		http_out_put(&o, HTTP_STR("--\r\n"));
	}
	return (struct http_str){f->text, o.n};
}

/* The ranges to send, and with them the status. */
static void set_ranges(struct http_file *f, const struct http_version *version, int64_t now)
{
	int n = http_ranges(http_range_wanted(f->head, version, now), f->size, f->ranges);

	if (n < 0) {
		f->status = (unsigned)-n;
		return;
	}
	f->nb_ranges = n;
	f->status = n > 0 ? 206 : 200;
	if (n == 0 && f->size > 0)
		f->ranges[f->nb_ranges++] = (struct http_range){0, f->size};
	for (int i = 0; i < f->nb_ranges; i++)
		f->length += f->ranges[i].n;
	if (n <= 1)
		return;
	/* Not a secret: who can choose the content of files need not guess. */
	snprintf(f->boundary, sizeof(f->boundary), "haul%016" PRIx64,
		(uint64_t)now * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)f->modified << 32 ^
			f->size);
	for (int i = 0; i <= n; i++)
		f->length += part_text(f, i).n;
}

/* What a regular file is answered with. */
static void set_answer(struct http_file *f, const struct stat *st, int64_t now)
{
	struct http_version version;

	set_version(f, st, now);
	version = (struct http_version){text_of(f->etag), f->modified};
	f->status = (unsigned)http_condition(f->head, &version, now);
	if (f->status == 200)
		set_ranges(f, &version, now);
}

/* The kernel has not all names on the way in memory, or, before 5.12, does not know the flag. */
static bool may_block(int error)
{
	return error == -EAGAIN || error == -EINTR || error == -EINVAL;
}

/* Returns the status; 0: cached, and it may block. */
static unsigned open_file(struct http_file *f, int root, int64_t now, uint64_t cached)
{
	char name[NAME_SIZE];
	struct stat st;
	bool is_index;
	unsigned wrong = name_of(f->head, name, &is_index);

	if (wrong)
		return wrong;
	f->fd = open_below(root, name, cached);
	if (cached && may_block(f->fd))
		return 0;
	if (f->fd < 0)
		return status_of(f->fd);
	if (fstat(f->fd, &st) != 0)
		return 500;
	if (S_ISDIR(st.st_mode))
		return is_index ? 404 : 301;
	if (!S_ISREG(st.st_mode))
		return 404;
	f->type = http_type_of(name);
	set_answer(f, &st, now);
	return f->status;
}

static void open_as(
	struct http_file *f, int root, const struct http_head *h, int64_t now, uint64_t cached)
{
	*f = (struct http_file){.head = h, .fd = -1};
	f->status = open_file(f, root, now, cached);
	if ((f->status != 200 && f->status != 206) || h->method == HTTP_HEAD)
		http_file_close(f);
}

void http_file_open(struct http_file *f, int root, const struct http_head *h, int64_t now)
{
	open_as(f, root, h, now, 0);
}

bool http_file_try_open(struct http_file *f, int root, const struct http_head *h, int64_t now)
{
	open_as(f, root, h, now, RESOLVE_CACHED);
	return f->status != 0;
}

/* The folder that was asked for without '/'. Its path must not begin with "//", which would be the
 * name of a host. */
static void put_location(const struct http_file *f, struct http_out *o)
{
	struct http_str path = http_path(f->head), query = http_query(f->head);

	while (path.n > 1 && path.at[1] == '/')
		path = http_skip(path, 1);
	http_out_put(o, HTTP_STR("Location: "));
	http_out_put(o, path);
	http_out_put(o, HTTP_STR("/"));
	if (query.n > 0) {
		http_out_put(o, HTTP_STR("?"));
		http_out_put(o, query);
	}
	http_out_put(o, HTTP_STR("\r\n"));
}

static void put_content(const struct http_file *f, struct http_out *o)
{
	http_out_number(o, "Content-Length", f->length);
	http_out_text(o, "Accept-Ranges", "bytes");
	if (f->boundary[0]) {
		http_out_put(o, HTTP_STR("Content-Type: multipart/byteranges; boundary="));
		http_out_put(o, text_of(f->boundary));
		http_out_put(o, HTTP_STR("\r\n"));
		return;
	}
	http_out_text(o, "Content-Type", f->type);
	if (f->status == 206) {
		http_out_put(o, HTTP_STR("Content-Range: "));
		put_range(o, f, &f->ranges[0]);
		http_out_put(o, HTTP_STR("\r\n"));
	}
}

void http_file_fields(const struct http_file *f, struct http_out *o)
{
	if (f->status == 301)
		put_location(f, o);
	if (f->status == 416) {
		http_out_put(o, HTTP_STR("Content-Range: bytes */"));
		http_out_put_number(o, f->size);
		http_out_put(o, HTTP_STR("\r\n"));
	}
	if (f->status < 300 || f->status == 304) {
		http_out_text(o, "ETag", f->etag);
		http_out_date(o, "Last-Modified", f->modified);
	}
	if (f->status < 300)
		put_content(f, o);
	else if (f->status != 304)
		http_out_number(o, "Content-Length", 0);
}

bool http_file_next(struct http_file *f, struct http_piece *piece)
{
	const bool is_multipart = f->boundary[0] != '\0';
	const uint32_t step = f->step, i = is_multipart ? step / 2 : step;

	if (f->fd < 0 || step >= (uint32_t)f->nb_ranges * (is_multipart ? 2 : 1) + is_multipart)
		return false;
	f->step++;
	if (is_multipart && step % 2 == 0)
		*piece = (struct http_piece){.text = part_text(f, (int)i)};
	else
		*piece = (struct http_piece){.from = f->ranges[i].from, .n = f->ranges[i].n};
	return true;
}

void http_file_close(struct http_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}
