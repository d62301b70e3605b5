// Package pages holds what both servers of the experiment api-vs-native answer, so that nothing but the way to the
// answer differs between them.
package pages

import (
	"net/http"
	"net/http/pprof"
)

// Status is the body of /healthz.
type Status struct {
	Status string `json:"status"`
}

// Healthy is what /healthz answers.
var Healthy = Status{Status: "ok"}

// HealthyText is the same as it is on the wire.
const HealthyText = `{"status":"ok"}`

// ProfilePath is where the pages of pprof begin; a CPU profile is at profile below it.
const ProfilePath = "/debug/pprof/"

// Profiles serves the pages of pprof.
func Profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(ProfilePath, pprof.Index)
	mux.HandleFunc(ProfilePath+"cmdline", pprof.Cmdline)
	mux.HandleFunc(ProfilePath+"profile", pprof.Profile)
	mux.HandleFunc(ProfilePath+"symbol", pprof.Symbol)
	mux.HandleFunc(ProfilePath+"trace", pprof.Trace)
	return mux
}
