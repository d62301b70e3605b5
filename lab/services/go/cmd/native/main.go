// Command native answers /healthz with bare net/http: the most that a Go server can serve, and the baseline for servers
// built on a framework. The pprof pages are at /debug/pprof/.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"

	"plimsoll/services/internal/pages"
)

func main() {
	listen := flag.String("listen", ":6667", "address to listen on")
	flag.Parse()
	log.Printf("listening on %s", *listen)
	log.Fatal(http.ListenAndServe(*listen, server()))
}

func server() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(response http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(response, pages.HealthyText)
	})
	mux.Handle(pages.ProfilePath, pages.Profiles())
	return mux
}
