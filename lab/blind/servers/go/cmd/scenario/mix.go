package main

import (
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/semaphore"
)

// mix has a cheap page and a report, of which it makes at most REPORTS at once: mix LISTEN REPORTS TIME
func mix(arguments []string) {
	gate := semaphore.NewWeighted(int64(must(strconv.Atoi(arguments[0]))))
	wait := must(time.ParseDuration(arguments[1]))
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { reply(w, nil) })
	http.HandleFunc("/report", func(w http.ResponseWriter, r *http.Request) {
		err := gate.Acquire(r.Context(), 1)
		if err == nil {
			defer gate.Release(1)
			time.Sleep(wait)
		}
		reply(w, err)
	})
}
