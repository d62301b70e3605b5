// Package pages has the answers of both servers of the experiment api-vs-native, so that only the way to the answer
// differs between them.
package pages

import (
	"net/http"
	"net/http/pprof"
)

// Status is the body of /healthz.
type Status struct {
	Status string `json:"status"`
}

// Healthy is the answer of /healthz.
var Healthy = Status{Status: "ok"}

// HealthyText is the same answer as it is sent.
const HealthyText = `{"status":"ok"}`

// ProfilePath is the prefix of the pprof pages; a CPU profile is at profile below it.
const ProfilePath = "/debug/pprof/"

// Profiles serves the pprof pages.
func Profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(ProfilePath, pprof.Index)
	mux.HandleFunc(ProfilePath+"cmdline", pprof.Cmdline)
	mux.HandleFunc(ProfilePath+"profile", pprof.Profile)
	mux.HandleFunc(ProfilePath+"symbol", pprof.Symbol)
	mux.HandleFunc(ProfilePath+"trace", pprof.Trace)
	return mux
}
