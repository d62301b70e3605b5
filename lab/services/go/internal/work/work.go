// Package work implements the work that a request may cost: CPU time, a held lock, a flush to disk, a slot of a pool,
// memory. The limit of each is known beforehand, so that a scenario's verdict can be checked.
package work

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Burn uses d of CPU time of the calling thread. It counts CPU time instead of wall time, so that a thread that has to
// wait for a core does no less work.
func Burn(d time.Duration) {
	Within(d, func() {})
}

// Within runs f, and burns what f left of d.
func Within(d time.Duration, f func()) {
	// The clock is that of a thread, so the goroutine must stay on its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	end := threadTime() + d
	f()
	for threadTime() < end {
		spin()
	}
}

// spin works between two reads of the clock, which cost a system call. It is not inlined, because the compiler would
// then remove it: its result is unused.
//
//go:noinline
func spin() uint32 {
	x := uint32(1)
	for range 2000 {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	return x
}

func threadTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(fmt.Sprintf("this system has no CPU clock of threads: %v", err))
	}
	return time.Duration(ts.Nano())
}

// Heap makes work for the garbage collector.
type Heap struct {
	// The objects with a pointer that the collector scans in each cycle.
	kept []*object
	// Bytes of garbage of each request, which bring the next cycle closer.
	garbage int
}

type object struct {
	next  *object
	value int
}

// The size of each allocation of garbage, in bytes.
const block = 4096

// NewHeap makes a heap that keeps this many small objects forever, and gets this many bytes of garbage with each request.
func NewHeap(kept, garbage int) *Heap {
	heap := &Heap{kept: make([]*object, kept), garbage: garbage}
	for i := range heap.kept {
		heap.kept[i] = &object{value: i}
	}
	return heap
}

// Litter makes the garbage of one request.
func (h *Heap) Litter() {
	for left := h.garbage; left > 0; left -= block {
		discard(make([]byte, min(left, block)))
	}
}

// It is not inlined, because the compiler would then remove the unused block.
//
//go:noinline
func discard(garbage []byte) *byte {
	return &garbage[0]
}

// Lock is one lock for all requests.
type Lock struct{ mutex sync.Mutex }

// Hold runs f while no other request holds the lock.
func (l *Lock) Hold(f func()) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	f()
}

// Pool is a fixed number of slots, and the requests that wait for one.
type Pool struct {
	slots chan struct{}
	// Requests in a slot or waiting; nil means no limit.
	within chan struct{}
}

// Unbounded as the number of waiting requests means no limit.
const Unbounded = -1

// NewPool makes a pool of size slots, for which at most waiting requests may wait; a size of 0 means no limit.
func NewPool(size, waiting int) *Pool {
	if size <= 0 {
		return &Pool{}
	}
	pool := &Pool{slots: make(chan struct{}, size)}
	if waiting >= 0 {
		pool.within = make(chan struct{}, size+waiting)
	}
	return pool
}

// Use runs f in a slot, for which it may have to wait: first come, first served. If too many requests wait already, Use
// returns false and does not run f.
func (p *Pool) Use(f func()) bool {
	if p.slots == nil {
		f()
		return true
	}
	if p.within != nil {
		select {
		case p.within <- struct{}{}:
			defer func() { <-p.within }()
		default:
			return false
		}
	}
	p.slots <- struct{}{}
	defer func() { <-p.slots }()
	f()
	return true
}

// Journal is a file to which each request appends a record that must be on disk before the answer.
type Journal struct {
	mutex sync.Mutex
	file  *os.File
}

// OpenJournal opens the file, and creates it if it does not exist.
func OpenJournal(path string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the journal: %w", err)
	}
	return &Journal{file: file}, nil
}

// Append writes record and waits until it is on disk.
func (j *Journal) Append(record []byte) error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if _, err := j.file.Write(record); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return j.file.Sync()
}
