//! Settings of nginx.

use super::values::{Values, comments};

/// Below this rate the setting is in requests per minute, because nginx accepts only whole numbers.
const MIN_PER_SECOND: f64 = 100.0;

/// The highest limit of connections that nginx accepts.
const MAX_CONNECTIONS: u64 = 65_535;
/// The rate module counts in whole milliseconds: a burst of less than a few refuses much of the rate itself.
const MIN_BURST_SEC: f64 = 0.005;

/// The rate module is a bucket that fills with time: with `nodelay` it passes a burst on without a delay, and refuses the
/// rest (nginx, *ngx_http_limit_req_module*). The connection module counts connections with a request in progress. An
/// empty key is not counted, and the server name may be empty, so the key is more than that name. The port is no part of
/// the key, because a server that listens on two ports would admit twice as much. The limit of connections to an upstream
/// is unsuitable: without a queue, which only the commercial version has, it answers with 502.
pub(super) fn settings(head: &[String], values: &Values) -> String {
    let Values { rate, burst, concurrency, .. } = values;
    let concurrency = (*concurrency).min(MAX_CONNECTIONS);
    let burst = (*burst).max((rate * MIN_BURST_SEC).ceil() as u64);
    let limit = if *rate >= MIN_PER_SECOND {
        format!("{rate:.0}r/s")
    } else {
        format!("{:.0}r/m", (rate * 60.0).round())
    };
    let how = [
        format!("Let in: {rate} requests/s, bursts of {burst} beyond an even flow, {concurrency} at a time."),
        "The rest gets 429 at once. Each server_name counts for itself, over all ports and workers: two in front of one service let"
            .to_owned(),
        "in twice as much. A server or location with a limit_req or limit_conn of its own does not inherit these.".to_owned(),
        "Include this file in the block http { } of the nginx in front of the service.".to_owned(),
        "429 says \"not now\": clients and proxies that retry 502, 503 and 504 leave it alone.".to_owned(),
    ];
    let key = "\"plimsoll:$server_name\"";
    format!(
        "{}{}\
         limit_req_zone {key} zone=plimsoll_rate:1m rate={limit};\n\
         limit_req zone=plimsoll_rate burst={burst} nodelay;\n\
         limit_req_status 429;\n\
         limit_conn_zone {key} zone=plimsoll_concurrency:1m;\n\
         limit_conn plimsoll_concurrency {concurrency};\n\
         limit_conn_status 429;\n",
        comments("#", head),
        comments("#", &how)
    )
}
