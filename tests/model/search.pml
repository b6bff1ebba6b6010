/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The complete search of lib/sched/state/policy.c and lib/conc/help.c: two carriers have a hog, get a
 * task behind it, and request help; two other carriers have no work, and sleep when they find
 * none. Safe: when no further step is possible, both tasks have run.
 *
 * A step is one load, or one read-modify-write, of a shared word, with its consequences for the
 * thread itself. A plain store waits in its writer's store buffer: the push of a task is the only
 * one. The model leaves out loads without effect, at members that never need help or never sleep.
 * It also leaves out steps that can only help: the look at members that have not requested help.
 *
 * A carrier that is not searching comes too early to recognise a hog, a searcher comes late enough,
 * and a nap ends at once. A stolen task may not yield either. To the others, a carrier that blocks
 * in its poller's wait is like a carrier that waits on its inbox. A spinning carrier needs no
 * request: it pulls until no work is left.
 *
 * Broken on purpose, by -DBROKEN=n; each must be found:
 *	1  requesters do not find an idle carrier
 *	2  an idle carrier rechecks the others before it is marked idle
 *	3  an idle carrier does not recheck the others
 *	4  an idle carrier that finds a surplus does not mark its owner
 *	5  an idle carrier does not make requesters pass a barrier before it rechecks
 *	6  a requester does not set its bit
 *	7  a requester does not send a search
 *	8  a searcher does not recheck after giving its token back
 *	9  a searcher's recheck finds a request and ignores it
 *	10  a successful thief does not hand its search on
 *	11  the token is not given back
 *	12  a search is sent to an awake carrier, and is not read
 */
#ifndef BROKEN
#define BROKEN 0
#endif

#ifndef FEWER
#define FEWER 0 /* 1: one idle carrier; 2: one hog */
#endif

#define HOGS	2
#define MEMBERS 4
#define NOBODY	9
#define STOPPED 8

mtype:inbox = { awake, asleep, sent };

bool pushed[HOGS];  /* still in the hog's store buffer */
bool task[HOGS];    /* as the others see it */
bool wanted[HOGS];  /* one word */
bool parked[MEMBERS]; /* one word; the hogs' are never set */
bool token = true;  /* there is one, and it is free */
mtype:inbox inbox[MEMBERS] = awake;
bool hogged[MEMBERS];

#define anybody_parked (parked[2] || parked[3])
#define drained(i) (i >= HOGS || !pushed[i % HOGS]) /* a barrier, or a read-modify-write */

/* A thread sees its own store at once. */
#define sees(h) (task[h] || (me == h && pushed[h]))
#define drain	drained(me)

/*
 * One member: its request, its task, and clear_request. One step: each task comes once, before the
 * request, so other threads' steps in between make no difference. (clear_request must recheck for a
 * task that comes later: help.c.)
 */
inline consider(h)
{
	atomic {
		if
		:: w != NOBODY
		:: w == NOBODY && !wanted[0] && !wanted[1] -> w = STOPPED
		:: w == NOBODY && wanted[h] && sees(h) -> w = h
		:: w == NOBODY && wanted[h] && !sees(h) && drain -> wanted[h] = false
		:: else
		fi
	}
}

/* w: the first member, from near on, that has requested help and has a task. */
inline next_in_need(near)
{
	w = NOBODY;
	if
	:: near == 1 -> consider(1); consider(0)
	:: else -> consider(0); consider(1)
	fi;
	atomic {
		if
		:: w == STOPPED -> w = NOBODY
		:: else
		fi
	}
}

/* The load of the word; then a read-modify-write of the inbox's head. */
inline try_send(i)
{
	atomic {
		if
		:: done -> on = false
		:: else -> on = parked[i]
		fi
	};
	if
	:: atomic { on && drain && inbox[i] == asleep -> inbox[i] = sent; done = true }
#if BROKEN == 12
	:: atomic { on && inbox[i] != asleep -> done = true }
#endif
	:: atomic { !on || inbox[i] != asleep -> on = false }
	fi
}

inline see_sleeper(i)
{
	atomic {
		if
		:: done -> on = false
		:: else -> on = parked[i]
		fi
	};
	atomic { done = done || (on && inbox[i] == asleep) }
}

inline take_token()
{
	atomic { drain -> done = token; token = false }
}

inline hand_on()
{
	do
	:: true ->
		next_in_need(me);
		done = false;
		if
		:: w != NOBODY -> try_send(2); try_send(3)
		:: else
		fi;
		if
		:: done -> break
		:: else
		fi;
#if BROKEN != 11
		atomic { drain -> token = true };
#endif
#if BROKEN == 8
		break;
#endif
		next_in_need(me);
		if
		:: w == NOBODY -> break
		:: else
		fi;
#if BROKEN == 9
		break;
#endif
		done = false;
		see_sleeper(2);
		see_sleeper(3);
		if
		:: done -> take_token()
		:: else -> break
		fi;
		if
		:: !done -> break
		:: else
		fi
	od;
	atomic { w = 0; done = false; on = false }
}

/* Requests help for the member if a carrier sleeps; done: requested. */
inline call(h)
{
	done = anybody_parked; /* its task may still be in its store buffer */
	if
	:: done ->
		atomic { drain ->
			if
			:: (BROKEN == 6 && me < HOGS) || (BROKEN == 4 && me >= HOGS)
			:: else -> wanted[h] = true
			fi
		}
	:: else
	fi
}

proctype hog(byte me)
{
	byte w = 0;
	bool on = false, done = false;

	pushed[me] = true;
	call(me);
#if BROKEN == 7
	done = false;
#endif
	if
	:: done -> take_token()
	:: else
	fi;
	if
	:: done -> hand_on()
	:: else
	fi
}

/* Drains at any time. */
proctype store_buffer(byte h)
{
end:	do
	:: atomic { pushed[h] -> pushed[h] = false; task[h] = true }
	od
}

/* Steals from a requester, unless another thief has taken the task. */
inline steal_from_requester()
{
	next_in_need(me);
	atomic {
		if
		:: w != NOBODY && task[w % HOGS] -> task[w % HOGS] = false; got = true
		:: else
		fi;
		w = 0
	}
}

inline look_at(h)
{
	atomic { done = !search && task[h] };
	if
	:: done -> call(h)
	:: else
	fi;
	if
	:: done -> take_token();
		if
		:: done -> search = true; stays = false
		:: else
		fi
	:: else
	fi
}

inline barrier_of(h)
{
	atomic {
		if
		:: pushed[h] -> pushed[h] = false; task[h] = true
		:: else
		fi
	}
}

/* The heavy barrier: each requester passes a barrier. */
inline barrier()
{
#if BROKEN == 5
	skip
#else
	barrier_of(0);
	barrier_of(1)
#endif
}

/* Called when the other members already see this one as asleep. */
inline may_stay()
{
	stays = true;
#if BROKEN != 3
	look_at(0);
	look_at(1);
#endif
	done = false
}

inline end_search()
{
	search = false;
#if BROKEN == 10
	token = true
#else
	hand_on()
#endif
}

proctype idle(byte me)
{
	byte w = 0;
	bool on = false, done = false, stays = false, search = false, got = false;

	do
	:: true ->
		if
		:: search ->
			steal_from_requester();
			if
			:: got -> end_search()
			:: else ->
				next_in_need(me);
				if
				:: w == NOBODY -> end_search()
				:: else -> w = 0
				fi
			fi
		:: else -> next_in_need(me); w = 0 /* too early */
		fi;
		if
		:: got -> got = false
#if FEWER != 1
		:: got -> hogged[me] = true; break /* a stolen task does not yield either */
#endif
		:: else ->
			/* set_idle, try_sleep, may_stay */
#if BROKEN != 1
			if
			:: !search -> parked[me] = true
			:: else
			fi;
#endif
#if BROKEN == 2
			if
			:: search -> stays = true
			:: else -> barrier(); may_stay()
			fi;
#endif
			inbox[me] = asleep;
#if BROKEN != 2
			if
			:: search -> stays = true
			:: !search -> barrier(); may_stay()
			:: !search -> stays = false /* wakes by itself for the barrier */
			fi;
#endif
			if
			:: stays && !search ->
end_asleep:			inbox[me] != asleep
			:: else
			fi;
			/* drain, clear_idle */
			atomic {
				search = search || inbox[me] == sent;
				inbox[me] = awake
			};
			atomic { parked[me] = false; stays = false }
		fi
	od
}

/* Runs when no other step is possible. */
proctype check()
{
	timeout;
	assert(!pushed[0] && !pushed[1] && !task[0] && !task[1]);
	assert(inbox[2] == asleep || hogged[2]);
	assert(inbox[3] == asleep || hogged[3] || FEWER == 1)
}

init
{
	atomic {
		run hog(0);
		run store_buffer(0);
		run idle(2);
#if FEWER != 2
		run hog(1);
		run store_buffer(1);
#endif
#if FEWER != 1
		run idle(3);
#endif
		run check()
	}
}
