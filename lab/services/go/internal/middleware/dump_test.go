package middleware

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

func TestADumpLeavesTheBodyToTheHandlerAndPrintsIt(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	var out bytes.Buffer
	engine := gin.New()
	engine.Use(Dump(&out))
	engine.POST("/echo", func(c *gin.Context) {
		body, _ := io.ReadAll(c.Request.Body)
		c.String(http.StatusOK, string(body))
	})
	answer := httptest.NewRecorder()
	engine.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/echo", strings.NewReader("not JSON")))
	if answer.Body.String() != "not JSON" {
		t.Errorf("the handler read %q", answer.Body)
	}
	if strings.Count(out.String(), "Body: not JSON") != 2 {
		t.Errorf("printed %q", out.String())
	}
}
