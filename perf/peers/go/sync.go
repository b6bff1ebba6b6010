// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"runtime"
	"sync"
	"time"
)

func lockEach(m *sync.Mutex, n int) {
	for i := 0; i < n; i++ {
		m.Lock()
		m.Unlock()
	}
}

func lockUnlock(_, n int) time.Duration {
	var m sync.Mutex
	lockEach(&m, warmUp)
	start := time.Now()
	lockEach(&m, n)
	return time.Since(start)
}

func throughChannel(ch chan uint64, n int) {
	for i := 0; i < n; i++ {
		ch <- uint64(i)
		<-ch
	}
}

// A value into a channel with room, and out of it.
func sendRecv(_, n int) time.Duration {
	ch := make(chan uint64, 16)
	throughChannel(ch, warmUp)
	start := time.Now()
	throughChannel(ch, n)
	return time.Since(start)
}

func lockAndYield(m *sync.Mutex, n int) {
	for i := 0; i < n; i++ {
		m.Lock()
		runtime.Gosched()
		m.Unlock()
	}
}

// Two goroutines that lock the same mutex.
func contended(_, n int) time.Duration {
	var m sync.Mutex
	var end sync.WaitGroup
	lockAndYield(&m, warmUp)
	start := time.Now()
	end.Add(1)
	go func() {
		lockAndYield(&m, n/2)
		end.Done()
	}()
	lockAndYield(&m, n/2)
	end.Wait()
	return time.Since(start)
}

func receiveEither(a, b chan uint64) {
	select {
	case <-a:
	case <-b:
	}
}

func sendOne(a, b chan uint64, i int) {
	if i%2 != 0 {
		a <- uint64(i)
	} else {
		b <- uint64(i)
	}
}

func throughEither(a, b chan uint64, n int) {
	for i := 0; i < n; i++ {
		sendOne(a, b, i)
		receiveEither(a, b)
	}
}

// A value into one of two channels with room, and out of either.
func selectReady(_, n int) time.Duration {
	a, b := make(chan uint64, 16), make(chan uint64, 16)
	throughEither(a, b, warmUp)
	start := time.Now()
	throughEither(a, b, n)
	return time.Since(start)
}

// One goroutine waits for the values that another sends.
func selectWait(_, n int) time.Duration {
	a, b := make(chan uint64), make(chan uint64)
	go func() {
		for i := 0; i < n+warmUp; i++ {
			sendOne(a, b, i)
		}
	}()
	for i := 0; i < warmUp; i++ {
		receiveEither(a, b)
	}
	start := time.Now()
	for i := 0; i < n; i++ {
		receiveEither(a, b)
	}
	return time.Since(start)
}

// From one goroutine to another, each locked to a thread.
func sendRecvThreads(_, n int) time.Duration {
	runtime.GOMAXPROCS(2)
	runtime.LockOSThread()
	ch := make(chan uint64, 16)
	go func() {
		runtime.LockOSThread()
		for i := 0; i < n+warmUp; i++ {
			ch <- uint64(i)
		}
	}()
	for i := 0; i < warmUp; i++ {
		<-ch
	}
	start := time.Now()
	for i := 0; i < n; i++ {
		<-ch
	}
	return time.Since(start)
}

// Round trips by channels; limited: with time-outs.
func bounces(limited, n int) time.Duration {
	if limited != 0 {
		return pingPongBy(limited, n)
	}
	return pingPong(limited, n)
}

type turns struct {
	m       sync.Mutex
	changed [2]*sync.Cond
	turn    int
}

func (t *turns) await(who int) {
	t.m.Lock()
	for t.turn != who {
		t.changed[who].Wait()
	}
	t.m.Unlock()
}

func (t *turns) give(whose int) {
	t.m.Lock()
	t.turn = whose
	t.m.Unlock()
	t.changed[whose].Signal()
}

func (t *turns) take(n int) {
	for i := 0; i < n; i++ {
		t.give(1)
		t.await(0)
	}
}

// Round trips between two goroutines, by conditions.
func cond(_, n int) time.Duration {
	t := &turns{}
	t.changed = [2]*sync.Cond{sync.NewCond(&t.m), sync.NewCond(&t.m)}
	go func() {
		for i := 0; i < n+warmUp; i++ {
			t.await(1)
			t.give(0)
		}
	}()
	t.take(warmUp)
	start := time.Now()
	t.take(n)
	return time.Since(start)
}
