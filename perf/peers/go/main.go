// SPDX-License-Identifier: BSD-3-Clause

// The Go side of the benchmarks: answers to "--once CASE SIDE N", like the harness's own programs,
// by one line "ns=... n=... name=...".
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// One case: does n operations after a warm-up of its own, with param from the case's name.
type bench func(param, n int) time.Duration

var benches = map[string]bench{
	"spawn-end":   spawnEnd,
	"spawn-join":  spawnJoin,
	"yield":       yield,
	"park-here":   pingPong,
	"park-across": pingPongThreads,
	"hibernate":   million,
	"million":     million,
	"lock-unlock": lockUnlock,
	"send-recv":   sendRecv,
	"bounce":      bounces,
	"cond":        cond,
	"scope":       scope,
	"timeouts":    timeouts,
	"contended":   contended,
	"select":      selectReady,
	"select-wait": selectWait,

	"park-deadline":    pingPongBy,
	"send-recv-across": sendRecvThreads,
}

var extras []string

func extra(name string, value float64) {
	extras = append(extras, fmt.Sprintf("%s=%.9g", name, value))
}

func usage() {
	fmt.Fprintf(os.Stderr, "usage: %s --once CASE[/PARAM] SIDE N\n", os.Args[0])
	os.Exit(2)
}

func main() {
	if len(os.Args) != 5 || os.Args[1] != "--once" {
		usage()
	}
	name, param, found := strings.Cut(os.Args[2], "/")
	count := 0
	if found {
		var err error
		if count, err = strconv.Atoi(param); err != nil {
			usage()
		}
	}
	n, err := strconv.Atoi(os.Args[4])
	run := benches[name]
	if err != nil || run == nil {
		usage()
	}
	// One P to compare with one carrier; no garbage collection, as little garbage is made.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	ns := run(count, n)
	fmt.Printf("ns=%d n=%d", ns.Nanoseconds(), n)
	for _, e := range extras {
		fmt.Printf(" %s", e)
	}
	fmt.Println()
}
