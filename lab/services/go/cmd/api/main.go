// Command api is an HTTP service with a known limit: its flags set what one request costs.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"plimsoll/services/internal/backend"
	"plimsoll/services/internal/work"
)

// cost is what one request costs.
type cost struct {
	cpu, sleep, locked, lockedCPU time.Duration
	journal                       *work.Journal
	heap                          *work.Heap
	pool                          *work.Pool
	lock                          work.Lock
	calls                         backend.Calls
	answer, record                []byte
}

func main() {
	listen, service, err := serviceOf(os.Args[1:])
	fail(err)
	log.Printf("listening on %s", listen)
	fail(http.ListenAndServe(listen, service))
}

// serviceOf returns the service that a command line describes, and the address that it listens on.
func serviceOf(arguments []string) (listen string, service *cost, err error) {
	service = &cost{}
	flags := flag.NewFlagSet("api", flag.ExitOnError)
	flags.StringVar(&listen, "listen", ":9000", "address to listen on")
	flags.DurationVar(&service.cpu, "cpu", 0, "CPU time of a request")
	flags.DurationVar(&service.sleep, "sleep", 0, "time that a request waits without using anything")
	flags.DurationVar(&service.locked, "locked", 0, "time that a request holds the one lock, waiting")
	flags.DurationVar(&service.lockedCPU, "locked-cpu", 0, "CPU time of a request while it holds the one lock")
	garbage := flags.Int("garbage", 0, "bytes of garbage that a request makes within its CPU time")
	kept := flags.Int("kept", 0, "small objects kept for good, which the garbage collector looks through in each cycle")
	size := flags.Int("size", 2, "bytes of an answer")
	pool := flags.Int("pool", 0, "requests worked on at once; 0 has no limit")
	waiting := flags.Int("waiting", work.Unbounded, "requests that may wait for that, the others get 503; below 0 has no limit")
	journal := flags.String("journal", "", "file to which each request appends a record that is flushed to disk")
	record := flags.Int("record", 64, "bytes of that record")
	call := flags.String("call", "", "URL that each request gets")
	callTimeout := flags.Duration("call-timeout", time.Minute, "time that a try of it may take")
	callTries := flags.Int("call-tries", 1, "tries of it, one after another, before it has failed")
	sqlDSN := flags.String("sql", "", "database that each request asks, as user:password@tcp(host:port)/name")
	query := flags.String("query", "SELECT 1", "what it asks the database")
	redis := flags.String("redis", "", "Redis that each request runs a script on, as host:port")
	script := flags.String("script", "return 1", "the script")
	connections := flags.Int("connections", 0, "connections to what is called; 0 has no limit")
	flags.Parse(arguments)

	service.pool = work.NewPool(*pool, *waiting)
	service.heap = work.NewHeap(*kept, *garbage)
	service.answer = []byte(strings.Repeat("x", *size))
	service.record = []byte(strings.Repeat("r", *record))
	if *journal != "" {
		if service.journal, err = work.OpenJournal(*journal); err != nil {
			return "", nil, err
		}
	}
	if *call != "" {
		service.calls = backend.HTTP(*call, *connections, backend.Patience{Timeout: *callTimeout, Tries: *callTries})
		return listen, service, nil
	}
	service.calls, err = callsOf(*sqlDSN, *query, *redis, *script, *connections)
	return listen, service, err
}

func callsOf(sqlDSN, query, redis, script string, connections int) (backend.Calls, error) {
	switch {
	case sqlDSN != "":
		return backend.SQL(sqlDSN, query, connections)
	case redis != "":
		return backend.Redis(redis, script, connections), nil
	}
	return backend.None, nil
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

// ServeHTTP does the work of one request. /healthz costs nothing.
func (c *cost) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	if request.URL.Path == "/healthz" {
		fmt.Fprint(response, "ok")
		return
	}
	var err error
	if !c.pool.Use(func() { err = c.do(request) }) {
		http.Error(response, "as many wait as may", http.StatusServiceUnavailable)
		return
	}
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadGateway)
		return
	}
	response.Header().Set("Content-Length", fmt.Sprint(len(c.answer)))
	response.Write(c.answer)
}

func (c *cost) do(request *http.Request) error {
	work.Within(c.cpu, c.heap.Litter)
	time.Sleep(c.sleep)
	if c.locked > 0 || c.lockedCPU > 0 {
		c.lock.Hold(func() {
			work.Burn(c.lockedCPU)
			time.Sleep(c.locked)
		})
	}
	if c.journal != nil {
		if err := c.journal.Append(c.record); err != nil {
			return err
		}
	}
	return c.calls(request.Context())
}
