// What a server with the settings of the snippet does: 1.5 calls a second, five at once, two at a time.
package main

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
)

const (
	burst       = 5
	concurrency = 2
	patience    = 20 * time.Second
)

func main() {}

// client talks to a server of its own in this process.
func client(t *testing.T) (grpc_health_v1.HealthClient, context.Context) {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	server := grpc.NewServer(plimsollLimits()...)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	dial := func(context.Context, string) (net.Conn, error) { return listener.Dial() }
	connection, err := grpc.NewClient("passthrough:///", grpc.WithContextDialer(dial),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return grpc_health_v1.NewHealthClient(connection), ctx
}

func check(ctx context.Context, client grpc_health_v1.HealthClient) error {
	_, err := client.Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	return err
}

// watch opens a stream and waits until the server has begun to answer it, or has refused it.
func watch(ctx context.Context, client grpc_health_v1.HealthClient) error {
	stream, err := client.Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		return err
	}
	_, err = stream.Recv()
	return err
}

func mustBeRefused(t *testing.T, err error, why string) {
	t.Helper()
	if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), why) {
		t.Fatalf("expected RESOURCE_EXHAUSTED for %q, got %v", why, err)
	}
}

func TestCallsBeyondTheBurstAreRefused(t *testing.T) {
	client, ctx := client(t)
	for range burst {
		if err := check(ctx, client); err != nil {
			t.Fatal(err)
		}
	}
	mustBeRefused(t, check(ctx, client), "a second")
}

func TestOpenStreamsTakeTheirPlaceUntilTheyEnd(t *testing.T) {
	client, ctx := client(t)
	streams, end := context.WithCancel(ctx)
	for range concurrency {
		if err := watch(streams, client); err != nil {
			t.Fatal(err)
		}
	}
	mustBeRefused(t, watch(ctx, client), "at a time")
	mustBeRefused(t, check(ctx, client), "at a time")
	end()
	for check(ctx, client) != nil {
		if ctx.Err() != nil {
			t.Fatal("the places of ended streams are not free again")
		}
	}
}
