package main

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/bradfitz/gomemcache/memcache"
	"github.com/valyala/fasthttp"
)

// cached reads a large value from memcached and answers with its checksum, by fasthttp: cached LISTEN ADDRESS CONNECTIONS BYTES
func cached(arguments []string) {
	client := memcache.New(arguments[0])
	client.MaxIdleConns = must(strconv.Atoi(arguments[1]))
	client.Timeout = 10 * time.Second
	value := bytes.Repeat([]byte("memcache"), must(strconv.Atoi(arguments[2]))/8)
	must(0, client.Set(&memcache.Item{Key: "page", Value: value}))
	log.Fatal(fasthttp.ListenAndServe(os.Args[2], func(c *fasthttp.RequestCtx) {
		if string(c.Path()) == "/healthz" {
			c.SetBodyString("ok")
			return
		}
		item, err := client.Get("page")
		if err != nil {
			c.Error(err.Error(), fasthttp.StatusBadGateway)
			return
		}
		fmt.Fprintf(c, "%08x", crc32.ChecksumIEEE(item.Value))
	}))
}
