// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"runtime"
	"sync"
	"time"
)

const warmUp = 1000

//go:noinline
func count(ended *int) {
	*ended++
}

// Batches of goroutines that begin and end while the spawner yields once.
func spawnBatches(batch, n int) {
	ended := 0
	for done := 0; done < n; done += batch {
		for i := 0; i < batch; i++ {
			go count(&ended)
		}
		for ended < done+batch {
			runtime.Gosched()
		}
	}
}

func spawnEnd(batch, n int) time.Duration {
	spawnBatches(batch, warmUp/batch*batch)
	start := time.Now()
	spawnBatches(batch, n)
	return time.Since(start)
}

func joinEach(n int) {
	var all sync.WaitGroup
	for i := 0; i < n; i++ {
		all.Add(1)
		go all.Done()
		all.Wait()
	}
}

func spawnJoin(_, n int) time.Duration {
	joinEach(warmUp)
	start := time.Now()
	joinEach(n)
	return time.Since(start)
}
