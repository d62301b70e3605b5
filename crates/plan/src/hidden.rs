//! The parts of requests that documents, and the copies in a team's store, hide.

/// Parts of header names, in lower case, whose values are credentials.
const CREDENTIALS: [&str; 8] = ["auth", "cookie", "credential", "key", "passw", "secret", "session", "token"];
/// Replaces the value of a hidden header, and a body.
pub const HIDDEN: &str = "(hidden)";
/// Replaces a value in a query.
pub const HIDDEN_VALUE: &str = "…";

/// True for a header whose value is a credential, by its name or because it is in `redacted`.
pub fn is_credential(name: &str, redacted: &[String]) -> bool {
    let lower = name.to_ascii_lowercase();
    CREDENTIALS.iter().any(|part| lower.contains(part))
        || redacted.iter().any(|redacted| redacted.eq_ignore_ascii_case(name))
}

/// Replaces the values in the query of a URL or path: `/sleep?ms=…`. A part without a name counts as a value, and so does a
/// fragment.
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
