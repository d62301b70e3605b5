//! Files that list requests: vegeta's two target formats, and plain lists of URLs.

use error::at;
use text::is_url;

use crate::suggestion::quoted;

mod annotation;
mod error;
mod http_format;
mod json_lines;
#[cfg(test)]
mod tests;
mod text;

pub use error::{Fault, RequestsError};
pub use text::{Body, RequestText};

/// Parses a file of requests. Its first line determines the format.
///
/// # Errors
/// When it contains no request, or a line does not fit the format.
pub fn parse_requests(text: &str) -> Result<Vec<RequestText>, RequestsError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = || text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let (number, first) =
        lines().find(|(_, line)| !line.is_empty() && !line.starts_with('#')).ok_or(RequestsError::Empty)?;
    if first.starts_with('{') {
        json_lines::parse(lines())
    } else if http_format::split_target(first).is_some() {
        http_format::parse(lines(), false)
    } else if is_url(first) || !first.contains(char::is_whitespace) && first.contains("://") {
        http_format::parse(lines(), true)
    } else {
        Err(at(number)(Fault::Format(quoted(first))))
    }
}
