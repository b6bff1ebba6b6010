// SPDX-License-Identifier: BSD-3-Clause

// An echo server as one writes it in Go: a goroutine for each connection. Its CPUs are those of the
// process: one.
package main

import (
	"fmt"
	"net"
	"os"
)

func serve(c net.Conn) {
	defer c.Close()
	var buf [4096]byte
	for {
		n, err := c.Read(buf[:])
		if err != nil {
			return
		}
		if _, err = c.Write(buf[:n]); err != nil {
			return
		}
	}
}

func main() {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	for {
		c, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		go serve(c)
	}
}
