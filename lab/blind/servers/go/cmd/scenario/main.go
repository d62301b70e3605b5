// Command scenario is the Go server of several scenarios; its first argument says which.
package main

import (
	"log"
	"net/http"
	"os"
)

// kinds are the servers by name. Each gets the arguments after the name, and sets the handler of "/".
var kinds = map[string]func(arguments []string){
	"mix":     mix,
	"rows":    rows,
	"ask":     ask,
	"answer":  answer,
	"publish": publish,
	"cached":  cached,
	"jobs":    jobs,
}

func main() {
	if len(os.Args) < 3 || kinds[os.Args[1]] == nil {
		log.Fatal("usage: scenario mix|rows|ask|answer|publish|cached|jobs LISTEN …")
	}
	http.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	kinds[os.Args[1]](os.Args[3:])
	log.Fatal(http.ListenAndServe(os.Args[2], nil))
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// reply answers with ok, or with 502 and the error.
func reply(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	_, _ = w.Write([]byte("ok"))
}
