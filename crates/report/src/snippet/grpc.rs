//! A limiter of a gRPC server.

use super::values::{Values, comments};

/// gRPC's own limit of concurrent streams applies to each connection, and calls beyond it wait in the client without a
/// limit. So all connections together get their own limit. A call takes its slot before its token, so that a call without
/// a slot takes no token.
pub(super) fn settings(head: &[String], values: &Values) -> String {
    let Values { rate, burst, concurrency, .. } = values;
    let how = [
        format!(
            "Let in: {rate} calls/s, {burst} at once, {concurrency} at a time; a stream is one call as long as it is open."
        ),
        "The rest gets RESOURCE_EXHAUSTED at once.".to_owned(),
        "A file of Go for the server: grpc.NewServer(plimsollLimits()...).".to_owned(),
        "Clients that retry need a budget, too, in their service config:".to_owned(),
        r#"{"retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}}"#.to_owned(),
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

// plimsollLimits refuses calls and streams beyond what the service holds with RESOURCE_EXHAUSTED.
func plimsollLimits() []grpc.ServerOption {{
\tlimiter := rate.NewLimiter({rate}, {burst})
\tslots := make(chan struct{{}}, {concurrency})
\tenter := func() error {{
\t\tselect {{
\t\tcase slots <- struct{{}}{{}}:
\t\tdefault:
\t\t\treturn status.Error(codes.ResourceExhausted, \"more calls at a time than the service holds\")
\t\t}}
\t\tif !limiter.Allow() {{
\t\t\t<-slots
\t\t\treturn status.Error(codes.ResourceExhausted, \"more calls a second than the service holds\")
\t\t}}
\t\treturn nil
\t}}
\tunary := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {{
\t\tif err := enter(); err != nil {{
\t\t\treturn nil, err
\t\t}}
\t\tdefer func() {{ <-slots }}()
\t\treturn next(ctx, request)
\t}}
\tstream := func(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {{
\t\tif err := enter(); err != nil {{
\t\t\treturn err
\t\t}}
\t\tdefer func() {{ <-slots }}()
\t\treturn next(server, stream)
\t}}
\treturn []grpc.ServerOption{{grpc.ChainUnaryInterceptor(unary), grpc.ChainStreamInterceptor(stream)}}
}}
",
        comments("//", head),
        comments("//", &how)
    )
}
