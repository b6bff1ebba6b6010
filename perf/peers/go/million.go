// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A figure of /proc/self/status, in bytes.
func status(key string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(text), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == key+":" {
			kib, _ := strconv.Atoi(fields[1])
			return float64(kib) * 1024
		}
	}
	return 0
}

func mappings() float64 {
	file, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := 0
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		lines++
	}
	return float64(lines)
}

// n goroutines that wait, each for a channel of its own; measures the time to spawn them all and
// let each begin its wait.
func million(_, n int) time.Duration {
	rssBefore, tablesBefore := status("VmRSS"), status("VmPTE")
	waiting, ended := 0, 0
	permits := make([]chan struct{}, n)
	start := time.Now()
	for i := range permits {
		permits[i] = make(chan struct{}, 1)
		go func(permit chan struct{}) {
			waiting++
			<-permit
			ended++
		}(permits[i])
	}
	for waiting < n {
		runtime.Gosched()
	}
	took := time.Since(start)
	extra("bytes_each", (status("VmRSS")-rssBefore)/float64(n))
	extra("page_table_bytes_each", (status("VmPTE")-tablesBefore)/float64(n))
	extra("mappings", mappings())
	start = time.Now()
	for _, permit := range permits {
		permit <- struct{}{}
	}
	for ended < n {
		runtime.Gosched()
	}
	extra("wake_end_ns_each", float64(time.Since(start).Nanoseconds())/float64(n))
	return took
}
