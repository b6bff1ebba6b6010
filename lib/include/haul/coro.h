/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines: plain blocking C with a stack of its own, and affinity to one carrier.
 *
 * A coroutine has one home carrier for life. It runs only there, except that with stealing on an
 * idle carrier may run it for one slice. Unless a function says otherwise, only coroutines call it.
 *
 * A mistake that a call cannot return as an error (haul_sleep() outside a coroutine, a handle that
 * is NULL or was joined before) ends the program in every build: by one line on stderr, "haul:
 * CALL(): what is wrong", and abort(). A handle that was joined or detached is recognized until a
 * new coroutine gets the same memory.
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
	 * Coroutines with the same number and the same home send (haul_send()) in the order in
	 * which their slices would run if none was stolen. 1 to HAUL_ORDERS; 0: in any order.
	 * Nobody waits for pinned ones, because thieves never take them.
	 */
	uint8_t order;
	/*
	 * haul_spawn_any() and haul_spawn_many() from a thread that is no carrier: in the cluster
	 * of this carrier. NULL: in the one nearest to the CPU that the caller runs on.
	 */
	struct haul_carrier *near;
	/* haul_spawn_any() from such a thread: take the carriers in turn, not by load; those of
	 * near's cluster, or all if near is NULL. */
	bool round_robin;
};

/*
 * Spawn a coroutine that runs fn(arg). The three differ in where its home is:
 *   haul_spawn     the running carrier; only on a carrier's thread (coroutine or poller)
 *   haul_spawn_on  that carrier; any thread
 *   haul_spawn_any the running carrier; from a thread that is no carrier of rt, the less loaded
 *                  of two carriers of one cluster (see the options); any thread
 * co may be NULL: then the coroutine is detached, and gone when it ends. Otherwise *co must
 * be given to haul_join() or haul_detach() once.
 * None of them suspends. Coroutines spawned by one thread on one carrier start in order.
 * 0; -ENOMEM (no memory for a stack); -EINVAL (stack_size above HAUL_STACK_MAX, order above
 * HAUL_ORDERS, or carrier, rt or fn is NULL); -ECANCELED (the runtime is stopping); -EPERM
 * (haul_spawn() on a thread that is no carrier; a child of fork(), which has no carriers).
 */
HAUL_API int haul_spawn(
	struct haul_coro **co, haul_fn *fn, void *arg, const struct haul_coro_opts *opts);
HAUL_API int haul_spawn_on(struct haul_carrier *carrier, struct haul_coro **co, haul_fn *fn,
	void *arg, const struct haul_coro_opts *opts);
HAUL_API int haul_spawn_any(struct haul_runtime *rt, struct haul_coro **co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts);

/*
 * Spawns n coroutines, the i-th of which runs fn(args[i]), or fn(NULL) if args is NULL. All or
 * none. On a carrier of rt: as haul_spawn() for each. From another thread: they wait in a queue of
 * one cluster (the options say which), and its carriers share them. A carrier takes some when it
 * has little else to do, and becomes their home. The caller pays for one push, and wakes one
 * carrier, which wakes the next.
 * cos: NULL, or room for n handles, each as *co above. They may be joined, cancelled and so on at
 * once. args and opts are the caller's again on return. Coroutines of one call that the same
 * carrier takes start in order. Any thread; does not suspend. 0, or errors as above.
 */
HAUL_API int haul_spawn_many(struct haul_runtime *rt, struct haul_coro **cos, haul_fn *fn,
	void *const args[], unsigned n, const struct haul_coro_opts *opts);

/*
 * Waits until co has ended, stores what its body returned in *result (may be NULL) and
 * frees co. A coroutine, or a thread that is no carrier (that thread blocks).
 * Cancelling the caller does not end the wait. 0; -EDEADLK if co is the caller; -EINVAL if co is
 * NULL; -EPERM in a child of fork().
 */
HAUL_API int haul_join(struct haul_coro *co, void **result) HAUL_SUSPENDS;

/* Gives up the right to join: co is freed when it ends. Any thread. */
HAUL_API void haul_detach(struct haul_coro *co);

/* Lets the other ready coroutines and the poller go first. */
HAUL_API void haul_yield(void) HAUL_SUSPENDS;

/* Suspends for at least ns. 0, or -ECANCELED. If the caller is cancelled already, it lets other
 * coroutines run once and returns -ECANCELED. */
HAUL_API int haul_sleep(uint64_t ns) HAUL_SUSPENDS;

/*
 * haul_park() waits for a permit and takes it; haul_unpark() gives one. A coroutine holds at most
 * one permit: giving it twice before it is taken is giving it once. So an unpark that comes before
 * the park is not lost, and a caller of park re-checks its condition.
 * haul_park: 0, or -ECANCELED; if the caller is cancelled already, as haul_sleep().
 * haul_unpark: any thread. The caller must know that co has not been joined, and if it was
 * detached, that it has not ended.
 */
HAUL_API int haul_park(void) HAUL_SUSPENDS;
HAUL_API void haul_unpark(struct haul_coro *co);

/*
 * Asks co to end, once and for all: the present wait of co and all later ones return -ECANCELED
 * (those of the functions that list it), the later ones after other coroutines have run once; a
 * poller's haul_maybe_yield() returns false. Any thread, same condition on co as for haul_unpark().
 */
HAUL_API void haul_cancel(struct haul_coro *co);

/* True if the running coroutine was asked to end. False outside coroutines. */
HAUL_API bool haul_cancelled(void);

/*
 * haul_pin: from here on the running coroutine is not stolen; if it is away, it returns to its home
 * first. For code that uses data of its carrier. haul_unpin ends that. They do not nest: one
 * haul_unpin ends any number of haul_pin.
 */
HAUL_API void haul_pin(void) HAUL_SUSPENDS;
HAUL_API void haul_unpin(void);

/* The running coroutine (a poller is one); NULL in any other context. Any thread. */
HAUL_API struct haul_coro *haul_self(void);

/* The name given at the spawn. Any thread, same condition on co as for haul_unpark(). */
HAUL_API const char *haul_coro_name(const struct haul_coro *co);

/* The home of co. NULL if haul_spawn_many() has spawned it and no carrier has taken it yet. Any
 * thread, same condition on co. */
HAUL_API struct haul_carrier *haul_coro_home(const struct haul_coro *co);

#ifdef __cplusplus
}
#endif

#endif
