/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION 1
#define LINE (16 << 20) /* bytes; a sample has at most 10 MB */

FILE *top_record_begin(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (fd >= 0 && !file)
		close(fd);
	if (file && (fprintf(file, "{\"haul_top\": %d}\n", VERSION) < 0 || fflush(file) != 0)) {
		int err = errno;

		fclose(file);
		errno = err;
		return NULL;
	}
	return file;
}

int top_record_add(FILE *file, const json_t *sample)
{
	errno = 0;
	if (json_dumpf(sample, file, JSON_COMPACT | JSON_ENSURE_ASCII) != 0 ||
		fputc('\n', file) == EOF || fflush(file) != 0)
		return errno ? -errno : -EIO;
	return 0;
}

/* The next line, without its end. NULL: there is no more, or it is cut short or too long. */
static char *next_line(FILE *file, char **line, size_t *room)
{
	size_t n = 0;
	int c;

	while ((c = getc_unlocked(file)) != EOF && c != '\n' && n < LINE) {
		if (n + 1 >= *room) {
			*room = *room ? 2 * *room : 65536;
			*line = realloc(*line, *room);
			if (!*line)
				abort();
		}
		(*line)[n++] = (char)c;
	}
	if (c != '\n' || n == 0)
		return NULL;
	(*line)[n] = '\0';
	return *line;
}

static bool is_head(const char *line)
{
	json_t *head = line ? json_loads(line, 0, NULL) : NULL;
	bool is = json_integer_value(json_object_get(head, "haul_top")) == VERSION;

	json_decref(head);
	return is;
}

static void add_offset(struct top_replay *r, long offset)
{
	if (r->nb == r->room) {
		r->room = r->room ? 2 * r->room : 256;
		r->offsets = realloc(r->offsets, r->room * sizeof(r->offsets[0]));
		if (!r->offsets)
			abort();
	}
	r->offsets[r->nb++] = offset;
}

static bool read_all(struct top_replay *r, char *why, size_t len)
{
	char *line = NULL;
	size_t room = 0;
	long offset;

	if (!is_head(next_line(r->file, &line, &room))) {
		snprintf(why, len, "not a recording of haul-top");
		free(line);
		return false;
	}
	for (offset = ftell(r->file); next_line(r->file, &line, &room); offset = ftell(r->file))
		add_offset(r, offset);
	free(line);
	if (r->nb == 0)
		snprintf(why, len, "the recording has no sample");
	return r->nb > 0;
}

bool top_replay_begin(struct top_replay *r, const char *path, char *why, size_t len)
{
	struct stat st;

	*r = (struct top_replay){.file = fopen(path, "re")};
	if (!r->file) {
		snprintf(why, len, "%s", strerror(errno));
		return false;
	}
	if (fstat(fileno(r->file), &st) != 0 || !S_ISREG(st.st_mode))
		snprintf(why, len, "not a regular file");
	else if (read_all(r, why, len))
		return true;
	top_replay_end(r);
	return false;
}

void top_replay_end(struct top_replay *r)
{
	if (r->file)
		fclose(r->file);
	free(r->offsets);
	*r = (struct top_replay){0};
}

json_t *top_replay_sample(struct top_replay *r, unsigned i)
{
	char *line = NULL;
	size_t room = 0;
	json_t *sample;

	if (fseek(r->file, r->offsets[i], SEEK_SET) != 0 || !next_line(r->file, &line, &room)) {
		free(line);
		return NULL;
	}
	sample = json_loads(line, 0, NULL);
	free(line);
	if (json_is_object(json_object_get(sample, "answers")))
		return sample;
	json_decref(sample);
	return NULL;
}
