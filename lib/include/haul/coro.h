/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coroutines: functions in plain blocking C, each with a stack of its own and a home carrier.
 *
 * A carrier is a thread of the runtime, usually pinned to a CPU (haul/runtime.h). A coroutine keeps
 * its home for life and runs there. A slice is what it runs from one suspension to the next; with
 * stealing, an idle carrier may run a slice of it in place of the home.
 *
 * The functions below are called by coroutines, unless their comments say otherwise.
 *
 * Misuse that has no error code (haul_sleep() outside a coroutine; a handle that is NULL or was
 * joined before) ends the program in every build: the call prints one line on stderr, "haul:
 * CALL(): what is wrong", and aborts. A handle that was joined or detached is detected as such
 * until a new coroutine gets the same memory.
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

/* The body of a coroutine. haul_join() stores its return value in *result. */
typedef void *haul_fn(void *arg);

#define HAUL_ORDER_KEYS 254
#define HAUL_STACK_MAX (UINT32_C(2040) << 10) /* the largest stack_size, in bytes */

/* Options of a spawn. NULL, or a struct of zeros, means the defaults. */
struct haul_coro_opts {
	const char *name; /* not copied: must outlive the coroutine; NULL: "-" */
	/* Usable bytes, rounded up to 8, 24, 56, 120, 248, 504, 1016 or 2040 KiB; 0: the default of
	 * the runtime. */
	size_t stack_size;
	bool pinned; /* never stolen */
	/*
	 * The order key, 1 to HAUL_ORDER_KEYS: coroutines with the same key and the same home send
	 * (haul_send()) in the order in which their slices would run without stealing. 0: no
	 * order. No coroutine waits for pinned ones, because these are never stolen.
	 */
	uint8_t order_key;
	/*
	 * For haul_spawn_any() and haul_spawn_many() from a thread that is no carrier: the home
	 * will be in the same cluster as this carrier. NULL: in the cluster nearest to the CPU
	 * that the calling thread runs on.
	 */
	struct haul_carrier *near;
	/* For haul_spawn_any() from a thread that is no carrier: choose the home round robin, not
	 * by load, among the carriers of near's cluster, or among all if near is NULL. */
	bool round_robin;
	/*
	 * While the coroutine waits in haul_park() or haul_sleep(), nobody else uses memory on its
	 * stack: no other coroutine or thread, and no system call or device, reads or writes it.
	 * So if the runtime has hibernate_after_ns, the coroutine may hibernate: its stack's memory
	 * goes back to the kernel, and comes back, at the same address, before it continues.
	 * Pointers to its stack that others only keep are no use. Scopes, shields and values that
	 * it has on its stack are known to haul: it does not hibernate inside them.
	 */
	bool hibernates;
};

/*
 * Each spawns a coroutine that runs fn(arg). They differ in the choice of its home:
 *   haul_spawn      the home of the calling coroutine; only from coroutines and pollers
 *   haul_spawn_on   the given carrier; any thread
 *   haul_spawn_any  on a carrier of rt as haul_spawn(); from any other thread the less loaded of
 *                   two carriers of one cluster (near and round_robin choose among them), of
 *                   those in use if some are spared (haul_io_use())
 * co == NULL: the coroutine is detached, and freed when it ends. Otherwise *co gets a handle, which
 * the caller passes to haul_join() or haul_detach() exactly once.
 * They do not suspend. Coroutines that one thread spawns on one carrier start in that order.
 * A coroutine gets a stack when it begins. If there is no memory for one then, it goes behind the
 * ready coroutines and tries again, until there is.
 * Return 0; -ENOMEM (no memory for a coroutine); -EINVAL (stack_size above HAUL_STACK_MAX, or
 * order_key above HAUL_ORDER_KEYS); -ECANCELED (the runtime is stopping); -EPERM (haul_spawn() on a
 * thread that is no carrier; any of them in a child of fork(), which has no carriers).
 */
HAUL_API int haul_spawn(
	struct haul_coro **co, haul_fn *fn, void *arg, const struct haul_coro_opts *opts);
HAUL_API int haul_spawn_on(struct haul_carrier *carrier, struct haul_coro **co, haul_fn *fn,
	void *arg, const struct haul_coro_opts *opts);
HAUL_API int haul_spawn_any(struct haul_runtime *rt, struct haul_coro **co, haul_fn *fn, void *arg,
	const struct haul_coro_opts *opts);

/*
 * Spawns n coroutines, or none on an error. The i-th runs fn(args[i]), or fn(NULL) if args is NULL.
 * On a carrier of rt: as n calls of haul_spawn(). From any other thread: as one batch into the
 * injector queue of one cluster (near chooses it), from which the carriers of the cluster take
 * coroutines as they have time; a carrier becomes the home of what it takes. The call costs one
 * push and at most one wake-up; a woken carrier that leaves some in the queue wakes the next.
 * cos: NULL (all are detached), or room for n handles, each as *co above, valid for every call at
 * once. The caller owns args and opts again on return. Coroutines of one call that the same carrier
 * takes start in order. Any thread. Does not suspend. Returns 0 or an error as above.
 */
HAUL_API int haul_spawn_many(struct haul_runtime *rt, struct haul_coro **cos, haul_fn *fn,
	void *const args[], unsigned n, const struct haul_coro_opts *opts);

/*
 * Waits until co has ended, stores the return value of its body in *result (result may be NULL),
 * and frees co. Called by a coroutine, which suspends, or by a thread that is no carrier, which
 * blocks. Cancelling the caller does not end the wait. deadline: a point of haul_now()'s clock,
 * such as haul_in(5 * HAUL_MS), or HAUL_FOREVER. The result of a co that has ended comes from its
 * home: if that is another carrier, a call with an earlier deadline, or 0, waits up to a
 * millisecond for it.
 * haul_stop() waits for the joins of threads. It does not wait for those of coroutines of other
 * runtimes: such a join begins and returns before co's runtime is stopped.
 * Returns 0; -EDEADLK (co is the caller); -EPERM (in a child of fork()); -ECANCELED (called by a
 * thread, and another thread's haul_stop() was faster: co is gone). Or, after which co may be
 * joined or detached as before: -ETIMEDOUT; -EAGAIN (the deadline is 0, and co has not ended, or
 * its home has not answered).
 */
HAUL_API int haul_join(struct haul_coro *co, void **result, uint64_t deadline) HAUL_SUSPENDS;

/* Gives up the handle: co is freed when it ends. Any thread. Does not suspend. */
HAUL_API void haul_detach(struct haul_coro *co);

/* Lets the coroutines that are ready now run first, and the poller when it is due
 * (haul_runtime_opts.poll_interval_ns). */
HAUL_API void haul_yield(void) HAUL_SUSPENDS;

/*
 * For loops. Returns false if the caller is cancelled, and is to end.
 * In a coroutine, between the steps of a long computation: yields if the carrier's coroutines have
 *     run without a break for haul_runtime_opts.poll_interval_ns, so that a step may take as long
 *     as that. Else returns after a look at the clock. had_io is ignored. Of those that have used
 *     up most of that time themselves, one goes on at a time, the longest waiting first; then the
 *     others that are ready, a batch of them, and so on: these wait for one slice, however many
 *     compute.
 * In a poller, at the end of each cycle: runs coroutines that are ready, or returns at once, after
 *     a few loads, if none is. had_io: the cycle found input.
 * Not in burst handlers and sources: they are on the stack of their poller, which has its turn when
 * they return.
 */
HAUL_API bool haul_maybe_yield(bool had_io) HAUL_SUSPENDS;

/* Suspends for at least ns nanoseconds. Returns 0, or -ECANCELED if the caller is cancelled before
 * or during the call; if before, other coroutines run once all the same. -ETIMEDOUT: the deadline
 * of an enclosing scope was earlier (haul/scope.h). */
HAUL_API int haul_sleep(uint64_t ns) HAUL_SUSPENDS;

/* The same until a point of haul_now()'s clock, such as haul_in(HAUL_MS): periodic work does not
 * drift with at += period. If that time has passed, other coroutines run once. */
HAUL_API int haul_sleep_until(uint64_t at) HAUL_SUSPENDS;

/*
 * Each coroutine has at most one permit. haul_unpark() gives it one; haul_park() takes it, and
 * suspends until there is one. So an unpark before the park is not lost, and two unparks before a
 * park count as one: park in a loop that checks the awaited condition.
 * haul_park: returns 0; -ETIMEDOUT (there was no permit until the deadline: as for haul_join());
 *     -EAGAIN (the deadline is 0, and there is none now); -ECANCELED as haul_sleep() does. If it
 *     returns an error, it has taken no permit.
 * haul_unpark: any thread. Does not suspend. The caller guarantees that co is valid: not joined
 *     yet, and if detached, not ended yet.
 */
HAUL_API int haul_park(uint64_t deadline) HAUL_SUSPENDS;
HAUL_API void haul_unpark(struct haul_coro *co);

/*
 * Asks co to end; this cannot be undone. The current wait of co and all later ones return
 * -ECANCELED (in functions that list this error), and haul_maybe_yield() of a poller returns false.
 * Later waits still run other coroutines once before they return. A shield postpones all this
 * (haul/scope.h). Any thread. Does not suspend. The caller guarantees that co is valid, as for
 * haul_unpark().
 */
HAUL_API void haul_cancel(struct haul_coro *co);

/* True if the running coroutine is cancelled. False outside coroutines. Any thread. */
HAUL_API bool haul_cancelled(void);

/*
 * For code that uses data of its home carrier. haul_pin() keeps the running coroutine from being
 * stolen; if it runs on another carrier now, it returns to its home first. haul_unpin() allows
 * stealing again, unless the coroutine was spawned pinned, and does not suspend. They do not nest:
 * one haul_unpin() undoes every haul_pin().
 */
HAUL_API void haul_pin(void) HAUL_SUSPENDS;
HAUL_API void haul_unpin(void);

/* The running coroutine (pollers are coroutines), or NULL outside coroutines. Any thread. */
HAUL_API struct haul_coro *haul_self(void);

/* The name that the spawn gave co. Any thread. co must be valid, as for haul_unpark(). */
HAUL_API const char *haul_coro_name(const struct haul_coro *co);

/* The home of co; NULL while co waits in an injector queue (haul_spawn_many()). Any thread. co must
 * be valid, as for haul_unpark(). */
HAUL_API struct haul_carrier *haul_coro_home(const struct haul_coro *co);

#ifdef __cplusplus
}
#endif

#endif
