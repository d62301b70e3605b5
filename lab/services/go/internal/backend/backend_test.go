package backend

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const startTimeout = 60 * time.Second

// A folder for a server and its socket, whose path must be short.
func folder(t *testing.T) string {
	t.Helper()
	made, err := os.MkdirTemp("", "backend")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(made) })
	return made
}

// Starts a server that ends with the test, and waits until it takes connections on its socket.
func start(t *testing.T, socket string, command ...string) {
	t.Helper()
	var log strings.Builder
	server := exec.Command(command[0], command[1:]...)
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		server.Process.Kill()
		<-ended
	})
	for began := time.Now(); time.Since(began) < startTimeout; {
		if connection, err := net.Dial("unix", socket); err == nil {
			connection.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s ended: %v\n%s", command[0], err, log.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatalf("%s takes no connections on %s", command[0], socket)
}

// A call that is made once.
var once = Patience{Timeout: time.Minute, Tries: 1}

// Makes this many calls at once, each of which must succeed.
func callAtOnce(t *testing.T, calls Calls, times int) {
	t.Helper()
	var group sync.WaitGroup
	for range times {
		group.Go(func() {
			if err := calls(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestNoBackendIsNoWork(t *testing.T) {
	if err := None(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestHTTPCallsShareTheirConnectionsAndKeepThem(t *testing.T) {
	var opened, inside atomic.Int64
	both := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if inside.Add(1) == 2 {
			close(both)
		}
		<-both
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	callAtOnce(t, HTTP(server.URL, 2, once), 20)
	if opened.Load() != 2 || inside.Load() != 20 {
		t.Errorf("%d calls on %d connections", inside.Load(), opened.Load())
	}
}

func TestAnHTTPAnswerThatIsNotOKIsAnErrorThatNamesIt(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	err := HTTP(server.URL, 0, once)(t.Context())
	if err == nil || !strings.Contains(err.Error(), server.URL) || !strings.Contains(err.Error(), "404") {
		t.Errorf("error %v", err)
	}
	if HTTP("no URL:", 0, once)(t.Context()) == nil {
		t.Error("what is no URL was called")
	}
}

func TestACallThatFailsIsTriedAgainAsOftenAsItMayBe(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			response.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	twice := Patience{Timeout: time.Minute, Tries: 2}
	if err := HTTP(server.URL, 0, twice)(t.Context()); err == nil || asked.Load() != 2 {
		t.Errorf("two tries made %d calls, error %v", asked.Load(), err)
	}
	if err := HTTP(server.URL, 0, twice)(t.Context()); err != nil || asked.Load() != 3 {
		t.Errorf("a call that succeeds was made %d times, error %v", asked.Load()-2, err)
	}
}

func TestATryThatTakesTooLongHasFailed(t *testing.T) {
	leave := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-leave }))
	defer server.Close()
	defer close(leave)
	if HTTP(server.URL, 0, Patience{Timeout: time.Millisecond, Tries: 1})(t.Context()) == nil {
		t.Error("an answer that did not come is no error")
	}
}
