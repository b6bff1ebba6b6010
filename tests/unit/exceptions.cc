/* SPDX-License-Identifier: BSD-3-Clause */
/* C++ exceptions across suspensions: each coroutine has its own. Prints TAP itself. */
#include <haul/driver.h>
#include <haul/haul.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

namespace
{

std::atomic<int> wrong;

#define SAYS(cond)                                                                    \
	do {                                                                          \
		if (!(cond)) {                                                        \
			std::printf("# %s:%d: not: %s\n", __FILE__, __LINE__, #cond); \
			wrong++;                                                      \
		}                                                                     \
	} while (0)

haul_runtime *rt;

void *run_on(unsigned carrier, haul_fn *fn, void *arg)
{
	haul_coro *co;
	void *result = nullptr;

	SAYS(haul_spawn_on(haul_carrier(rt, carrier), &co, fn, arg, nullptr) == 0);
	SAYS(haul_join(co, &result, HAUL_FOREVER) == 0);
	return result;
}

/* The exception that is being handled, thrown again, as a handler may do. */
std::string handled()
{
	try {
		throw;
	} catch (const std::exception &e) {
		return e.what();
	}
}

/* Several coroutines run the same body, each with exceptions of its own. */
constexpr int EACH = 8;
constexpr int TURNS = 5;

void each(haul_fn *fn)
{
	haul_coro *co[EACH];

	for (long i = 0; i < EACH; i++)
		SAYS(haul_spawn_on(haul_carrier(rt, 0), &co[i], fn, reinterpret_cast<void *>(i),
			     nullptr) == 0);
	for (int i = 0; i < EACH; i++)
		SAYS(haul_join(co[i], nullptr, HAUL_FOREVER) == 0);
}

std::string name_of(void *arg)
{
	return "of coroutine " + std::to_string(reinterpret_cast<long>(arg));
}

void *yields_in_a_handler(void *arg)
{
	const std::string mine = name_of(arg);

	SAYS(!std::current_exception());
	for (int i = 0; i < TURNS; i++) {
		try {
			throw std::runtime_error(mine);
		} catch (const std::exception &e) {
			haul_yield();
			SAYS(e.what() == mine && handled() == mine);
			haul_sleep(1000);
			SAYS(handled() == mine);
		}
		SAYS(!std::current_exception());
		haul_yield();
		SAYS(!std::current_exception());
	}
	return nullptr;
}

void handlers_that_suspend()
{
	each(yields_in_a_handler);
}

void *nests(void *arg)
{
	const std::string outer = "outer " + name_of(arg), inner = "inner " + name_of(arg);

	try {
		throw std::runtime_error(outer);
	} catch (...) {
		haul_yield();
		try {
			haul_yield();
			throw std::runtime_error(inner);
		} catch (...) {
			haul_yield();
			SAYS(handled() == inner);
			haul_yield();
		}
		haul_yield();
		SAYS(handled() == outer);
	}
	SAYS(!std::current_exception());
	return nullptr;
}

void handlers_in_handlers()
{
	each(nests);
}

/* The coroutine ends by a throw, after a suspension, out of a function. */
void throws_again(const std::string &what)
{
	try {
		throw std::runtime_error(what);
	} catch (...) {
		haul_yield();
		throw;
	}
}

void *catches_again(void *arg)
{
	const std::string mine = name_of(arg);

	for (int i = 0; i < TURNS; i++) {
		try {
			throws_again(mine);
			SAYS(!"thrown");
		} catch (const std::runtime_error &e) {
			SAYS(e.what() == mine);
			haul_yield();
			SAYS(e.what() == mine && handled() == mine);
		}
	}
	return nullptr;
}

void thrown_again_after_a_suspension()
{
	each(catches_again);
}

/* A destructor that runs during unwinding. */
struct waits_at_its_end {
	int *ended;

	~waits_at_its_end()
	{
		SAYS(std::uncaught_exceptions() == 1);
		haul_yield();
		SAYS(std::uncaught_exceptions() == 1);
		try {
			throw std::logic_error("within");
		} catch (...) {
			haul_yield();
			SAYS(handled() == "within");
			SAYS(std::uncaught_exceptions() == 1);
		}
		++*ended;
	}
};

void *unwinds(void *arg)
{
	const std::string mine = name_of(arg);
	int ended = 0;

	SAYS(std::uncaught_exceptions() == 0);
	try {
		waits_at_its_end first{&ended}, second{&ended};

		throw std::runtime_error(mine);
	} catch (const std::exception &e) {
		SAYS(ended == 2 && e.what() == mine);
		SAYS(std::uncaught_exceptions() == 0);
	}
	return nullptr;
}

void destructors_that_suspend()
{
	each(unwinds);
}

/* A cancelled wait: the coroutine goes on and cleans up by itself. */
struct cancelled : std::exception {
};

std::atomic<int> cleaned;

struct cleans {
	~cleans()
	{
		cleaned++;
	}
};

void *waits_until_cancelled(void *arg)
{
	try {
		cleans here;

		try {
			throw std::runtime_error("at first");
		} catch (...) {
			if (haul_park(HAUL_FOREVER) == -ECANCELED)
				throw cancelled();
		}
	} catch (const cancelled &) {
		SAYS(haul_sleep(1) == -ECANCELED);
		return arg;
	}
	return nullptr;
}

void cancelled_waits_clean_up()
{
	haul_coro *co[EACH];
	void *result;

	cleaned = 0;
	for (auto &c : co)
		SAYS(haul_spawn_on(haul_carrier(rt, 0), &c, waits_until_cancelled, &rt, nullptr) ==
			0);
	for (auto c : co)
		haul_cancel(c);
	for (auto c : co)
		SAYS(haul_join(c, &result, HAUL_FOREVER) == 0 && result == &rt);
	SAYS(cleaned == EACH);
}

void *returns_what_it_handles(void *arg)
{
	SAYS(!std::current_exception() && std::uncaught_exceptions() == 0);
	return arg;
}

/* A coroutine spawned and joined within a handler. */
void *joins(void *arg)
{
	const std::string mine = name_of(arg);
	haul_coro *child;

	try {
		throw std::runtime_error(mine);
	} catch (...) {
		SAYS(haul_spawn(&child, returns_what_it_handles, nullptr, nullptr) == 0);
		SAYS(haul_join(child, nullptr, HAUL_FOREVER) == 0);
		run_on(1, returns_what_it_handles, nullptr);
		SAYS(handled() == mine);
	}
	return nullptr;
}

void joined_in_a_handler()
{
	each(joins);
}

/* An exception that is kept, and thrown by another coroutine on another carrier. */
void *throws_what_it_is_given(void *arg)
{
	try {
		std::rethrow_exception(*static_cast<std::exception_ptr *>(arg));
	} catch (const std::exception &e) {
		haul_yield();
		SAYS(handled() == "given");
	}
	return nullptr;
}

void handed_over()
{
	std::exception_ptr kept;

	try {
		throw std::runtime_error("given");
	} catch (...) {
		kept = std::current_exception();
		run_on(0, throws_what_it_is_given, &kept);
		run_on(1, throws_what_it_is_given, &kept);
		SAYS(handled() == "given");
	}
}

/* A handler that begins in one thread and continues in another. */
std::atomic<bool> remote, hogs;

void *hog(void *)
{
	hogs = true;
	while (!remote)
		;
	return nullptr;
}

void *goes_remote(void *arg)
{
	auto *home = haul_carrier_self();
	haul_coro_opts stays = {};

	stays.pinned = true; /* stolen itself, it would leave nobody to steal this one */
	try {
		throw std::runtime_error("at home");
	} catch (const std::exception &e) {
		haul_spawn(nullptr, hog, nullptr, &stays);
		while (haul_carrier_self() == home)
			haul_yield();
		SAYS(handled() == "at home");
		try {
			throw std::logic_error("remote");
		} catch (...) {
			remote = true;
			haul_sleep(1000);
			SAYS(haul_carrier_self() == home);
			SAYS(handled() == "remote");
		}
		SAYS(handled() == "at home");
	}
	SAYS(!std::current_exception());
	return arg;
}

void stolen_in_a_handler()
{
	remote = hogs = false;
	run_on(0, goes_remote, nullptr);
	SAYS(hogs && remote);
}

/* A poller of a C++ program. */
std::atomic<int> cycles;

void *polls(void *)
{
	for (bool goes_on = true; goes_on;) {
		try {
			throw std::runtime_error("of the poller");
		} catch (...) {
			goes_on = haul_maybe_yield(false);
			SAYS(handled() == "of the poller");
		}
		cycles++;
	}
	return nullptr;
}

void pollers_that_handle()
{
	haul_coro *poller;

	cycles = 0;
	SAYS(haul_poller_register(haul_carrier(rt, 0), &poller, polls, nullptr, nullptr) == 0);
	each(yields_in_a_handler);
	while (cycles < 10)
		;
	haul_cancel(poller);
	SAYS(haul_join(poller, nullptr, HAUL_FOREVER) == 0);
}

/* A block with a scope is left by a throw: its children end first, while the exception is under
 * way; then a shield is entered in its handler. */
int counts(void *arg)
{
	haul_yield();
	try {
		throw std::runtime_error("of a child");
	} catch (const std::exception &) {
		haul_yield();
		(*static_cast<std::atomic<int> *>(arg))++;
	}
	return 0;
}

void throws_out_of_a_scope(std::atomic<int> *ended, const std::string &what)
{
	HAUL_SCOPE(scope, HAUL_FOREVER, HAUL_SCOPE_ALL);

	for (int i = 0; i < 3; i++)
		SAYS(haul_scope_spawn(&scope, counts, ended, nullptr) == 0);
	throw std::runtime_error(what);
}

void *catches_out_of_scopes(void *arg)
{
	const std::string mine = name_of(arg);
	static const char key = 0;

	for (int i = 0; i < TURNS; i++) {
		std::atomic<int> ended(0);

		try {
			HAUL_WITH(&key, arg);
			throws_out_of_a_scope(&ended, mine);
		} catch (const std::exception &e) {
			HAUL_SHIELD(haul_in(3600 * HAUL_S));
			SAYS(ended == 3);
			SAYS(haul_sleep(1000) == 0);
			SAYS(e.what() == mine && handled() == mine);
		}
		SAYS(!haul_value(&key));
	}
	return nullptr;
}

void thrown_out_of_scopes()
{
	each(catches_out_of_scopes);
}

const struct {
	const char *name;
	void (*fn)();
	haul_steal steal;
} tests[] = {
	{"handlers that suspend", handlers_that_suspend, HAUL_STEAL_OFF},
	{"handlers in handlers", handlers_in_handlers, HAUL_STEAL_OFF},
	{"thrown again after a suspension", thrown_again_after_a_suspension, HAUL_STEAL_OFF},
	{"destructors that suspend", destructors_that_suspend, HAUL_STEAL_OFF},
	{"cancelled waits clean up", cancelled_waits_clean_up, HAUL_STEAL_OFF},
	{"joined in a handler", joined_in_a_handler, HAUL_STEAL_OFF},
	{"handed over to another carrier", handed_over, HAUL_STEAL_OFF},
	{"a poller that handles", pollers_that_handle, HAUL_STEAL_OFF},
	{"thrown out of scopes", thrown_out_of_scopes, HAUL_STEAL_OFF},
	{"thrown out of scopes, where carriers steal", thrown_out_of_scopes, HAUL_STEAL_GLOBAL},
	{"handlers that suspend, where carriers steal", handlers_that_suspend, HAUL_STEAL_GLOBAL},
	{"destructors that suspend, where carriers steal", destructors_that_suspend,
		HAUL_STEAL_GLOBAL},
	{"stolen in a handler", stolen_in_a_handler, HAUL_STEAL_GLOBAL},
};

} // namespace

int main()
{
	const int n = sizeof(tests) / sizeof(tests[0]);
	bool failed = false;

	std::printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		haul_plan_opts two = {};
		haul_runtime_opts opts = {};
		haul_plan *plan;
		char why[256] = "";
		int err;

		two.carriers = 2;
		opts.steal = tests[i].steal;
		wrong = 0;
		if (haul_plan_create(&plan, &two, why, sizeof(why)) != 0) {
			std::printf("Bail out! %s\n", why);
			return 1;
		}
		opts.plan = plan;
		err = haul_start(&rt, &opts, NULL, 0);
		haul_plan_destroy(plan);
		if (err == -ENOTSUP && opts.steal != HAUL_STEAL_OFF) {
			std::printf("ok %d - %s # SKIP no stealing\n", i + 1, tests[i].name);
			continue;
		}
		SAYS(err == 0);
		tests[i].fn();
		SAYS(haul_stop(rt, HAUL_FOREVER) == 0);
		std::printf("%sok %d - %s\n", wrong ? "not " : "", i + 1, tests[i].name);
		failed |= wrong != 0;
	}
	return failed;
}
