// Command api is an HTTP service whose limit is known: its flags say what one request costs.
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

// What one request costs.
type cost struct {
	cpu, sleep, locked, lockedCPU time.Duration
	size                          int
	journal                       *work.Journal
	pool                          *work.Pool
	lock                          work.Lock
	calls                         backend.Calls
	answer, record                []byte
}

func main() {
	listen := flag.String("listen", ":9000", "address to listen on")
	cpu := flag.Duration("cpu", 0, "CPU time of a request")
	sleep := flag.Duration("sleep", 0, "time that a request waits without using anything")
	locked := flag.Duration("locked", 0, "time that a request holds the one lock, waiting")
	lockedCPU := flag.Duration("locked-cpu", 0, "CPU time of a request while it holds the one lock")
	size := flag.Int("size", 2, "bytes of an answer")
	pool := flag.Int("pool", 0, "requests worked on at once; 0 has no limit")
	journal := flag.String("journal", "", "file to which each request appends a record that is flushed to disk")
	record := flag.Int("record", 64, "bytes of that record")
	call := flag.String("call", "", "URL that each request gets")
	sqlDSN := flag.String("sql", "", "database that each request asks, as user:password@tcp(host:port)/name")
	query := flag.String("query", "SELECT 1", "what it asks the database")
	redis := flag.String("redis", "", "Redis that each request runs a script on, as host:port")
	script := flag.String("script", "return 1", "the script")
	connections := flag.Int("connections", 0, "connections to what is called; 0 has no limit")
	flag.Parse()

	calls, err := callsOf(*call, *sqlDSN, *query, *redis, *script, *connections)
	fail(err)
	c := &cost{
		cpu: *cpu, sleep: *sleep, locked: *locked, lockedCPU: *lockedCPU, size: *size,
		pool: work.NewPool(*pool), calls: calls, answer: []byte(strings.Repeat("x", *size)),
		record: []byte(strings.Repeat("r", *record)),
	}
	if *journal != "" {
		c.journal, err = work.OpenJournal(*journal)
		fail(err)
	}
	log.Printf("listening on %s", *listen)
	fail(http.ListenAndServe(*listen, c))
}

func callsOf(call, sqlDSN, query, redis, script string, connections int) (backend.Calls, error) {
	switch {
	case call != "":
		return backend.HTTP(call, connections), nil
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
	c.pool.Use(func() { err = c.do(request) })
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadGateway)
		return
	}
	response.Header().Set("Content-Length", fmt.Sprint(len(c.answer)))
	response.Write(c.answer)
}

func (c *cost) do(request *http.Request) error {
	work.Burn(c.cpu)
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
