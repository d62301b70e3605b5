package main

import (
	"context"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"
)

// rows asks PostgreSQL for a sum over many rows: rows LISTEN HOST CONNECTIONS ROWS
func rows(arguments []string) {
	config := must(pgxpool.ParseConfig("host=" + arguments[0] + " user=postgres dbname=postgres sslmode=disable"))
	config.MaxConns = int32(must(strconv.Atoi(arguments[1])))
	pool := must(pgxpool.NewWithConfig(context.Background(), config))
	query := "SELECT sum(number) FROM generate_series(1, " + arguments[2] + ") AS number"
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		var sum int64
		reply(w, pool.QueryRow(r.Context(), query).Scan(&sum))
	})
}
