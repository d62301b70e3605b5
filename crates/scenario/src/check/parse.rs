//! Parses checks as they are typed.

use std::ops::RangeInclusive;

use regex::bytes::Regex;

use super::json::JsonMatch;
use super::{Check, CheckError, Kind, TextMatch};
use crate::suggestion::quoted;

impl Check {
    /// Parses one check: `status=200`, `status=2xx`, `body=TEXT`, `body~REGEX`, `json:/code=200`, `size<10k`,
    /// `header:Name=TEXT` or `header:Name~REGEX`.
    ///
    /// # Errors
    /// When the text has none of these forms, or contains an invalid status, size, pointer or expression.
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

fn parse_statuses(text: &str) -> Result<Vec<RangeInclusive<u16>>, CheckError> {
    let error = |part: &str| CheckError::Status(quoted(part));
    text.split(',').map(|part| parse_status(part.trim()).ok_or_else(|| error(part))).collect()
}

/// Parses one status, or a class such as `2xx`.
fn parse_status(text: &str) -> Option<RangeInclusive<u16>> {
    let class = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX"));
    let range = match class {
        Some(class) => {
            let class: u16 = class.parse().ok().filter(|class| (1..=5).contains(class))?;
            100 * class..=100 * class + 99
        }
        None => {
            let code = text.parse().ok().filter(|code| (100..=599).contains(code))?;
            code..=code
        }
    };
    (text.len() == 3).then_some(range)
}

/// Parses the accepted lengths of a body, in bytes: `<10k`, `<=10k`, `>0`, `>=1.5M` or `=512`. Returns `None` without a comparison or
/// a size.
fn parse_sizes(text: &str) -> Option<RangeInclusive<u64>> {
    let sign_len = text.find(|c| !matches!(c, '<' | '>' | '='))?;
    let (sign, size) = text.split_at(sign_len);
    let size = size.trim();
    let size = plimsoll_units::parse_count(size.strip_suffix('B').unwrap_or(size)).ok()?;
    Some(match sign {
        // No body is shorter than 0 bytes, so `<0` is rejected.
        "<" => 0..=size.checked_sub(1)?,
        "<=" => 0..=size,
        ">" => size + 1..=u64::MAX,
        ">=" => size..=u64::MAX,
        "=" => size..=size,
        _ => return None,
    })
}

/// Parses `=TEXT` or `~REGEX`; `None` if the text begins with neither.
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

/// Returns the last line of a regular expression's error: the error is a drawing of several lines, and the last one states the problem.
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
    let value = match value.strip_prefix('=') {
        // A field's value neither begins nor ends with white space (RFC 9110, section 5.5).
        Some(expected) => Ok(TextMatch::Is(expected.trim().to_owned())),
        None => parse_match(value)?,
    };
    Some(value.map(|value| Kind::Header { name: name.to_owned(), value }))
}

/// Parses a JSON pointer and its value. The pointer ends at the first `=`, so keys that contain one are not supported.
fn parse_json(text: &str) -> Option<Result<Kind, CheckError>> {
    let (pointer, text) = text.split_once('=')?;
    let json = JsonMatch::parse(pointer, text).map(Kind::Json);
    Some(json.ok_or_else(|| CheckError::Pointer(quoted(pointer))))
}
