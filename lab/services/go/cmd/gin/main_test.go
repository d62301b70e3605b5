package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"plimsoll/services/internal/middleware"
	"plimsoll/services/internal/pages"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(m.Run())
}

// An answer, and its lines in the log.
func get(on switches, path string) (*httptest.ResponseRecorder, string) {
	var out bytes.Buffer
	answer := httptest.NewRecorder()
	server(on, &out).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer, out.String()
}

func TestHealthzAnswersTheSameWhateverIsSwitchedOn(t *testing.T) {
	all := switches{requestID: true, context: true, recovery: true, logger: true, noCache: true, dump: true}
	for _, on := range []switches{{}, {dump: true}, {logger: true, recovery: true}, all} {
		answer, _ := get(on, "/healthz")
		if answer.Code != http.StatusOK || answer.Body.String() != pages.HealthyText {
			t.Errorf("%+v: status %d, body %q", on, answer.Code, answer.Body)
		}
	}
}

func TestARequestPassesOnlyTheMiddlewaresThatAreSwitchedOn(t *testing.T) {
	bare, silence := get(switches{}, "/healthz")
	if bare.Header().Get(middleware.HeaderRequestID) != "" || bare.Header().Get("Cache-Control") != "" || silence != "" {
		t.Errorf("without any: %v, %q", bare.Header(), silence)
	}
	named, _ := get(switches{requestID: true, context: true}, "/healthz")
	if len(named.Header().Get(middleware.HeaderRequestID)) != 36 {
		t.Errorf("no name: %v", named.Header())
	}
	uncached, _ := get(switches{noCache: true}, "/healthz")
	if !strings.Contains(uncached.Header().Get("Cache-Control"), "no-store") {
		t.Errorf("caches may keep it: %v", uncached.Header())
	}
	_, line := get(switches{logger: true}, "/healthz")
	if strings.Count(line, "\n") != 1 || !strings.Contains(line, `"/healthz"`) {
		t.Errorf("logged %q", line)
	}
	_, dump := get(switches{dump: true}, "/healthz")
	if !strings.Contains(dump, "Response-Body: {\n    \"status\": \"ok\"\n}") {
		t.Errorf("printed %q", dump)
	}
}

func TestAProfileIsNeitherLoggedNorPrinted(t *testing.T) {
	answer, out := get(switches{logger: true, dump: true}, pages.ProfilePath+"cmdline")
	if answer.Code != http.StatusOK || out != "" {
		t.Errorf("status %d, printed %q", answer.Code, out)
	}
}
