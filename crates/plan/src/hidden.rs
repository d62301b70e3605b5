//! What documents, and the copies of a team's store, do not show of requests.

/// What the names of headers contain whose values are credentials, in lower case.
const CREDENTIALS: [&str; 8] = ["auth", "cookie", "credential", "key", "passw", "secret", "session", "token"];
/// Replaces the value of such a header, and a body.
pub const HIDDEN: &str = "(hidden)";
/// Replaces a value of a query.
pub const HIDDEN_VALUE: &str = "…";

/// True for a header whose value is a credential: its name tells, or it is among the `redacted` ones.
pub fn is_credential(name: &str, redacted: &[String]) -> bool {
    let lower = name.to_ascii_lowercase();
    CREDENTIALS.iter().any(|part| lower.contains(part))
        || redacted.iter().any(|redacted| redacted.eq_ignore_ascii_case(name))
}

/// A URL or a path whose query has names alone: `/sleep?ms=…`. What has no name is a value, and so
/// is a fragment.
pub fn without_query_values(url: &str) -> String {
    if let Some((url, _)) = url.split_once('#') {
        return format!("{}#{HIDDEN_VALUE}", without_query_values(url));
    }
    let Some((path, query)) = url.split_once('?') else { return url.to_owned() };
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, _)) => format!("{name}={HIDDEN_VALUE}"),
        None if pair.is_empty() => String::new(),
        None => HIDDEN_VALUE.to_owned(),
    };
    format!("{path}?{}", query.split('&').map(pair).collect::<Vec<_>>().join("&"))
}
