package main

import (
	"net/http"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// ask sends each request to workers behind NATS: ask LISTEN URL
func ask(arguments []string) {
	connection := must(nats.Connect(arguments[0], nats.RetryOnFailedConnect(true)))
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		_, err := connection.Request("orders", nil, 10*time.Second)
		reply(w, err)
	})
}

// answer runs workers that each do one thing at a time: answer LISTEN URL WORKERS TIME
func answer(arguments []string) {
	connection := must(nats.Connect(arguments[0], nats.RetryOnFailedConnect(true)))
	wait := must(time.ParseDuration(arguments[2]))
	orders := make(chan *nats.Msg, 1024)
	must(connection.ChanQueueSubscribe("orders", "workers", orders))
	for range must(strconv.Atoi(arguments[1])) {
		go func() {
			for order := range orders {
				time.Sleep(wait)
				_ = order.Respond([]byte("done"))
			}
		}()
	}
}
