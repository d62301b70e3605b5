package main

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/beanstalkd/go-beanstalk"
	"github.com/labstack/echo/v4"
)

// jobs puts a job into beanstalkd for each request, by Echo: jobs LISTEN ADDRESS CONNECTIONS BYTES
func jobs(arguments []string) {
	connections := make(chan *beanstalk.Conn, must(strconv.Atoi(arguments[1])))
	for range cap(connections) {
		connections <- must(beanstalk.Dial("tcp", arguments[0]))
	}
	job := bytes.Repeat([]byte("job "), must(strconv.Atoi(arguments[2]))/4)
	server := echo.New()
	server.GET("/", func(c echo.Context) error {
		connection := <-connections
		defer func() { connections <- connection }()
		id, err := connection.Put(job, 1024, 0, time.Minute)
		if err != nil {
			return c.String(http.StatusBadGateway, err.Error())
		}
		return c.String(http.StatusOK, strconv.FormatUint(id, 10))
	})
	http.Handle("/", server)
}
