// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"runtime"
	"sort"
	"time"
)

const (
	eachNs  = 10 * time.Microsecond
	aheadNs = 500 * time.Millisecond
)

// n goroutines that each wait for a channel of their own, with a timer; for half of them the timer
// fires.
func timeouts(_, n int) time.Duration {
	waiting, ended, wrong := 0, 0, 0
	permits := make([]chan struct{}, n)
	late := make([]float64, 0, n)
	resident := status("VmRSS")
	start := time.Now()
	due := func(i int) time.Time { return start.Add(aheadNs + time.Duration(i)*eachNs) }
	for i := range permits {
		permits[i] = make(chan struct{}, 1)
		deadline, woken := due(i), i%2 == 1
		if woken {
			deadline = start.Add(time.Hour)
		}
		go func(permit chan struct{}, deadline time.Time, woken bool) {
			waiting++
			timer := time.NewTimer(time.Until(deadline))
			select {
			case <-permit:
				timer.Stop()
				if !woken {
					wrong++
				}
			case <-timer.C:
				if woken {
					wrong++
				}
				took := time.Since(deadline)
				late = append(late, float64(took.Nanoseconds())/1000)
			}
			ended++
		}(permits[i], deadline, woken)
	}
	for waiting < n {
		runtime.Gosched()
	}
	took := time.Since(start)
	extra("bytes_each", (status("VmRSS")-resident)/float64(n))
	for i := 1; i < n; i += 2 {
		if left := time.Until(due(i)); left > 0 {
			time.Sleep(left + 100*time.Microsecond)
		}
		permits[i] <- struct{}{}
	}
	for ended < n {
		time.Sleep(time.Millisecond)
	}
	sort.Float64s(late)
	extra("p50_us", late[len(late)/2])
	extra("p99_us", late[len(late)*99/100])
	extra("p999_us", late[len(late)*999/1000])
	extra("max_us", late[len(late)-1])
	extra("timed_out", float64(len(late)))
	extra("wrong", float64(wrong))
	return took
}
