package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// The service with these flags.
func api(t *testing.T, arguments ...string) *cost {
	t.Helper()
	_, service, err := serviceOf(arguments)
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func get(service http.Handler, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	service.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer
}

// Makes this many requests at once, and waits for all answers.
func getAtOnce(service http.Handler, requests int) {
	var group sync.WaitGroup
	for range requests {
		group.Go(func() { get(service, "/") })
	}
	group.Wait()
}

// The CPU time that this process has used.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func TestAnAnswerHasAsManyBytesAsSizeSays(t *testing.T) {
	for size, flags := range map[int][]string{2: nil, 0: {"-size", "0"}, 60_000: {"-size", "60000"}} {
		server := httptest.NewServer(api(t, flags...))
		answer, err := http.Get(server.URL + "/any/path?of=it")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		server.Close()
		if answer.StatusCode != http.StatusOK || answer.ContentLength != int64(size) || len(body) != size || err != nil {
			t.Errorf("%v: status %d, length %d, %d bytes, error %v", flags, answer.StatusCode, answer.ContentLength, len(body), err)
		}
	}
}

func TestItListensWhereItIsTold(t *testing.T) {
	if listen, _, _ := serviceOf(nil); listen != ":9000" {
		t.Errorf("by default on %s", listen)
	}
	if listen, _, _ := serviceOf([]string{"-listen", "127.0.0.1:1"}); listen != "127.0.0.1:1" {
		t.Errorf("told to, on %s", listen)
	}
}

// Time is that of the bubble: it passes only while all goroutines wait, and then exactly.
func TestAPoolWorksOnThatManyRequestsAtOnceAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for pool, took := range map[string]time.Duration{"16": 120 * time.Millisecond, "1": 1600 * time.Millisecond, "0": 40 * time.Millisecond} {
			service := api(t, "-sleep", "40ms", "-pool", pool)
			began := time.Now()
			getAtOnce(service, 40)
			if time.Since(began) != took {
				t.Errorf("40 requests of 40 ms with a pool of %s took %v", pool, time.Since(began))
			}
		}
	})
}

func TestARequestForWhichThereIsNoRoomIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := api(t, "-sleep", "1s", "-pool", "1", "-waiting", "1")
		var working sync.WaitGroup
		defer working.Wait()
		for range 2 {
			working.Go(func() {
				if answer := get(service, "/"); answer.Code != http.StatusOK {
					t.Errorf("status %d", answer.Code)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		if answer := get(service, "/"); answer.Code != http.StatusServiceUnavailable || time.Since(began) != 0 {
			t.Errorf("status %d after %v", answer.Code, time.Since(began))
		}
	})
}

func TestAWorkThatHasBegunGoesOnWhenItsClientIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := api(t, "-sleep", "40ms", "-pool", "1")
		gone, leave := context.WithCancel(t.Context())
		leave()
		began := time.Now()
		service.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(gone, http.MethodGet, "/", nil))
		if time.Since(began) != 40*time.Millisecond {
			t.Errorf("the work took %v", time.Since(began))
		}
	})
}

func TestHealthzAnswersWhileTheServiceIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := api(t, "-sleep", "1h", "-pool", "1")
		var working sync.WaitGroup
		defer working.Wait()
		working.Go(func() { get(service, "/") })
		synctest.Wait()
		began := time.Now()
		answer := get(service, "/healthz")
		if answer.Code != http.StatusOK || answer.Body.String() != "ok" || time.Since(began) != 0 {
			t.Errorf("status %d, body %q after %v", answer.Code, answer.Body, time.Since(began))
		}
	})
}

func TestARequestCostsItsCPUTime(t *testing.T) {
	const each = 5 * time.Millisecond
	for _, name := range []string{"-cpu", "-locked-cpu"} {
		service := api(t, name, each.String())
		before := cpuTime(t)
		getAtOnce(service, 4)
		if used := cpuTime(t) - before; used < 4*each {
			t.Errorf("%s: 4 requests used %v", name, used)
		}
	}
}

func TestARequestLeavesGarbageThatTheCollectorTakesAway(t *testing.T) {
	const garbage = 1 << 20
	service := api(t, "-garbage", fmt.Sprint(garbage), "-kept", "1000")
	before := memory()
	for range 64 {
		get(service, "/")
	}
	after := memory()
	if made := after.TotalAlloc - before.TotalAlloc; made < 64*garbage {
		t.Errorf("%d bytes were allocated", made)
	}
	if after.NumGC == before.NumGC || after.HeapAlloc > before.HeapAlloc+32*garbage {
		t.Errorf("after %d cycles %d bytes are kept", after.NumGC-before.NumGC, after.HeapAlloc)
	}
}

// The runtime's statistics of its memory.
func memory() (stats runtime.MemStats) {
	runtime.ReadMemStats(&stats)
	return stats
}

func TestOneRequestHoldsTheLockAtATime(t *testing.T) {
	const each = 10 * time.Millisecond
	for _, name := range []string{"-locked", "-locked-cpu"} {
		service := api(t, name, each.String())
		began := time.Now()
		getAtOnce(service, 4)
		if took := time.Since(began); took < 4*each {
			t.Errorf("%s: 4 requests took %v", name, took)
		}
	}
}

func TestEachRequestLeavesItsRecordInTheJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	service := api(t, "-journal", path, "-record", "100")
	for answered := 1; answered <= 3; answered++ {
		get(service, "/")
		kept, err := os.ReadFile(path)
		if err != nil || string(kept) != strings.Repeat("r", 100*answered) {
			t.Errorf("after %d answers the journal has %d bytes, error %v", answered, len(kept), err)
		}
	}
	if len(api(t).record) != 64 {
		t.Errorf("by default a record has %d bytes", len(api(t).record))
	}
}

func TestARecordThatCannotBeKeptIsABadGateway(t *testing.T) {
	if _, _, err := serviceOf([]string{"-journal", filepath.Join(t.TempDir(), "missing", "journal")}); err == nil {
		t.Error("a journal in no folder was opened")
	}
	answer := get(api(t, "-journal", "/dev/full"), "/")
	if answer.Code != http.StatusBadGateway || !strings.Contains(answer.Body.String(), "journal") {
		t.Errorf("status %d, body %q", answer.Code, answer.Body)
	}
}

func TestWhatIsCalledIsAskedBeforeEachAnswerAndItsFailureIsTold(t *testing.T) {
	var asked, status atomic.Int64
	status.Store(http.StatusOK)
	called := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		asked.Add(1)
		if request.URL.String() != "/cpu?us=800" {
			t.Errorf("asked for %s", request.URL)
		}
		response.WriteHeader(int(status.Load()))
	}))
	service := api(t, "-call", called.URL+"/cpu?us=800", "-connections", "4")
	for range 2 {
		if answer := get(service, "/"); answer.Code != http.StatusOK {
			t.Errorf("status %d, body %q", answer.Code, answer.Body)
		}
	}
	get(service, "/healthz")
	if asked.Load() != 2 {
		t.Errorf("two answers and /healthz made %d calls", asked.Load())
	}
	status.Store(http.StatusServiceUnavailable)
	if answer := get(service, "/"); answer.Code != http.StatusBadGateway || !strings.Contains(answer.Body.String(), "503") {
		t.Errorf("status %d, body %q", answer.Code, answer.Body)
	}
	called.Close()
	if answer := get(service, "/"); answer.Code != http.StatusBadGateway {
		t.Errorf("with nobody to call: status %d", answer.Code)
	}
}

func TestADatabaseOrRedisThatIsNotThereIsABadGateway(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nobody")
	for _, flags := range [][]string{{"-sql", "plimsoll@unix(" + nowhere + ")/mysql"}, {"-redis", nowhere}} {
		if answer := get(api(t, flags...), "/"); answer.Code != http.StatusBadGateway {
			t.Errorf("%v: status %d", flags, answer.Code)
		}
	}
	if _, _, err := serviceOf([]string{"-sql", "no name of a database"}); err == nil {
		t.Error("it started without knowing which database to ask")
	}
}
