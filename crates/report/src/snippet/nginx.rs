//! Settings of nginx.

use super::values::{Values, comments};

/// The module of rates passes a burst on without a delay, and refuses the rest; that of connections counts those with a request in
/// progress. An empty key is not counted, and the name of a server may be empty, so the port belongs to the key. The limit of
/// connections to an upstream would not do: without a queue, which only the commercial version has, it answers with 502.
pub(super) fn settings(head: &[String], values: &Values) -> String {
    let Values { rate, burst, concurrency, .. } = values;
    let how = [
        "Include this file in the block http { } of the nginx in front of the service.",
        "429 says \"not now\": clients and proxies that retry 502, 503 and 504 leave it alone.",
    ];
    let key = "\"$server_name:$server_port\"";
    format!(
        "{}{}\
         limit_req_zone {key} zone=plimsoll_rate:1m rate={rate}r/s;\n\
         limit_req zone=plimsoll_rate burst={burst} nodelay;\n\
         limit_req_status 429;\n\
         limit_conn_zone {key} zone=plimsoll_concurrency:1m;\n\
         limit_conn plimsoll_concurrency {concurrency};\n\
         limit_conn_status 429;\n",
        comments("#", head),
        comments("#", &how)
    )
}
