/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that haul takes for a host of a simulation, which goes with the host when that is killed.
 * Included before everything else in haul's sources, which call these functions by the names of the
 * C library's. That of programs is not known here: they may have it in variables, which stay.
 */
#if !defined(HAULI_SIM_MEMORY_H) && !defined(__ASSEMBLER__)
#define HAULI_SIM_MEMORY_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *hauli_sim_malloc(size_t size);
void *hauli_sim_calloc(size_t n, size_t size);
void *hauli_sim_realloc(void *old, size_t size);
void *hauli_sim_aligned_alloc(size_t alignment, size_t size);
char *hauli_sim_strdup(const char *text);
char *hauli_sim_strndup(const char *text, size_t most);
void hauli_sim_free(void *memory);
void *hauli_sim_mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset);
int hauli_sim_munmap(void *at, size_t len);

/* Between these it is taken for all hosts. No step in between. */
void hauli_sim_shared_begin(void);
void hauli_sim_shared_end(void);

#ifdef HAULI_SIM_OWNED
#undef strdup
#undef strndup
/* With two arguments it is an attribute of gcc's, in headers of newer DPDKs. */
#define HAULI_SIM_CALL(size) hauli_sim_malloc(size)
#define HAULI_SIM_ATTRIBUTE(free, at) malloc(free, at)
#define HAULI_SIM_THIRD(a, b, c, ...) c
#define malloc(...) HAULI_SIM_THIRD(__VA_ARGS__, HAULI_SIM_ATTRIBUTE, HAULI_SIM_CALL, )(__VA_ARGS__)
#define calloc(n, size) hauli_sim_calloc(n, size)
#define realloc(old, size) hauli_sim_realloc(old, size)
#define aligned_alloc(alignment, size) hauli_sim_aligned_alloc(alignment, size)
#define strdup(text) hauli_sim_strdup(text)
#define strndup(text, most) hauli_sim_strndup(text, most)
#define free(memory) hauli_sim_free(memory)
#define mmap(at, len, prot, flags, fd, offset) hauli_sim_mmap(at, len, prot, flags, fd, offset)
#define munmap(at, len) hauli_sim_munmap(at, len)
#endif

#endif
