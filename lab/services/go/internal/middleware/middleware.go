// Package middleware holds what an API server commonly does around each request: name it, carry its names along, log
// it, forbid caches, and, while it is being debugged, print it whole. What each costs is to be measured.
package middleware

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
)

// HeaderRequestID carries the name of a request, from the caller and back to it.
const HeaderRequestID = "X-Request-ID"

// Keys under which handlers find what Context noted.
const (
	KeyRequestID = "requestID"
	KeyUsername  = "username"
)

// RequestID names each request that has no name yet.
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

// Context notes for all handlers after it which request this is and whose.
func Context() gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Set(KeyRequestID, c.GetString(HeaderRequestID))
		c.Set(KeyUsername, c.GetString("user"))
		c.Next()
	}
}

// NoCache tells all caches on the way to keep nothing.
func NoCache() gin.HandlerFunc {
	return func(c *gin.Context) {
		header := c.Writer.Header()
		header.Set("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")
		header.Set("Expires", "Thu, 01 Jan 1970 00:00:00 GMT")
		header.Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		c.Next()
	}
}
