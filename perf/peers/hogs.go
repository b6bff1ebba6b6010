// SPDX-License-Identifier: BSD-3-Clause

// bench-rescue's load in Go: handlers of 1 us arrive at fixed times, one in a hundred takes 1 ms,
// and one in 100,000 takes 100 ms. Prints p50, p99 and p99.9 of the short ones, in us, from the
// time at which each is due to its end.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"sync"
	"time"
)

func duration(i int) time.Duration {
	switch {
	case i%100000 == 50000:
		return 100 * time.Millisecond
	case i%100 == 50:
		return time.Millisecond
	}
	return time.Microsecond
}

func compute(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		for i := 0; i < 200; i++ {
		}
	}
}

// Arrivals, as those of a poller that spins.
func arrive(n int, gap time.Duration, late []time.Duration, all *sync.WaitGroup) {
	due := time.Now()
	for i := 0; i < n; i++ {
		for time.Now().Before(due) {
			runtime.Gosched()
		}
		all.Add(1)
		go func(i int, due time.Time) {
			compute(duration(i))
			late[i] = time.Since(due)
			all.Done()
		}(i, due)
		due = due.Add(gap)
	}
	all.Done()
}

func number(i int) int {
	if len(os.Args) != 4 {
		fmt.Fprintf(os.Stderr, "usage: %s CARRIERS RATE-PER-CARRIER SECONDS\n", os.Args[0])
		os.Exit(2)
	}
	n, err := strconv.Atoi(os.Args[i])
	if err != nil || n < 1 {
		fmt.Fprintf(os.Stderr, "%s: give a number from 1 on\n", os.Args[i])
		os.Exit(2)
	}
	return n
}

func main() {
	carriers, rate, seconds := number(1), number(2), number(3)
	late := make([]time.Duration, carriers*rate*seconds)
	var all sync.WaitGroup

	runtime.GOMAXPROCS(carriers)
	debug.SetGCPercent(-1)
	all.Add(carriers)
	for c := 0; c < carriers; c++ {
		n := rate * seconds
		go arrive(n, time.Second/time.Duration(rate), late[c*n:(c+1)*n], &all)
	}
	all.Wait()
	short := late[:0]
	for i, l := range late {
		if duration(i%(rate*seconds)) == time.Microsecond {
			short = append(short, l)
		}
	}
	sort.Slice(short, func(i, j int) bool { return short[i] < short[j] })
	for _, q := range []int{500, 990, 999} {
		fmt.Printf("%.1f ", float64(short[len(short)*q/1000].Nanoseconds())/1e3)
	}
	fmt.Println()
}
