// Package backend calls the server behind the API: another HTTP service, Redis or a SQL database, each with a
// bounded pool of connections if a limit is given.
package backend

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver named in OpenSQL
	"github.com/redis/go-redis/v9"
)

// Calls makes one call to a backend.
type Calls func(ctx context.Context) error

// None is used without a backend: it calls nothing.
func None(context.Context) error { return nil }

// Patience is how long a call may take, and how often it is tried before it fails.
type Patience struct {
	Timeout time.Duration
	Tries   int
}

// HTTP gets url on at most connections connections; 0 means no limit. It repeats a failed try at once.
func HTTP(url string, connections int, patience Patience) Calls {
	client := &http.Client{
		Timeout: patience.Timeout,
		Transport: &http.Transport{
			MaxConnsPerHost:     connections,
			MaxIdleConnsPerHost: 4096,
		},
	}
	return func(ctx context.Context) error {
		err := get(ctx, client, url)
		for try := 1; err != nil && try < patience.Tries; try++ {
			err = get(ctx, client, url)
		}
		return err
	}
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, response.Status)
	}
	return nil
}

// SQL runs query in the database at dsn on at most connections connections; 0 means no limit.
func SQL(dsn, query string, connections int) (Calls, error) {
	database, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, fmt.Errorf("the database: %w", err)
	}
	database.SetMaxOpenConns(connections)
	database.SetMaxIdleConns(1024)
	return func(ctx context.Context) error { return ask(ctx, database, query) }, nil
}

func ask(ctx context.Context, database *sql.DB, query string) error {
	rows, err := database.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// Redis runs a script on the server at address on at most connections connections; 0 means the client's own limit.
func Redis(address, script string, connections int) Calls {
	client := redis.NewClient(&redis.Options{Addr: address, PoolSize: connections})
	return func(ctx context.Context) error {
		err := client.Eval(ctx, script, nil).Err()
		if err == redis.Nil {
			return nil
		}
		return err
	}
}
