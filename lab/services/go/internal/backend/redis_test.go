package backend

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
)

// A Redis of its own, and a client that reports what it received.
func startRedis(t *testing.T) (string, *redis.Client) {
	t.Helper()
	here := folder(t)
	socket := filepath.Join(here, "socket")
	start(t, socket, "redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", here)
	client := redis.NewClient(&redis.Options{Addr: socket, PoolSize: 1})
	t.Cleanup(func() { client.Close() })
	return socket, client
}

func connectionsSoFar(t *testing.T, client *redis.Client) int {
	t.Helper()
	answer := client.InfoMap(t.Context(), "stats")
	connections, err := strconv.Atoi(answer.Item("Stats", "total_connections_received"))
	if err != nil {
		t.Fatalf("%v: %v", answer, err)
	}
	return connections
}

func TestEachRedisCallRunsTheScriptOnNoMoreConnectionsThanItMay(t *testing.T) {
	socket, client := startRedis(t)
	const slow = "local s = 0 for i = 1, 200000 do s = s + i end return redis.call('incr', 'calls')"
	before := connectionsSoFar(t, client)
	callAtOnce(t, Redis(socket, slow, 2), 20)
	if opened := connectionsSoFar(t, client) - before; opened > 2 {
		t.Errorf("%d connections", opened)
	}
	if calls, err := client.Get(t.Context(), "calls").Int(); calls != 20 || err != nil {
		t.Errorf("%d scripts ran, error %v", calls, err)
	}
}

func TestAScriptMayAnswerNothingButMustRun(t *testing.T) {
	socket, _ := startRedis(t)
	if err := Redis(socket, "return nil", 0)(t.Context()); err != nil {
		t.Error(err)
	}
	if Redis(socket, "return no script", 0)(t.Context()) == nil {
		t.Error("what is no script ran")
	}
}
