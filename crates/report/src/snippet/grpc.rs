//! A limiter of a gRPC server.

use super::values::{Values, comments};

/// gRPC's own limit of concurrent streams holds for each connection, so that all of them together need a limit of their own.
pub(super) fn settings(head: &[String], values: &Values) -> String {
    let Values { rate, burst, concurrency, .. } = values;
    let how = [
        "A file of Go for the server: grpc.NewServer(plimsollLimits()...).",
        "Clients that retry need a budget, too, in their service config:",
        r#"{"retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}"#,
    ];
    format!(
        "{}{}package main

import (
\t\"context\"

\t\"golang.org/x/time/rate\"
\t\"google.golang.org/grpc\"
\t\"google.golang.org/grpc/codes\"
\t\"google.golang.org/grpc/status\"
)

// plimsollLimits refuses calls beyond what the service holds with RESOURCE_EXHAUSTED.
func plimsollLimits() []grpc.ServerOption {{
\tlimiter := rate.NewLimiter({rate}, {burst})
\tslots := make(chan struct{{}}, {concurrency})
\tlimit := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {{
\t\tif !limiter.Allow() {{
\t\t\treturn nil, status.Error(codes.ResourceExhausted, \"more calls a second than the service holds\")
\t\t}}
\t\tselect {{
\t\tcase slots <- struct{{}}{{}}:
\t\t\tdefer func() {{ <-slots }}()
\t\t\treturn next(ctx, request)
\t\tdefault:
\t\t\treturn nil, status.Error(codes.ResourceExhausted, \"more calls at a time than the service holds\")
\t\t}}
\t}}
\treturn []grpc.ServerOption{{grpc.MaxConcurrentStreams({concurrency}), grpc.ChainUnaryInterceptor(limit)}}
}}
",
        comments("//", head),
        comments("//", &how)
    )
}
