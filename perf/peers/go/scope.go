// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"sync"
	"time"
)

// What golang.org/x/sync/errgroup does, which is not in the standard library: the first error
// cancels the context, and comes back.
type group struct {
	cancel context.CancelFunc
	all    sync.WaitGroup
	once   sync.Once
	err    error
}

func (g *group) spawn(ctx context.Context, child func(ctx context.Context) error) {
	g.all.Add(1)
	go func() {
		defer g.all.Done()
		if err := child(ctx); err != nil {
			g.once.Do(func() {
				g.err = err
				g.cancel()
			})
		}
	}()
}

func (g *group) join() error {
	g.all.Wait()
	g.cancel()
	return g.err
}

//go:noinline
func succeed(_ context.Context) error {
	return nil
}

func scopes(n int) {
	for i := 0; i < n; i++ {
		ctx, cancel := context.WithCancel(context.Background())
		g := group{cancel: cancel}
		g.spawn(ctx, succeed)
		g.spawn(ctx, succeed)
		if g.join() != nil {
			panic("a child failed")
		}
	}
}

func scope(_, n int) time.Duration {
	scopes(warmUp)
	start := time.Now()
	scopes(n)
	return time.Since(start)
}
