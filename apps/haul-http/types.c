/* SPDX-License-Identifier: BSD-3-Clause */
#include "types.h"

#include "chars.h"

/* clang-format off */
static const struct {
	const char *ending, *type;
} types[] = {
	{"html", "text/html; charset=utf-8"}, {"htm", "text/html; charset=utf-8"},
	{"css", "text/css; charset=utf-8"}, {"js", "text/javascript; charset=utf-8"},
	{"mjs", "text/javascript; charset=utf-8"}, {"txt", "text/plain; charset=utf-8"},
	{"md", "text/markdown; charset=utf-8"}, {"csv", "text/csv; charset=utf-8"},
	{"json", "application/json"}, {"xml", "application/xml"}, {"pdf", "application/pdf"},
	{"wasm", "application/wasm"}, {"zip", "application/zip"}, {"gz", "application/gzip"},
	{"svg", "image/svg+xml"}, {"png", "image/png"}, {"jpg", "image/jpeg"},
	{"jpeg", "image/jpeg"}, {"gif", "image/gif"}, {"webp", "image/webp"},
	{"avif", "image/avif"}, {"ico", "image/x-icon"},
	{"woff", "font/woff"}, {"woff2", "font/woff2"}, {"ttf", "font/ttf"},
	{"mp3", "audio/mpeg"}, {"ogg", "audio/ogg"}, {"mp4", "video/mp4"}, {"webm", "video/webm"},
};
/* clang-format on */

const char *http_type_of(const char *name)
{
	const char *base = strrchr(name, '/'), *dot = strrchr(base ? base : name, '.');

	for (unsigned i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++)
		if (http_is_text((struct http_str){dot + 1, strlen(dot + 1)}, types[i].ending))
			return types[i].type;
	return "application/octet-stream";
}
