/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outcomes that the explorer's memories allow: litmus tests by their usual names, each with an
 * outcome that a memory either can show or cannot. (litmus.c shows the hardware.) Speaks TAP.
 *
 * A letter for each access, in the order of the text: W, R, U (read-modify-write), and its order: x
 * relaxed, a acquire, r release, s seq_cst; F a fence: Fa, Fr, Fs; Fl, Fh the light and the heavy
 * fence of conc/fence.h. "|" divides threads.
 */
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "conc/fence.h"
#include "explorer.h"

static struct {
	_Atomic uint64_t x, y, z;
	uint64_t r[4]; /* values read */
} m;

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define SC memory_order_seq_cst
#define R(n, word, order) (m.r[n] = atomic_load_explicit(&m.word, order))
#define W(word, value, order) atomic_store_explicit(&m.word, value, order)
#define U(word, order) atomic_fetch_add_explicit(&m.word, 1, order)
#define F(order) atomic_thread_fence(order)

/* A thread's body, as a function. */
#define THREAD(name, ...)      \
	static void name(void) \
	{                      \
		__VA_ARGS__;   \
	}

THREAD(wx_x, W(x, 1, RLX))
THREAD(wx_y, W(y, 1, RLX))

/* SB: each stores to its own word and reads the other's; both read 0. */
THREAD(sb_wx_rx_0, W(x, 1, RLX); R(0, y, RLX))
THREAD(sb_wx_rx_1, W(y, 1, RLX); R(1, x, RLX))
THREAD(sb_wr_ra_0, W(x, 1, REL); R(0, y, ACQ))
THREAD(sb_wr_ra_1, W(y, 1, REL); R(1, x, ACQ))
THREAD(sb_fs_0, W(x, 1, RLX); F(SC); R(0, y, RLX))
THREAD(sb_fs_1, W(y, 1, RLX); F(SC); R(1, x, RLX))
THREAD(sb_s_0, W(x, 1, SC); R(0, y, SC))
THREAD(sb_s_1, W(y, 1, SC); R(1, x, SC))
THREAD(sb_fl_0, W(x, 1, RLX); hauli_fence_light(); R(0, y, RLX))
THREAD(sb_fl_1, W(y, 1, RLX); hauli_fence_light(); R(1, x, RLX))
THREAD(sb_fh_1, W(y, 1, RLX); hauli_fence_heavy(); R(1, x, RLX))
THREAD(sb_u_0, W(x, 1, RLX); U(z, ACQ); R(0, y, RLX))
THREAD(sb_u_1, W(y, 1, RLX); U(z, ACQ); R(1, x, RLX))
static bool both_0(void)
{
	return m.r[0] == 0 && m.r[1] == 0;
}

/* MP: the reader sees the flag y, but not the earlier store to x. */
THREAD(mp_w_wx, W(x, 1, RLX); W(y, 1, RLX))
THREAD(mp_w_wr, W(x, 1, RLX); W(y, 1, REL))
THREAD(mp_w_fr, W(x, 1, RLX); F(REL); W(y, 1, RLX))
THREAD(mp_w_again, W(x, 1, RLX); W(y, 2, REL); W(y, 1, RLX))
THREAD(mp_w_before, W(x, 1, REL); W(y, 1, RLX))
THREAD(mp_r_rx, R(0, y, RLX); R(1, x, RLX))
THREAD(mp_r_ra, R(0, y, ACQ); R(1, x, RLX))
THREAD(mp_r_fa, R(0, y, RLX); F(ACQ); R(1, x, RLX))
THREAD(mp_r_u, m.r[0] = U(y, ACQ); R(1, x, RLX))
THREAD(mp_r_cas_x, uint64_t none = 7;
	(void)atomic_compare_exchange_strong_explicit(&m.y, &none, 8, ACQ, RLX); m.r[0] = none;
	R(1, x, RLX))
THREAD(mp_r_cas_a, uint64_t none = 7;
	(void)atomic_compare_exchange_strong_explicit(&m.y, &none, 8, ACQ, ACQ); m.r[0] = none;
	R(1, x, RLX))
static bool flag_only(void)
{
	return m.r[0] == 1 && m.r[1] == 0;
}

/* The same with a third thread, which adds to the flag or stores it anew: release sequences. */
THREAD(rs_r, R(0, y, ACQ); R(1, x, RLX))
THREAD(rs_ux, U(y, RLX))
THREAD(rs_wx, R(2, y, RLX); W(y, 2, RLX))
static bool flag_2_only(void)
{
	return m.r[0] == 2 && m.r[1] == 0;
}
static bool flag_2_after_1_only(void)
{
	return m.r[2] == 1 && flag_2_only();
}

/* WRC: thread 2 reads thread 1's store and sets a flag; thread 3 reads the flag. */
THREAD(wrc_ra_wr, R(2, x, ACQ); W(y, 1, REL))
THREAD(wrc_rx_wr, R(2, x, RLX); W(y, 1, REL))
THREAD(wrc_ra_wx, R(2, x, ACQ); W(y, 1, RLX))
static bool seen_and_flag_only(void)
{
	return m.r[2] == 1 && flag_only();
}

/* LB: each reads the other's store, which comes after the other's own read. */
THREAD(lb_0, R(0, x, RLX); W(y, 1, RLX))
THREAD(lb_1, R(1, y, RLX); W(x, 1, RLX))
static bool both_1(void)
{
	return m.r[0] == 1 && m.r[1] == 1;
}

/* The same without a circle: z is seen, which comes after y, which comes after x; x is not seen. */
THREAD(lb_fs_w, W(x, 1, RLX); F(SC); W(y, 1, RLX))
THREAD(lb_passes, R(2, y, RLX); W(z, 1, RLX))
THREAD(lb_fs_r, R(0, z, RLX); F(SC); R(1, x, RLX))
static bool z_only(void)
{
	return m.r[2] == 1 && flag_only();
}

/* CoRR: the newer value first. CoWR: its own store, then an older one. */
THREAD(corr_w, W(x, 1, RLX); W(x, 2, RLX))
THREAD(corr_r, R(0, x, RLX); R(1, x, RLX))
static bool newer_first(void)
{
	return m.r[0] == 2 && m.r[1] == 1;
}
THREAD(cowr, W(x, 2, RLX); R(0, x, RLX); R(1, x, RLX))
static bool away_and_back(void)
{
	return m.r[0] == 1 && m.r[1] == 2;
}
/* Two readers disagree about the order of two stores to one word. */
THREAD(wx_x2, W(x, 2, RLX))
THREAD(corr_r2, R(2, x, RLX); R(3, x, RLX))
static bool disagree(void)
{
	return m.r[0] == 1 && m.r[1] == 2 && m.r[2] == 2 && m.r[3] == 1;
}

/* 2+2W: each stores 1 to one word, 2 to the other; both end as 1. */
THREAD(ww_x_0, W(x, 1, RLX); W(y, 2, RLX))
THREAD(ww_x_1, W(y, 1, RLX); W(x, 2, RLX))
THREAD(ww_r_0, W(x, 1, REL); W(y, 2, REL))
THREAD(ww_r_1, W(y, 1, REL); W(x, 2, REL))
THREAD(ww_fs_0, W(x, 1, RLX); F(SC); W(y, 2, RLX))
THREAD(ww_fs_1, W(y, 1, RLX); F(SC); W(x, 2, RLX))
static bool both_end_as_1(void)
{
	return m.x == 1 && m.y == 1;
}

/* IRIW: two stores, two readers that see them in different orders. */
THREAD(iriw_a_0, R(0, x, ACQ); R(1, y, ACQ))
THREAD(iriw_a_1, R(2, y, ACQ); R(3, x, ACQ))
THREAD(iriw_fs_0, R(0, x, RLX); F(SC); R(1, y, RLX))
THREAD(iriw_fs_1, R(2, y, RLX); F(SC); R(3, x, RLX))
static bool in_different_orders(void)
{
	return m.r[0] == 1 && m.r[1] == 0 && m.r[2] == 1 && m.r[3] == 0;
}

/* R and S: a store against a store and a load. */
THREAD(r_wr, W(x, 1, RLX); W(y, 1, REL))
THREAD(r_fs_w, W(x, 1, RLX); F(SC); W(y, 1, RLX))
THREAD(r_fs_r, W(y, 2, RLX); F(SC); R(0, x, RLX))
static bool later_and_0(void)
{
	return m.y == 2 && m.r[0] == 0;
}
THREAD(s_w, W(x, 2, RLX); W(y, 1, REL))
THREAD(s_ra, R(0, y, ACQ); W(x, 1, RLX))
THREAD(s_rx, R(0, y, RLX); W(x, 1, RLX))
static bool seen_and_overwritten(void)
{
	return m.r[0] == 1 && m.x == 2;
}

/* Two additions both find 0. */
THREAD(u_0, m.r[0] = U(x, RLX))
THREAD(u_1, m.r[1] = U(x, RLX))

/* A heavy fence makes two other threads pass two barriers: the first thread's one is over when it
 * stores to y, and the second thread, which has seen z, has not yet come to its own. */
THREAD(apart_0, W(y, 1, RLX); hauli_fence_light(); R(0, x, RLX); W(z, 1, RLX))
THREAD(apart_1, R(1, z, RLX); hauli_fence_light(); R(2, x, RLX))
THREAD(apart_h, W(x, 1, RLX); hauli_fence_heavy(); R(3, y, RLX))
static bool come_apart(void)
{
	return m.r[0] == 1 && m.r[1] == 1 && m.r[2] == 0 && m.r[3] == 0;
}

/* A wait on a futex, the low half of a word, and a wake-up: the test looks only for the search's
 * own violation, that all threads wait. */
THREAD(futex_wait, syscall(SYS_futex, &m.x, FUTEX_WAIT, 0, NULL, NULL, 0))
THREAD(futex_wake, F(SC); W(x, 1, RLX); syscall(SYS_futex, &m.x, FUTEX_WAKE, 1, NULL, NULL, 0))
THREAD(futex_wake_first, syscall(SYS_futex, &m.x, FUTEX_WAKE, 1, NULL, NULL, 0); W(x, 1, RLX))
static bool nothing(void)
{
	return false;
}

static const struct litmus {
	const char *name;
	void (*threads[MODEL_THREADS_MAX])(void);
	bool (*outcome)(void);
	bool shown[3]; /* one for each memory: SC, TSO, weak */
} litmuses[] = {
#define NEVER                       \
	{                           \
		false, false, false \
	}
#define NOT_SC                    \
	{                         \
		false, true, true \
	}
#define WEAK                       \
	{                          \
		false, false, true \
	}
	{"SB Wx Rx | Wx Rx", {sb_wx_rx_0, sb_wx_rx_1}, both_0, NOT_SC},
	{"SB Wr Ra | Wr Ra", {sb_wr_ra_0, sb_wr_ra_1}, both_0, NOT_SC},
	{"SB Wx Fs Rx | Wx Fs Rx", {sb_fs_0, sb_fs_1}, both_0, NEVER},
	{"SB Wx Fs Rx | Wx Rx", {sb_fs_0, sb_wx_rx_1}, both_0, NOT_SC},
	{"SB Ws Rs | Ws Rs", {sb_s_0, sb_s_1}, both_0, NEVER},
	{"SB Wx Ua Rx | Wx Ua Rx", {sb_u_0, sb_u_1}, both_0, WEAK},
	{"SB Wx Fl Rx | Wx Fh Rx", {sb_fl_0, sb_fh_1}, both_0, NEVER},
	{"SB Wx Fl Rx | Wx Fl Rx", {sb_fl_0, sb_fl_1}, both_0, NOT_SC},
	/* The compiler may exchange the two. A store buffer alone would be drained. */
	{"SB Wx Rx | Wx Fh Rx", {sb_wx_rx_0, sb_fh_1}, both_0, WEAK},
	{"MP Wx Wx | Rx Rx", {mp_w_wx, mp_r_rx}, flag_only, WEAK},
	{"MP Wx Wr | Ra Rx", {mp_w_wr, mp_r_ra}, flag_only, NEVER},
	{"MP Wx Wr | Rx Rx", {mp_w_wr, mp_r_rx}, flag_only, WEAK},
	{"MP Wx Wx | Ra Rx", {mp_w_wx, mp_r_ra}, flag_only, WEAK},
	{"MP Wr Wx | Ra Rx", {mp_w_before, mp_r_ra}, flag_only, WEAK},
	{"MP Wx Fr Wx | Rx Fa Rx", {mp_w_fr, mp_r_fa}, flag_only, NEVER},
	{"MP Wx Fr Wx | Ra Rx", {mp_w_fr, mp_r_ra}, flag_only, NEVER},
	{"MP Wx Fr Wx | Rx Rx", {mp_w_fr, mp_r_rx}, flag_only, WEAK},
	{"MP Wx Wx | Rx Fa Rx", {mp_w_wx, mp_r_fa}, flag_only, WEAK},
	{"MP Wx Wr | Ua Rx", {mp_w_wr, mp_r_u}, flag_only, NEVER},
	{"MP Wx Wr | U, failed, a Rx", {mp_w_wr, mp_r_cas_a}, flag_only, NEVER},
	{"MP Wx Wr | U, failed, x Rx", {mp_w_wr, mp_r_cas_x}, flag_only, WEAK},
	{"release sequence Wx Wr | Ux | Ra Rx", {mp_w_wr, rs_ux, rs_r}, flag_2_only, NEVER},
	{"release sequence Wx Wr | Rx Wx | Ra Rx", {mp_w_wr, rs_wx, rs_r}, flag_2_after_1_only,
		WEAK},
	{"release sequence Wx Wr Wx | Ra Rx", {mp_w_again, mp_r_ra}, flag_only, WEAK},
	{"WRC Wx | Ra Wr | Ra Rx", {wx_x, wrc_ra_wr, mp_r_ra}, seen_and_flag_only, NEVER},
	{"WRC Wx | Rx Wr | Ra Rx", {wx_x, wrc_rx_wr, mp_r_ra}, seen_and_flag_only, NEVER},
	{"WRC Wx | Ra Wx | Ra Rx", {wx_x, wrc_ra_wx, mp_r_ra}, seen_and_flag_only, WEAK},
	/* C11 allows the two; the explorer leaves them out. */
	{"LB Rx Wx | Rx Wx", {lb_0, lb_1}, both_1, NEVER},
	{"LB across fences Wx Fs Wx | Rx Wx | Rx Fs Rx", {lb_fs_w, lb_passes, lb_fs_r}, z_only,
		NEVER},
	{"CoRR Wx Wx | Rx Rx", {corr_w, corr_r}, newer_first, NEVER},
	{"CoWR Wx Rx Rx | Wx", {cowr, wx_x}, away_and_back, NEVER},
	{"CoRR Wx | Wx | Rx Rx | Rx Rx", {wx_x, wx_x2, corr_r, corr_r2}, disagree, NEVER},
	{"2+2W Wx Wx | Wx Wx", {ww_x_0, ww_x_1}, both_end_as_1, WEAK},
	{"2+2W Wr Wr | Wr Wr", {ww_r_0, ww_r_1}, both_end_as_1, WEAK},
	{"2+2W Wx Fs Wx | Wx Fs Wx", {ww_fs_0, ww_fs_1}, both_end_as_1, NEVER},
	{"IRIW Wx | Wx | Ra Ra | Ra Ra", {wx_x, wx_y, iriw_a_0, iriw_a_1}, in_different_orders,
		WEAK},
	{"IRIW Wx | Wx | Rx Fs Rx | Rx Fs Rx", {wx_x, wx_y, iriw_fs_0, iriw_fs_1},
		in_different_orders, NEVER},
	{"R Wx Wr | Wx Fs Rx", {r_wr, r_fs_r}, later_and_0, WEAK},
	{"R Wx Fs Wx | Wx Fs Rx", {r_fs_w, r_fs_r}, later_and_0, NEVER},
	{"S Wx Wr | Ra Wx", {s_w, s_ra}, seen_and_overwritten, NEVER},
	{"S Wx Wr | Rx Wx", {s_w, s_rx}, seen_and_overwritten, WEAK},
	{"two that add Ux | Ux", {u_0, u_1}, both_0, NEVER},
	{"barriers apart Wx Fl Rx Wx | Rx Fl Rx | Wx Fh Rx", {apart_0, apart_1, apart_h},
		come_apart, WEAK},
	{"a futex: wait | Fs Wx wake", {futex_wait, futex_wake}, nothing, NEVER},
	{"a futex: wait | wake Wx", {futex_wait, futex_wake_first}, nothing, {true, true, true}},
};

#define NB_LITMUSES (sizeof(litmuses) / sizeof(litmuses[0]))

static const struct litmus *current;

static void init(void)
{
}

static void check(void)
{
	if (current->outcome())
		model_fail("the outcome is shown");
}

static bool is_shown(enum memory_kind kind)
{
	struct model model = {.name = current->name,
		.memory = &m,
		.size = sizeof(m),
		.init = init,
		.check = check};

	while (model.nb_threads < MODEL_THREADS_MAX && current->threads[model.nb_threads]) {
		model.threads[model.nb_threads] = current->threads[model.nb_threads];
		model.nb_threads++;
	}
	return !model_holds(&model, kind);
}

int main(void)
{
	static const char *const words[] = {"no", "yes"};
	int failed = 0;

	printf("1..%zu\n", NB_LITMUSES);
	for (size_t i = 0; i < NB_LITMUSES; i++) {
		bool shown[3], good = true;

		current = &litmuses[i];
		for (enum memory_kind kind = MEMORY_SC; kind <= MEMORY_WEAK; kind++) {
			shown[kind] = is_shown(kind);
			good = good && shown[kind] == current->shown[kind];
		}
		failed += !good;
		printf("%s %zu - %s: SC %s, TSO %s, weak %s\n", good ? "ok" : "not ok", i + 1,
			current->name, words[shown[0]], words[shown[1]], words[shown[2]]);
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
