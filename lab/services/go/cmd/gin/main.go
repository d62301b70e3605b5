// Command gin answers /healthz like an API server built on gin, through middlewares that can be switched off one by one
// (-dump=false). The pprof pages are at /debug/pprof/ and pass through none of them.
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"

	"plimsoll/services/internal/middleware"
	"plimsoll/services/internal/pages"
)

// switches are the middlewares that a request passes through.
type switches struct {
	requestID, context, recovery, logger, noCache, dump bool
}

func main() {
	listen := flag.String("listen", ":8080", "address to listen on")
	var on switches
	flag.BoolVar(&on.requestID, "request-id", true, "give each request a name, and return it as X-Request-ID")
	flag.BoolVar(&on.context, "context", true, "note the name of the request for later handlers")
	flag.BoolVar(&on.recovery, "recovery", true, "answer 500 where a handler panics")
	flag.BoolVar(&on.logger, "logger", true, "log each request")
	flag.BoolVar(&on.noCache, "no-cache", true, "forbid caches to keep the answer")
	flag.BoolVar(&on.dump, "dump", true, "print heads and bodies of each request and answer")
	output := flag.String("log", "", "file that logger and dump write to; standard output without it")
	flag.Parse()

	gin.SetMode(gin.ReleaseMode)
	out, err := opened(*output)
	if err != nil {
		log.Fatal("gin: ", err)
	}
	log.Printf("listening on %s", *listen)
	log.Fatal(http.ListenAndServe(*listen, server(on, out)))
}

func opened(path string) (io.Writer, error) {
	if path == "" {
		return os.Stdout, nil
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
}

func server(on switches, out io.Writer) http.Handler {
	engine := gin.New()
	// A route passes only through middlewares added before it: a profile must not be kept in memory to be printed.
	engine.GET(pages.ProfilePath+"*page", gin.WrapH(pages.Profiles()))
	engine.Use(on.chain(out)...)
	engine.GET("/healthz", func(c *gin.Context) { c.JSON(http.StatusOK, pages.Healthy) })
	return engine
}

// chain returns the middlewares that are switched on, in the order in which a request passes through them.
func (on switches) chain(out io.Writer) []gin.HandlerFunc {
	var chain []gin.HandlerFunc
	add := func(switchedOn bool, handler gin.HandlerFunc) {
		if switchedOn {
			chain = append(chain, handler)
		}
	}
	add(on.requestID, middleware.RequestID())
	add(on.context, middleware.Context())
	add(on.recovery, gin.RecoveryWithWriter(out))
	add(on.logger, gin.LoggerWithWriter(out))
	add(on.noCache, middleware.NoCache())
	add(on.dump, middleware.Dump(out))
	return chain
}
