// SPDX-License-Identifier: BSD-3-Clause

// The program that haul-http is compared with: "/" asks the backend, "/parallel" asks it twice at
// the same time, all else are files. As one writes it with Go's own library.
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
	"strconv"
)

type answer struct {
	body []byte
	err  error
}

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address")
	backend := flag.String("backend", "http://127.0.0.1:8081/", "URL")
	root := flag.String("root", ".", "folder of the files")
	flag.Parse()

	// By default two connections are kept, and all others are opened anew.
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 65536, DisableCompression: true}}
	ask := func() answer {
		response, err := client.Get(*backend)
		if err != nil {
			return answer{err: err}
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		return answer{body, err}
	}
	reply := func(w http.ResponseWriter, answers ...answer) {
		n := 0
		for _, a := range answers {
			if a.err != nil {
				http.Error(w, a.err.Error(), http.StatusBadGateway)
				return
			}
			n += len(a.body)
		}
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Length", strconv.Itoa(n))
		for _, a := range answers {
			w.Write(a.body)
		}
	}
	files := http.FileServer(http.Dir(*root))

	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			files.ServeHTTP(w, r)
			return
		}
		reply(w, ask())
	})
	mux.HandleFunc("/parallel", func(w http.ResponseWriter, r *http.Request) {
		other := make(chan answer, 1)
		go func() { other <- ask() }()
		one := ask()
		reply(w, one, <-other)
	})
	log.Fatal(http.ListenAndServe(*listen, mux))
}
