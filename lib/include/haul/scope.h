/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scopes: a block of code that spawns children and is left only when all of them have ended; a
 * deadline for all waits inside; clean-up that a cancel does not reach; values that children
 * inherit. They end with the block in which they are declared, also by return, goto out of it, or a
 * C++ exception:
 *
 *	{
 *		HAUL_SCOPE(s, haul_in(50 * HAUL_MS), HAUL_SCOPE_FAIL_FAST);
 *
 *		haul_scope_spawn(&s, ask, &servers[0], NULL);
 *		haul_scope_spawn(&s, ask, &servers[1], NULL);
 *		err = haul_scope_join(&s);
 *	}
 *
 * They nest, for coroutines only, and are not for burst handlers. All functions here suspend a
 * coroutine that was stolen, until it is at home again.
 */
#ifndef HAUL_SCOPE_H
#define HAUL_SCOPE_H

#include <haul/coro.h>

#ifdef __cplusplus
extern "C" {
#endif

/* When a scope cancels its children. Each of them returns 0 or an error. */
enum haul_scope_policy {
	HAUL_SCOPE_ALL, /* not because of what one returns */
	HAUL_SCOPE_FAIL_FAST, /* when one has returned an error */
	HAUL_SCOPE_FIRST, /* when one has returned 0 */
};

/* The fields are haul's. */
struct haul_scope {
	uint64_t hidden[16];
};
struct haul_shield {
	uint64_t hidden[8];
};
struct haul_with {
	uint64_t hidden[8];
};

/*
 * Declares a scope s. deadline: a point of haul_now()'s clock, or HAUL_FOREVER. Each wait inside
 * the block, and in children, ends with -ETIMEDOUT at that time, unless it ends by itself or by a
 * deadline of its own; haul_mutex_lock() does not, and a wait of haul_join() leaves its coroutine
 * joinable. When the deadline has passed, or the caller is cancelled, and the caller waits for the
 * children, these are cancelled.
 */
#define HAUL_SCOPE(s, deadline, policy)                                         \
	struct haul_scope s __attribute__((cleanup(haul_scope_close))) = {{0}}; \
	haul_scope_open(&s, deadline, policy)

HAUL_API void haul_scope_open(
	struct haul_scope *s, uint64_t deadline, enum haul_scope_policy policy) HAUL_SUSPENDS;
HAUL_API void haul_scope_close(struct haul_scope *s) HAUL_SUSPENDS;

/*
 * haul_scope_spawn: spawns a child as haul_spawn() does. It returns 0 or an error, a negative errno
 *     or any other number. By the coroutine that declared s. Returns 0; -ENOMEM; -EINVAL as
 *     haul_spawn() does; -ECANCELED (the runtime is stopping, or the children have been cancelled).
 * haul_scope_spawn_on: the same with the given carrier as the child's home. Such a child costs a
 *     second coroutine, which waits for it at the caller's home. Returns 0; -ENOMEM; -EINVAL;
 *     -ECANCELED.
 * haul_scope_join: waits until all children have ended. By the coroutine that declared s. Returns
 *     the first error: of a child, in the order in which they end; -ETIMEDOUT or -ECANCELED if the
 *     children were cancelled because of the deadline or the caller's cancel; or 0.
 *     HAUL_SCOPE_FIRST: 0 if one child has returned 0.
 * haul_scope_cancel: cancels the children; others cannot be spawned any more. By the coroutine that
 *     declared s, or by its children; from one on another carrier it takes effect soon after.
 */
HAUL_API int haul_scope_spawn_on(struct haul_scope *s, struct haul_carrier *carrier,
	int (*fn)(void *arg), void *arg, const struct haul_coro_opts *opts) HAUL_SUSPENDS;
HAUL_API int haul_scope_spawn(struct haul_scope *s, int (*fn)(void *arg), void *arg,
	const struct haul_coro_opts *opts) HAUL_SUSPENDS;
HAUL_API int haul_scope_join(struct haul_scope *s) HAUL_SUSPENDS;
HAUL_API void haul_scope_cancel(struct haul_scope *s) HAUL_SUSPENDS;

/*
 * Until the end of the block the caller runs as if it were not cancelled, and without the deadlines
 * of enclosing scopes: for clean-up that waits. deadline: when it has passed, waits end with
 * -ETIMEDOUT, or -ECANCELED if the caller is cancelled; not HAUL_FOREVER. Children are not
 * shielded. After the block a cancel counts again.
 */
#define HAUL_SHIELD(deadline)                                      \
	struct haul_shield HAUL_NAME_(haul_shield_, __LINE__)      \
		__attribute__((cleanup(haul_shield_end))) = {{0}}; \
	haul_shield_begin(&HAUL_NAME_(haul_shield_, __LINE__), deadline)

HAUL_API void haul_shield_begin(struct haul_shield *s, uint64_t deadline) HAUL_SUSPENDS;
HAUL_API void haul_shield_end(struct haul_shield *s) HAUL_SUSPENDS;

/*
 * Until the end of the block haul_value(key) returns value, in the caller and in children of scopes
 * inside the block. key: any address, such as that of a static variable. A coroutine of a plain
 * spawn inherits nothing: it may live longer than the block.
 * haul_value: NULL if nothing is bound. Any thread. Does not suspend.
 */
#define HAUL_WITH(key, value)                                    \
	struct haul_with HAUL_NAME_(haul_with_, __LINE__)        \
		__attribute__((cleanup(haul_with_end))) = {{0}}; \
	haul_with_begin(&HAUL_NAME_(haul_with_, __LINE__), key, value)

HAUL_API void haul_with_begin(struct haul_with *w, const void *key, void *value) HAUL_SUSPENDS;
HAUL_API void haul_with_end(struct haul_with *w) HAUL_SUSPENDS;
HAUL_API void *haul_value(const void *key);

#ifdef __cplusplus
}
#endif

#endif
