package work

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// Runs f that many times at once, and waits until all have returned.
func atOnce(times int, f func()) {
	var group sync.WaitGroup
	for range times {
		group.Go(f)
	}
	group.Wait()
}

// What the kernel accounts to the calling thread, in whole microseconds each of user and system.
func accounted(t *testing.T) time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &used); err != nil {
		t.Error(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func TestBurningTakesItsCPUTimeHoweverManyShareTheCores(t *testing.T) {
	const each = 10 * time.Millisecond
	const rounding = 4 * time.Microsecond
	atOnce(4*runtime.NumCPU(), func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		before := accounted(t)
		Burn(each)
		if used := accounted(t) - before; used < each-rounding {
			t.Errorf("used %v", used)
		}
	})
}

func TestThoseWhoHoldALockDoSoOneAfterAnother(t *testing.T) {
	var lock Lock
	held := 0
	atOnce(8, func() {
		for range 100 {
			lock.Hold(func() {
				before := held
				runtime.Gosched()
				held = before + 1
			})
		}
	})
	if held != 800 {
		t.Errorf("800 holders counted to %d", held)
	}
}

// In a bubble, Wait returns when all goroutines are blocked, so no further one can arrive later.
func TestAPoolLetsInAsManyAsItHasSlots(t *testing.T) {
	for size, most := range map[int]int{1: 1, 3: 3, 0: 8, -1: 8} {
		synctest.Test(t, func(t *testing.T) {
			pool := NewPool(size, Unbounded)
			entered, leave := make(chan int, 8), make(chan int)
			for range 8 {
				go pool.Use(func() {
					entered <- 1
					<-leave
				})
			}
			synctest.Wait()
			if len(entered) != most {
				t.Errorf("a pool of %d let in %d", size, len(entered))
			}
			leave <- 1
			synctest.Wait()
			if len(entered) != min(most+1, 8) {
				t.Errorf("a pool of %d that one left has let in %d", size, len(entered))
			}
			close(leave)
		})
	}
}

func TestASlotIsFreeAgainAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := NewPool(1, Unbounded)
		func() {
			defer func() { recover() }()
			pool.Use(func() { panic("of a request") })
		}()
		worked := false
		go pool.Use(func() { worked = true })
		synctest.Wait()
		if !worked {
			t.Error("the slot is still taken")
		}
	})
}

func TestAFullWaitingRoomLetsNobodyIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := NewPool(1, 2)
		entered, leave := make(chan int, 8), make(chan int)
		work := func() {
			entered <- 1
			<-leave
		}
		for range 3 {
			go pool.Use(work)
		}
		synctest.Wait()
		if pool.Use(work) || len(entered) != 1 {
			t.Errorf("a fourth was let in where one works and two wait, or %d work", len(entered))
		}
		leave <- 1
		synctest.Wait()
		go pool.Use(work)
		synctest.Wait()
		close(leave)
		synctest.Wait()
		if len(entered) != 4 {
			t.Errorf("%d of four were served", len(entered))
		}
	})
}

func TestAJournalKeepsWholeRecordsInTheirOrderAndWhatWasThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	journal, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	record := strings.Repeat("r", 4095) + "\n"
	atOnce(8, func() {
		if err := journal.Append([]byte(record)); err != nil {
			t.Error(err)
		}
	})
	kept, err := os.ReadFile(path)
	if err != nil || string(kept) != "before\n"+strings.Repeat(record, 8) {
		t.Errorf("%d bytes, error %v", len(kept), err)
	}
}

// Nothing can be written to /dev/full, and /dev/null cannot be flushed.
func TestARecordThatIsNotOnDiskIsAnError(t *testing.T) {
	for _, device := range []string{"/dev/full", "/dev/null"} {
		journal, err := OpenJournal(device)
		if err != nil {
			t.Fatal(err)
		}
		if err := journal.Append([]byte("r")); err == nil {
			t.Errorf("%s took a record", device)
		}
	}
}
