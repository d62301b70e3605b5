// Serves the pages of expvar and pprof on the address that is its argument.
package main

import (
	_ "expvar"
	"log"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
)

func main() {
	for index := 0; index < 40; index++ {
		go func() { select {} }()
	}
	for round := 0; round < 3; round++ {
		runtime.GC()
	}
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
