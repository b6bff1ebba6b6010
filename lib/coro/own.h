/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included first by each source of the library (-include): notes where the code of its object file
 * is, so that a signal handler can tell whether it has interrupted haul or the program, also where
 * haul is linked statically.
 *
 * The assembler puts a subsection with a high number behind the other code of the section. The
 * linker gathers the notes of all objects in one section, whose bounds have names.
 */
#ifndef HAULI_CORO_OWN_H
#define HAULI_CORO_OWN_H

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

__asm__(".pushsection .text\n\t"
	".subsection 8000\n"
	"7771:\n\t"
	".popsection\n\t"
	".pushsection .text.unlikely,\"ax\",%progbits\n"
	"7772:\n\t"
	".subsection 8000\n"
	"7773:\n\t"
	".popsection\n\t"
	".pushsection haul_own,\"aw\",%progbits\n\t"
	".balign 8\n\t"
	".quad .text, 7771b, 7772b, 7773b\n\t"
	".popsection");

/*
 * For a function that calls a coroutine's function, or a handler, and nothing else outside of haul:
 * so a frame of the program above one of it is what has been called, and haul is not at work. It
 * holds nothing of its carrier meanwhile, since the program may suspend there.
 */
#define HAULI_CALLS_PROGRAM __attribute__((noinline, section("haul_calls")))

struct hauli_code {
	uintptr_t begin, end;
};

/* The code of the object that has this function; none, if haul's is in the same object. Takes the
 * dynamic loader's lock. */
struct hauli_code hauli_code_of_other(const void *fn);

static inline bool hauli_code_has(const struct hauli_code *code, uintptr_t address)
{
	return address - code->begin < code->end - code->begin;
}

/* Finds the notes. Before the first look in a signal handler; any thread. False: no memory. */
bool hauli_own_init(void);

/* True if the address is one of haul's code. Any context. */
bool hauli_own_has(const void *pc);

/* True if it is in a function of HAULI_CALLS_PROGRAM. Any context. */
bool hauli_own_calls_program(const void *pc);

#endif

#endif
