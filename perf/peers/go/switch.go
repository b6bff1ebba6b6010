// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"runtime"
	"time"
)

// param goroutines that only yield; n yields in all.
func yield(ready, n int) time.Duration {
	stop := false
	// They start when all exist: else they would yield each time this one is preempted.
	begin := make(chan struct{})
	for i := 1; i < ready; i++ {
		go func() {
			<-begin
			for !stop {
				runtime.Gosched()
			}
		}()
	}
	rounds := (n + ready - 1) / ready
	runtime.Gosched()
	close(begin)
	for i := 0; i < warmUp/ready+2; i++ {
		runtime.Gosched()
	}
	start := time.Now()
	for i := 0; i < rounds; i++ {
		runtime.Gosched()
	}
	took := time.Since(start)
	stop = true
	return took
}

func echo(in, out chan struct{}) {
	for range in {
		out <- struct{}{}
	}
}

func bounce(ping, pong chan struct{}, n int) {
	for i := 0; i < n; i++ {
		ping <- struct{}{}
		<-pong
	}
}

// Round trips between two goroutines on one P.
func pingPong(_, n int) time.Duration {
	ping, pong := make(chan struct{}), make(chan struct{})
	go echo(ping, pong)
	bounce(ping, pong, warmUp)
	start := time.Now()
	bounce(ping, pong, n)
	return time.Since(start)
}

func receiveBy(in chan struct{}, timer *time.Timer) {
	timer.Reset(time.Second)
	select {
	case <-in:
	case <-timer.C:
		panic("the time-out has passed")
	}
	timer.Stop()
}

func bounceBy(ping, pong chan struct{}, timer *time.Timer, n int) {
	for i := 0; i < n; i++ {
		ping <- struct{}{}
		receiveBy(pong, timer)
	}
}

// The same; each receives with a time-out.
func pingPongBy(_, n int) time.Duration {
	ping, pong := make(chan struct{}), make(chan struct{})
	timer, other := time.NewTimer(time.Second), time.NewTimer(time.Second)
	go func() {
		for i := 0; i < n+warmUp; i++ {
			receiveBy(ping, other)
			pong <- struct{}{}
		}
	}()
	bounceBy(ping, pong, timer, warmUp)
	start := time.Now()
	bounceBy(ping, pong, timer, n)
	return time.Since(start)
}

// Round trips between two goroutines, each locked to a thread.
func pingPongThreads(_, n int) time.Duration {
	runtime.GOMAXPROCS(2)
	runtime.LockOSThread()
	ping, pong := make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		echo(ping, pong)
	}()
	bounce(ping, pong, warmUp)
	start := time.Now()
	bounce(ping, pong, n)
	return time.Since(start)
}
