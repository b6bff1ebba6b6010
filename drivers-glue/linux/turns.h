/* SPDX-License-Identifier: BSD-3-Clause */
/* Filters, bpf(2), by which packet sockets of two processes share packets. */
#ifndef HAULI_LINUX_TURNS_H
#define HAULI_LINUX_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* An array of one word, or of one for each CPU. Returns a descriptor or -errno. */
int hauli_turns_word(bool per_cpu);
int hauli_turns_word_set(int word, uint32_t value);

/*
 * Two packet sockets of an interface get each packet one after the other, on one CPU, and the newer
 * one first. It decides: it takes the packet if *turn is set, and keeps its choice in *choice, of
 * this CPU, which the older one follows. So each packet is taken by one of both, whenever *turn
 * changes. Set the filter of a socket; 0 or -errno.
 */
int hauli_turns_newer(int fd, int turn, int choice);
int hauli_turns_older(int fd, int choice);
void hauli_turns_detach(int fd);

#endif
