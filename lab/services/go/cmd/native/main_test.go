package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"plimsoll/services/internal/pages"
)

func get(path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	server().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer
}

func TestHealthzAnswersThatAllIsWell(t *testing.T) {
	answer := get("/healthz")
	if answer.Code != http.StatusOK || answer.Body.String() != pages.HealthyText {
		t.Fatalf("status %d, body %q", answer.Code, answer.Body)
	}
}

func TestThePagesOfPprofAreThereAndNothingElse(t *testing.T) {
	if code := get(pages.ProfilePath + "cmdline").Code; code != http.StatusOK {
		t.Errorf("pprof answers with status %d", code)
	}
	if code := get("/other").Code; code != http.StatusNotFound {
		t.Errorf("an unknown page answers with status %d", code)
	}
}
