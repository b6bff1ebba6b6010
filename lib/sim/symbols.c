/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dladdr(3), which call stacks of haul's take their names from, knows the functions that a file
 * exports. In a simulation it knows the others too, such as static ones: from the symbol table of
 * the file, unless that was stripped.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/real.h"

/* The table of a file, which stays mapped. */
struct table {
	struct table *next;
	const void *base; /* at which the file is loaded */
	const ElfW(Sym) * symbols;
	size_t n; /* 0: it has none */
	const char *names;
	size_t names_len;
};

static struct table *tables;

/* NULL: it cannot be read. */
static const char *map(const char *path, size_t *len)
{
	int fd = HAULI_SIM_REAL(open)(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *file = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0 && (*len = (size_t)st.st_size) > 0)
		file = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		HAULI_SIM_REAL(close)(fd);
	return file != MAP_FAILED ? file : NULL;
}

static bool is_within(size_t len, uint64_t offset, uint64_t size)
{
	return offset <= len && size <= len - offset;
}

static void find_symbols(struct table *t, const char *file, size_t len)
{
	const ElfW(Ehdr) *head = (const void *)file;
	const ElfW(Shdr) * sections;

	if (len < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
		!is_within(len, head->e_shoff, head->e_shnum * sizeof(sections[0])))
		return;
	sections = (const void *)(file + head->e_shoff);
	for (unsigned i = 0; i < head->e_shnum; i++) {
		const ElfW(Shdr) *s = &sections[i], *names;

		if (s->sh_type != SHT_SYMTAB || s->sh_link >= head->e_shnum)
			continue;
		names = &sections[s->sh_link];
		if (!is_within(len, s->sh_offset, s->sh_size) ||
			!is_within(len, names->sh_offset, names->sh_size) || names->sh_size == 0 ||
			file[names->sh_offset + names->sh_size - 1] != '\0')
			return;
		t->symbols = (const void *)(file + s->sh_offset);
		t->n = s->sh_size / sizeof(t->symbols[0]);
		t->names = file + names->sh_offset;
		t->names_len = names->sh_size;
	}
}

/* NULL: no memory. The program itself has an empty name. */
static const struct table *table_of(const struct link_map *object, const void *base)
{
	struct table *t = tables;
	const char *file;
	size_t len = 0;

	while (t && t->base != base)
		t = t->next;
	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->base = base;
	t->next = tables;
	tables = t;
	file = map(object->l_name[0] ? object->l_name : "/proc/self/exe", &len);
	if (file)
		find_symbols(t, file, len);
	return t;
}

HAULI_SIM_REPLACED int dladdr(const void *addr, Dl_info *info)
{
	struct link_map *object = NULL;
	int found = dladdr1(addr, info, (void **)&object, RTLD_DL_LINKMAP);
	const struct table *t;

	if (!found || info->dli_sname || !object)
		return found;
	t = table_of(object, info->dli_fbase);
	for (size_t i = 0; t && i < t->n; i++) {
		const ElfW(Sym) *s = &t->symbols[i];
		uintptr_t from = object->l_addr + s->st_value;

		if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || (uintptr_t)addr - from >= s->st_size ||
			s->st_name >= t->names_len)
			continue;
		info->dli_sname = t->names + s->st_name;
		info->dli_saddr = (void *)from;
		break;
	}
	return found;
}
