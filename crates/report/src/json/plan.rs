//! The plan as documents show it: without credentials, for a document is passed on where a run file is not.

use serde_json::Value;

/// Headers whose values are credentials, in lower case.
const SECRET: [&str; 5] = ["authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token"];
/// Stands for such a value.
const HIDDEN: &str = "(hidden)";

/// The stored plan with the values of its secret headers hidden; null if it cannot be read.
pub(super) fn shown(stored: &str) -> Value {
    let mut plan: Value = serde_json::from_str(stored).unwrap_or(Value::Null);
    if let Some(target) = plan.get_mut("target") {
        hide_of(target);
    }
    plan.get_mut("mix").and_then(Value::as_array_mut).into_iter().flatten().for_each(hide_of);
    plan
}

/// Hides the values of a request's secret headers.
fn hide_of(request: &mut Value) {
    let headers = request.get_mut("headers").and_then(Value::as_array_mut);
    headers.into_iter().flatten().filter_map(Value::as_array_mut).for_each(|header| hide(header));
}

/// Hides the value of a pair of name and value if the name calls for it.
fn hide(header: &mut [Value]) {
    if let [Value::String(name), value] = header
        && SECRET.contains(&name.to_ascii_lowercase().as_str())
    {
        *value = Value::from(HIDDEN);
    }
}
