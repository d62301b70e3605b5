//! Parser of vegeta's `http` format: `METHOD URL`, header lines, `@/path/to/body`, and an empty line between requests; and of plain
//! lists of URLs or paths, each a GET.

use super::annotation::Waiting;
use super::error::{Fault, Line, RequestsError, at};
use super::text::{Body, RequestText, is_url};
use crate::suggestion::quoted;

/// Parses the whole file. `urls` means a plain list of URLs.
pub(super) fn parse<'a>(
    lines: impl Iterator<Item = Line<'a>>,
    urls: bool,
) -> Result<Vec<RequestText>, RequestsError> {
    let mut reading = Reading { urls, ..Reading::default() };
    for (number, line) in lines {
        reading.line((number, line))?;
    }
    reading.waiting.finish()?;
    Ok(reading.requests)
}

/// Splits a line that begins a request into method and URL. As in vegeta, the method must be in capitals.
pub(super) fn split_target(line: &str) -> Option<(&str, &str)> {
    let (method, url) = line.split_once(char::is_whitespace)?;
    method.bytes().all(|byte| byte.is_ascii_uppercase()).then_some((method, url.trim()))
}

#[derive(Default)]
struct Reading {
    urls: bool,
    requests: Vec<RequestText>,
    /// Whether the last request may still get headers or a body.
    open: bool,
    waiting: Waiting,
}

impl Reading {
    fn line(&mut self, (number, line): Line<'_>) -> Result<(), RequestsError> {
        if line.is_empty() {
            self.open = false;
            return Ok(());
        }
        if line.starts_with('#') {
            return self.waiting.read((number, line));
        }
        let within = self.requests.last_mut().filter(|_| self.open);
        let target = if self.urls { Some(("GET", line)) } else { split_target(line) };
        match (target, within) {
            (Some((method, target)), _) if is_url(target) => {
                self.requests.push(RequestText::begin(method, target, number, &mut self.waiting));
                self.open = !self.urls;
                Ok(())
            }
            (Some((_, target)), None) => Err(at(number)(Fault::Url(quoted(target)))),
            (None, None) => Err(at(number)(Fault::Target(quoted(line)))),
            (_, Some(request)) => {
                self.open = add_line(request, line).map_err(at(number))?;
                Ok(())
            }
        }
    }
}

/// Adds a header or the body. Returns whether more lines may follow; after the body none may.
fn add_line(request: &mut RequestText, line: &str) -> Result<bool, Fault> {
    match line.strip_prefix('@').map(str::trim) {
        Some("") => Err(Fault::BodyFile),
        Some(path) => {
            request.body = Body::File(path.into());
            Ok(false)
        }
        None => {
            request.headers.push(split_header(line).ok_or_else(|| Fault::Header(quoted(line)))?);
            Ok(true)
        }
    }
}

fn split_header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    let named = !name.is_empty() && !name.contains(char::is_whitespace);
    named.then(|| (name.to_owned(), value.to_owned()))
}
