// SPDX-License-Identifier: BSD-3-Clause
// The boost.fiber side of the benchmarks of bench/sync.c and sync-across.c: answers to "--once CASE
// SIDE N", like the harness's own programs, by one line "ns=... n=...".
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include <boost/fiber/all.hpp>

namespace fibers = boost::fibers;

namespace
{

using steady = std::chrono::steady_clock;
using channel = fibers::buffered_channel<uint64_t>;

constexpr uint64_t warm_up = 1000;
constexpr size_t room = 16;

// Keeps the compiler from removing the operations.
void keep(uint64_t value)
{
	asm volatile("" : : "g"(value) : "memory");
}

void must(bool done)
{
	if (!done) {
		std::fprintf(stderr, "peer-fiber: a wait failed\n");
		std::exit(1);
	}
}

void send(channel &ch, uint64_t value)
{
	must(ch.push(value) == fibers::channel_op_status::success);
}

void receive(channel &ch, bool limited)
{
	uint64_t value;

	must((limited ? ch.pop_wait_for(value, std::chrono::seconds(1)) : ch.pop(value)) ==
		fibers::channel_op_status::success);
	keep(value);
}

// The time of n operations, after a warm-up.
template <typename Operation> uint64_t measure(uint64_t n, Operation operation)
{
	for (uint64_t i = 0; i < warm_up; i++)
		operation(i);
	auto start = steady::now();
	for (uint64_t i = 0; i < n; i++)
		operation(i);
	return std::chrono::nanoseconds(steady::now() - start).count();
}

uint64_t lock_unlock(uint64_t n, bool)
{
	fibers::mutex mutex;

	return measure(n, [&](uint64_t) {
		mutex.lock();
		mutex.unlock();
	});
}

uint64_t send_recv(uint64_t n, bool)
{
	channel ch(room);

	return measure(n, [&](uint64_t i) {
		send(ch, i);
		receive(ch, false);
	});
}

uint64_t contended(uint64_t n, bool)
{
	fibers::mutex mutex;
	auto lock_and_yield = [&](uint64_t) {
		mutex.lock();
		boost::this_fiber::yield();
		mutex.unlock();
	};
	fibers::fiber other([&] {
		for (uint64_t i = 0; i < warm_up + n / 2; i++)
			lock_and_yield(i);
	});
	uint64_t ns = measure(n / 2, lock_and_yield);

	other.join();
	return ns;
}

// Round trips by channels with room, which are cheaper than those without.
uint64_t bounce(uint64_t n, bool limited)
{
	channel ping(2), pong(2);
	fibers::fiber other([&] {
		for (uint64_t i = 0; i < warm_up + n; i++) {
			receive(ping, limited);
			send(pong, i);
		}
	});
	uint64_t ns = measure(n, [&](uint64_t i) {
		send(ping, i);
		receive(pong, limited);
	});

	other.join();
	return ns;
}

struct turns {
	fibers::mutex mutex;
	fibers::condition_variable changed[2];
	unsigned turn = 0; // whose

	void await(unsigned who, bool limited)
	{
		std::unique_lock<fibers::mutex> lock(mutex);

		while (turn != who) {
			if (limited)
				must(changed[who].wait_for(lock, std::chrono::seconds(1)) ==
					fibers::cv_status::no_timeout);
			else
				changed[who].wait(lock);
		}
	}

	void give(unsigned whose)
	{
		mutex.lock();
		turn = whose;
		mutex.unlock();
		changed[whose].notify_one();
	}
};

uint64_t cond(uint64_t n, bool limited)
{
	turns t;
	fibers::fiber other([&] {
		for (uint64_t i = 0; i < warm_up + n; i++) {
			t.await(1, limited);
			t.give(0);
		}
	});
	uint64_t ns = measure(n, [&](uint64_t) {
		t.give(1);
		t.await(0, limited);
	});

	other.join();
	return ns;
}

// From a fiber of one thread to one of another.
uint64_t send_recv_across(uint64_t n, bool)
{
	channel ch(room);
	std::thread other([&] {
		for (uint64_t i = 0; i < warm_up + n; i++)
			send(ch, i);
	});
	uint64_t ns = measure(n, [&](uint64_t) { receive(ch, false); });

	other.join();
	return ns;
}

const std::map<std::string, uint64_t (*)(uint64_t n, bool limited)> benches = {
	{"lock-unlock", lock_unlock},
	{"send-recv", send_recv},
	{"contended", contended},
	{"bounce", bounce},
	{"cond", cond},
	{"send-recv-across", send_recv_across},
};

} // namespace

int main(int argc, char **argv)
{
	std::string name = argc == 5 ? argv[2] : "";
	size_t slash = name.find('/');
	auto bench = benches.find(name.substr(0, slash));

	if (argc != 5 || bench == benches.end()) {
		std::fprintf(stderr, "usage: %s --once CASE[/1] SIDE N\n", argv[0]);
		return 2;
	}
	uint64_t n = std::strtoull(argv[4], nullptr, 10);

	std::printf("ns=%" PRIu64 " n=%" PRIu64 "\n", bench->second(n, slash != name.npos), n);
}
