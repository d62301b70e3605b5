// A target that records the truth: it answers each request after a time drawn from a log-normal distribution. It records when the
// connection came, when the request came and when the answer was sent, by the monotonic clock of its machine.
//
// It prints its address, answers until it is terminated, and then writes one line per request to the file.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	clockMonotonic = 1
	body           = `{"status":"ok"}`
)

// row is one request; instants are in nanoseconds.
type row struct {
	peer                        string
	accepted, arrived, answered int64
}

// clock reads CLOCK_MONOTONIC, with which the benchmark compares its own instants.
type clock struct {
	base  int64
	began time.Time
}

func newClock() clock {
	var now syscall.Timespec
	if _, _, fault := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0); fault != 0 {
		log.Fatalf("recorder: could not read the clock: %v", fault)
	}
	return clock{base: now.Nano(), began: time.Now()}
}

func (c clock) now() int64 {
	return c.base + int64(time.Since(c.began))
}

// delays draws service times by the number of the request, so that they are the same in each run.
type delays struct {
	median time.Duration
	sigma  float64
	number atomic.Uint64
}

func (d *delays) next() time.Duration {
	number := d.number.Add(1)
	if d.median == 0 {
		return 0
	}
	return time.Duration(float64(d.median) * math.Exp(d.sigma*normal(number)))
}

// normal returns a standard normal value for a number (Box and Muller).
func normal(number uint64) float64 {
	first, second := uniform(2*number), uniform(2*number+1)
	return math.Sqrt(-2*math.Log(first)) * math.Cos(2*math.Pi*second)
}

// uniform returns a value between 0 and 1, without 0, for a number (splitmix64).
func uniform(number uint64) float64 {
	z := (number + 1) * 0x9e3779b97f4a7c15
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	z ^= z >> 31
	return (float64(z>>11) + 0.5) / (1 << 53)
}

type acceptedKey struct{}

type recorder struct {
	clock  clock
	delays delays
	mutex  sync.Mutex
	rows   []row
}

func (r *recorder) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	arrived := r.clock.now()
	if delay := r.delays.next(); delay > 0 {
		time.Sleep(delay)
	}
	answer.Header().Set("Content-Type", "application/json")
	answer.Header().Set("Content-Length", fmt.Sprint(len(body)))
	if _, err := answer.Write([]byte(body)); err != nil {
		return
	}
	if http.NewResponseController(answer).Flush() != nil {
		return
	}
	accepted, _ := request.Context().Value(acceptedKey{}).(int64)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.rows = append(r.rows, row{request.RemoteAddr, accepted, arrived, r.clock.now()})
}

// accepted records when a connection came.
func (r *recorder) accepted(context_ context.Context, _ net.Conn) context.Context {
	return context.WithValue(context_, acceptedKey{}, r.clock.now())
}

func (r *recorder) write(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, row := range r.rows {
		fmt.Fprintf(out, "%s,%d,%d,%d\n", row.peer, row.accepted, row.arrived, row.answered)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Close()
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address")
	rows := flag.String("rows", "rows.csv", "the file of the requests")
	median := flag.Duration("median", 0, "median of the service time; 0 answers at once")
	sigma := flag.Float64("sigma", 0, "its standard deviation on the scale of natural logarithms")
	flag.Parse()
	// A pause of the garbage collector would distort the recorded times.
	debug.SetGCPercent(400)
	r := &recorder{clock: newClock(), rows: make([]row, 0, 1<<20)}
	r.delays.median, r.delays.sigma = *median, *sigma
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatalf("recorder: could not listen: %v", err)
	}
	server := &http.Server{Handler: r, ConnContext: r.accepted}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		if err := server.Serve(listener); err != http.ErrServerClosed {
			log.Fatalf("recorder: %v", err)
		}
	}()
	fmt.Println(listener.Addr())
	<-ended
	if err := r.write(*rows); err != nil {
		log.Fatalf("recorder: could not write %s: %v", *rows, err)
	}
}
