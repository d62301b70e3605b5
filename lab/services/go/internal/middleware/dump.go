package middleware

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// Dump prints the headers and bodies of each request and its answer, formatted for reading. It keeps a copy of both
// bodies in memory, so it helps with a single request but costs most of the CPU under load.
func Dump(out io.Writer) gin.HandlerFunc {
	return func(c *gin.Context) {
		request, err := keepBody(c.Request)
		if err != nil {
			c.AbortWithStatus(http.StatusBadRequest)
			return
		}
		writer := &copyingWriter{ResponseWriter: c.Writer}
		c.Writer = writer
		head := readable(c.Request.Header)
		c.Next()
		fmt.Fprintf(out, "[dump] %s %s %d\nRequest-Header: %s\nRequest-Body: %s\nResponse-Header: %s\nResponse-Body: %s\n",
			c.Request.Method, c.Request.URL.Path, writer.Status(), head, readableBody(request),
			readable(writer.Header()), readableBody(writer.copy.Bytes()))
	}
}

// keepBody returns the whole body, and lets the handlers read it again.
func keepBody(request *http.Request) ([]byte, error) {
	if request.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(request.Body)
	request.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}

// readable formats headers as indented JSON; several values of a header become one text.
func readable(header http.Header) []byte {
	fields := make(map[string]string, len(header))
	for name, values := range header {
		fields[name] = strings.Join(values, ", ")
	}
	text, err := json.MarshalIndent(fields, "", "    ")
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// readableBody formats a JSON body anew, and returns any other body as it is.
func readableBody(body []byte) []byte {
	var value any
	if json.Unmarshal(body, &value) != nil {
		return body
	}
	text, err := json.MarshalIndent(value, "", "    ")
	if err != nil {
		return body
	}
	return text
}

// copyingWriter writes through and keeps a copy.
type copyingWriter struct {
	gin.ResponseWriter
	copy bytes.Buffer
}

func (w *copyingWriter) Write(part []byte) (int, error) {
	w.copy.Write(part)
	return w.ResponseWriter.Write(part)
}

func (w *copyingWriter) WriteString(part string) (int, error) {
	w.copy.WriteString(part)
	return w.ResponseWriter.WriteString(part)
}
