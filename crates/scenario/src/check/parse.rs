//! Reads checks as they are typed.

use regex::bytes::Regex;

use super::json::JsonMatch;
use super::pattern::{StatusPattern, TextMatch, parse_sizes};
use super::{Check, CheckError, Kind};
use crate::suggestion::quoted;

impl Check {
    /// Reads one check: `status=200`, `status=2xx`, `body=TEXT`, `body~REGEX`, `json:/code=200`, `size<10k`,
    /// `header:Name=TEXT` or `header:Name~REGEX`.
    ///
    /// # Errors
    /// When it has none of these forms, or what stands in it is no status, size, pointer or expression.
    pub fn parse(text: &str) -> Result<Self, CheckError> {
        let text = text.trim();
        let form = || CheckError::Form(quoted(text));
        let kind = if let Some(rest) = text.strip_prefix("status=") {
            Kind::Status(parse_statuses(rest)?)
        } else if let Some(rest) = text.strip_prefix("json:") {
            parse_json(rest).ok_or_else(form)??
        } else if let Some(rest) = text.strip_prefix("header:") {
            parse_header(rest).ok_or_else(form)??
        } else if let Some(rest) = text.strip_prefix("body") {
            Kind::Body(parse_match(rest).ok_or_else(form)??)
        } else if let Some(rest) = text.strip_prefix("size").filter(|rest| rest.starts_with(['<', '>', '=']))
        {
            Kind::Size(parse_sizes(rest).ok_or_else(|| CheckError::Size(quoted(rest)))?)
        } else {
            return Err(form());
        };
        Ok(Self { typed: text.to_owned(), kind })
    }
}

fn parse_statuses(text: &str) -> Result<Vec<StatusPattern>, CheckError> {
    let error = |part: &str| CheckError::Status(quoted(part));
    text.split(',').map(|part| StatusPattern::parse(part.trim()).ok_or_else(|| error(part))).collect()
}

/// Reads `=TEXT` or `~REGEX`; none when it begins with neither.
fn parse_match(text: &str) -> Option<Result<TextMatch, CheckError>> {
    if let Some(expected) = text.strip_prefix('=') {
        return Some(Ok(TextMatch::Is(expected.to_owned())));
    }
    let pattern = text.strip_prefix('~')?;
    Some(Regex::new(pattern).map(TextMatch::Finds).map_err(|error| CheckError::Regex {
        pattern: quoted(pattern),
        reason: quoted(last_line(&error.to_string())),
    }))
}

/// The expression's error is a drawing of several lines, of which the last says what is wrong.
fn last_line(text: &str) -> &str {
    let line = text.lines().next_back().unwrap_or(text).trim();
    line.strip_prefix("error: ").unwrap_or(line)
}

fn parse_header(text: &str) -> Option<Result<Kind, CheckError>> {
    let (name, value) = text.split_at(text.find(['=', '~'])?);
    let name = name.trim();
    if name.is_empty() || name.contains(|c: char| !c.is_ascii_graphic() || c == ':') {
        return Some(Err(CheckError::HeaderName(quoted(name))));
    }
    Some(parse_match(value)?.map(|value| Kind::Header { name: name.to_owned(), value }))
}

/// The pointer ends at the first `=`, so a key that holds one cannot be pointed at.
fn parse_json(text: &str) -> Option<Result<Kind, CheckError>> {
    let (pointer, text) = text.split_once('=')?;
    let json = JsonMatch::parse(pointer, text).map(Kind::Json);
    Some(json.ok_or_else(|| CheckError::Pointer(quoted(pointer))))
}
