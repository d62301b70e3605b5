package main

import (
	"net/http"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// publish sends a message to RabbitMQ for each request, and waits for its confirmation: publish LISTEN URL CHANNELS
func publish(arguments []string) {
	connection := must(dialled(arguments[0]))
	channels := make(chan *amqp.Channel, must(strconv.Atoi(arguments[1])))
	for range cap(channels) {
		channel := must(connection.Channel())
		must(0, channel.Confirm(false))
		channels <- channel
	}
	// The queue has a maximum length, because no consumer reads it.
	channel := must(connection.Channel())
	must(channel.QueueDeclare("orders", true, false, false, false, amqp.Table{"x-max-length": int32(1000)}))
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		channel := <-channels
		defer func() { channels <- channel }()
		sent, err := channel.PublishWithDeferredConfirmWithContext(r.Context(), "", "orders", false, false, amqp.Publishing{Body: []byte("order")})
		if err == nil {
			_, err = sent.WaitContext(r.Context())
		}
		reply(w, err)
	})
}

// dialled tries for a minute, because a broker takes time to start.
func dialled(url string) (*amqp.Connection, error) {
	for begin := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		connection, err := amqp.Dial(url)
		if err == nil || time.Since(begin) > time.Minute {
			return connection, err
		}
	}
}
