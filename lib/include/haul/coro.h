/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines: plain blocking C with a stack of its own, and affinity to one carrier.
 *
 * A coroutine has one home carrier for life. It runs nowhere else, except that an idle
 * sibling may take it for one slice where stealing is on. Unless a function says
 * otherwise it may be called from a coroutine only.
 *
 * A mistake that a call cannot return (haul_sleep() outside a coroutine, a handle that is NULL or
 * was joined before) ends the program with one line on stderr, "haul: CALL(): what is wrong", and
 * abort(), in every build. A handle that was used up is recognized until its coroutine's memory is
 * that of another one.
 */
#ifndef HAUL_CORO_H
#define HAUL_CORO_H

#include <haul/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct haul_coro;
struct haul_carrier;
struct haul_runtime;

/* The body of a coroutine. What it returns is what haul_join() hands out. */
typedef void *haul_fn(void *arg);

#define HAUL_ORDERS 254
#define HAUL_STACK_MAX (UINT32_C(2040) << 10) /* bytes; the largest stack there is */

/* How to spawn. NULL in place of it, or all zero, means the defaults. */
struct haul_coro_opts {
	const char *name; /* not copied: must live as long as the coroutine; NULL: "-" */
	size_t stack_size; /* usable bytes, rounded up to a class; 0: the runtime's default */
	bool pinned; /* never stolen */
	/*
	 * Those with the same number and the same home send (haul_send()) in the order in which
	 * their slices would run if none was stolen. 1 to HAUL_ORDERS; 0: as it comes. Those that
	 * are pinned are not waited for: thieves pass over them.
	 */
	uint8_t order;
	/*
	 * haul_spawn_any() and haul_spawn_many() from a thread that is no carrier: in the cluster
	 * of this carrier. NULL: in the one nearest to the CPU that the caller runs on.
	 */
	struct haul_carrier *near;
	/* haul_spawn_any() from there: one carrier after the other, of near's cluster, or without
	 * near of all; not by load. */
	bool round_robin;
};

/*
 * Spawn a coroutine that runs fn(arg). The three differ in where its home is:
 *   haul_spawn     the running carrier; only on a carrier's thread (coroutine or poller)
 *   haul_spawn_on  that carrier; any thread
 *   haul_spawn_any the running carrier; or from a thread that is no carrier of rt the less
 *                  loaded of two carriers of a cluster, see the options; any thread
 * co may be NULL: then the coroutine is detached, and gone when it ends. Otherwise *co must
 * be given to haul_join() or haul_detach() once.
 * None of them suspends. Coroutines spawned by one thread on one carrier start in order.
 * 0, -ENOMEM (no stack to be had), -EINVAL (stack_size beyond HAUL_STACK_MAX, order beyond
 * HAUL_ORDERS, a carrier, runtime or fn that is NULL), -ECANCELED (the runtime is stopping),
 * -EPERM (haul_spawn off a carrier; a child of fork(), which has no carriers).
 */
HAUL_API int haul_spawn(
	struct haul_coro **co, haul_fn *fn, void *arg, const struct haul_coro_opts *opts);
HAUL_API int haul_spawn_on(struct haul_carrier *carrier, struct haul_coro **co, haul_fn *fn,
	void *arg, const struct haul_coro_opts *opts);
HAUL_API int haul_spawn_any(struct haul_runtime *rt, struct haul_coro **co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts);

/*
 * Spawns n coroutines, the i-th of which runs fn(args[i]); args may be NULL: fn(NULL). All or none.
 * On a carrier of rt: as haul_spawn() for each. From another thread: they wait in a queue of
 * one cluster (the options say which), and its carriers share them: each takes some when it has
 * little else to do, and is the home of those. All that wait cost the caller one step, and wake one
 * carrier, which wakes the next.
 * cos: NULL, or room for n; as *co above. They may be joined, cancelled and so on at once. args and
 * opts are the caller's again on return. Those of one call start in order where one carrier takes
 * them. Any thread; does not suspend. 0, or errors as above.
 */
HAUL_API int haul_spawn_many(struct haul_runtime *rt, struct haul_coro **cos, haul_fn *fn,
	void *const args[], unsigned n, const struct haul_coro_opts *opts);

/*
 * Waits until co has ended, stores what its body returned in *result (may be NULL) and
 * frees co. A coroutine, or a thread that is no carrier (that thread blocks).
 * Cancelling the caller does not end the wait. 0; -EDEADLK when co is the caller; -EINVAL when it
 * is NULL; -EPERM in a child of fork().
 */
HAUL_API int haul_join(struct haul_coro *co, void **result) HAUL_SUSPENDS;

/* Gives up the right to join: co is freed when it ends. Any thread. */
HAUL_API void haul_detach(struct haul_coro *co);

/* Lets the other ready coroutines and the poller go first. */
HAUL_API void haul_yield(void) HAUL_SUSPENDS;

/* Suspends for at least ns. 0, or -ECANCELED (when cancelled before: as soon as others ran). */
HAUL_API int haul_sleep(uint64_t ns) HAUL_SUSPENDS;

/*
 * haul_park() waits for a permit and takes it; haul_unpark() gives one. A coroutine holds
 * at most one permit: giving it twice before it is taken is giving it once. So an unpark
 * that comes before the park is not lost, and a caller of park re-checks its condition.
 * haul_park: 0, or -ECANCELED (when cancelled before: as soon as others ran).
 * haul_unpark: any thread, while co is known to be not yet joined, freed or (detached) ended.
 */
HAUL_API int haul_park(void) HAUL_SUSPENDS;
HAUL_API void haul_unpark(struct haul_coro *co);

/*
 * Asks co to end: every wait of co that says so, the present one and all later ones, returns
 * -ECANCELED, the later ones as soon as others ran; a poller's haul_maybe_yield() returns false.
 * It stays so. Any thread, same condition on co as for haul_unpark().
 */
HAUL_API void haul_cancel(struct haul_coro *co);

/* Whether the running coroutine was asked to end. False off a coroutine. */
HAUL_API bool haul_cancelled(void);

/*
 * haul_pin: from here on the running coroutine is not stolen, and if it was, it goes home; for code
 * that has to do with its carrier's own things. haul_unpin ends that; it is not counted.
 */
HAUL_API void haul_pin(void) HAUL_SUSPENDS;
HAUL_API void haul_unpin(void);

/* The running coroutine (a poller is one); NULL in any other context. Any thread. */
HAUL_API struct haul_coro *haul_self(void);

/* The name given at the spawn. Any thread, same condition on co as for haul_unpark(). */
HAUL_API const char *haul_coro_name(const struct haul_coro *co);

/* Where co is at home. NULL: haul_spawn_many() has spawned it, and no carrier has taken it so far.
 * Any thread, same condition. */
HAUL_API struct haul_carrier *haul_coro_home(const struct haul_coro *co);

#ifdef __cplusplus
}
#endif

#endif
