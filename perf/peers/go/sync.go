// SPDX-License-Identifier: BSD-3-Clause

package main

import (
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
