//! A value at a place of a JSON document.

use serde_json::Value;

/// Whether the document is JSON and the value at the pointer is the wanted one.
///
/// What was typed is compared as JSON where it is JSON, and as a string: `=200` holds for `200`, `200.0` and
/// `"200"`, `=bob` for `"bob"`.
pub(super) fn holds(document: &[u8], pointer: &str, text: &str, wanted: Option<&Value>) -> bool {
    let Ok(document) = serde_json::from_slice::<Value>(document) else {
        return false;
    };
    document
        .pointer(pointer)
        .is_some_and(|found| found.as_str() == Some(text) || wanted.is_some_and(|wanted| same(found, wanted)))
}

/// Equality in which 200 and 200.0 are one number; numbers within lists and objects must be written alike.
fn same(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Number(found), Value::Number(wanted)) => {
            found == wanted || (found.is_f64() != wanted.is_f64() && found.as_f64() == wanted.as_f64())
        }
        _ => found == wanted,
    }
}
