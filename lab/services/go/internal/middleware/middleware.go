// Package middleware has what an API server commonly does around each request: give it an id, pass the id on, log the
// request, forbid caches, and print it whole for debugging. The experiment measures the cost of each.
package middleware

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
)

// HeaderRequestID carries the id of a request from the caller and back to it.
const HeaderRequestID = "X-Request-ID"

// Keys under which handlers find the values of Context.
const (
	KeyRequestID = "requestID"
	KeyUsername  = "username"
)

// RequestID gives each request without an id a new one.
func RequestID() gin.HandlerFunc {
	return func(c *gin.Context) {
		id := c.GetHeader(HeaderRequestID)
		if id == "" {
			id = uuid.NewString()
			c.Request.Header.Set(HeaderRequestID, id)
		}
		c.Set(HeaderRequestID, id)
		c.Writer.Header().Set(HeaderRequestID, id)
		c.Next()
	}
}

// Context stores the id and the user of the request for all later handlers.
func Context() gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Set(KeyRequestID, c.GetString(HeaderRequestID))
		c.Set(KeyUsername, c.GetString("user"))
		c.Next()
	}
}

// NoCache forbids all caches on the way to store the answer.
func NoCache() gin.HandlerFunc {
	return func(c *gin.Context) {
		header := c.Writer.Header()
		header.Set("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")
		header.Set("Expires", "Thu, 01 Jan 1970 00:00:00 GMT")
		header.Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		c.Next()
	}
}
