/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses of imported functions are in a table of the library's, which the dynamic linker
 * fills by the library's relocations, and may make read-only afterwards (RELRO). */
#include "linux/imports.h"

#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_IMPORT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_IMPORT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#endif

struct replacement {
	const char *library, *name;
	void (*fn)(void);
	bool done;
};

/* The parts of a loaded library that its relocations need. */
struct image {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	struct {
		const ElfW(Rela) * first;
		size_t bytes;
	} tables[2];
	uintptr_t relro, relro_end;
};

static void read_dynamic(struct image *image, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++) {
		const void *at = (const void *)d->d_un.d_ptr; /* glibc has added the base */

		if (d->d_tag == DT_SYMTAB)
			image->symbols = at;
		else if (d->d_tag == DT_STRTAB)
			image->strings = at;
		else if (d->d_tag == DT_JMPREL)
			image->tables[0].first = at;
		else if (d->d_tag == DT_PLTRELSZ)
			image->tables[0].bytes = d->d_un.d_val;
		else if (d->d_tag == DT_RELA)
			image->tables[1].first = at;
		else if (d->d_tag == DT_RELASZ)
			image->tables[1].bytes = d->d_un.d_val;
	}
}

static void read_image(struct image *image, const struct dl_phdr_info *info)
{
	*image = (struct image){.base = info->dlpi_addr};
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_DYNAMIC)
			read_dynamic(image, (const ElfW(Dyn) *)at);
		if (h->p_type == PT_GNU_RELRO) {
			image->relro = at;
			image->relro_end = at + h->p_memsz;
		}
	}
}

static bool set_slot(const struct image *image, uintptr_t slot, void (*fn)(void))
{
	uintptr_t page = slot & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	bool is_read_only = slot >= image->relro && slot < image->relro_end;
	size_t bytes = slot + sizeof(fn) - page;

	if (is_read_only && mprotect((void *)page, bytes, PROT_READ | PROT_WRITE) != 0)
		return false;
	memcpy((void *)slot, &fn, sizeof(fn));
	if (is_read_only)
		mprotect((void *)page, bytes, PROT_READ);
	return true;
}

static bool is_import_of(const struct image *image, const ElfW(Rela) * r, const char *name)
{
#ifdef IS_IMPORT
	return IS_IMPORT(ELF64_R_TYPE(r->r_info)) &&
		strcmp(image->strings + image->symbols[ELF64_R_SYM(r->r_info)].st_name, name) == 0;
#else
	return false;
#endif
}

static int replace_in(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct replacement *r = arg;
	struct image image;

	if (!strstr(info->dlpi_name, r->library))
		return 0;
	read_image(&image, info);
	if (!image.symbols || !image.strings)
		return 0;
	for (unsigned t = 0; t < 2; t++) {
		const ElfW(Rela) *rel = image.tables[t].first;

		for (size_t n = rel ? image.tables[t].bytes / sizeof(*rel) : 0; n > 0; n--, rel++)
			if (is_import_of(&image, rel, r->name))
				r->done |= set_slot(&image, image.base + rel->r_offset, r->fn);
	}
	return 0;
}

bool hauli_imports_replace(const char *library, const char *name, void (*fn)(void))
{
	struct replacement r = {library, name, fn, false};

	dl_iterate_phdr(replace_in, &r);
	return r.done;
}
