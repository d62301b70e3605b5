//! Parser of vegeta's `json` format: one object per line, with the body in base64.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::annotation::{check_name, check_weight};
use super::error::{Fault, Line, RequestsError, at};
use super::text::{Body, RequestText, default_name, is_url};
use crate::suggestion::quoted;

/// One line. `weight` and `name` are extensions of Plimsoll.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonRequest {
    method: String,
    url: String,
    // As in vegeta, `null` means that the field is not given.
    body: Option<String>,
    header: Option<BTreeMap<String, Option<Vec<String>>>>,
    weight: Option<u64>,
    name: Option<String>,
}

pub(super) fn parse<'a>(lines: impl Iterator<Item = Line<'a>>) -> Result<Vec<RequestText>, RequestsError> {
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(number, line)| parse_line(line, number).map_err(at(number))).collect()
}

fn parse_line(line: &str, number: usize) -> Result<RequestText, Fault> {
    let target: JsonRequest = serde_json::from_str(line).map_err(|error| Fault::Json(reason(&error)))?;
    if target.method.is_empty() {
        return Err(Fault::Json("`method` is empty".to_owned()));
    }
    if !is_url(&target.url) {
        return Err(Fault::Url(quoted(&target.url)));
    }
    let name = match target.name {
        Some(name) => check_name(&name)?,
        None => default_name(&target.method, &target.url),
    };
    Ok(RequestText {
        name,
        weight: check_weight(target.weight.unwrap_or(1))?,
        method: target.method,
        url: target.url,
        headers: flatten(target.header.unwrap_or_default()),
        body: decode(&target.body.unwrap_or_default())?,
        line: number,
    })
}

fn flatten(header: BTreeMap<String, Option<Vec<String>>>) -> Vec<(String, String)> {
    let pairs = header.into_iter().map(|(name, values)| (name, values.unwrap_or_default()));
    pairs.flat_map(|(name, values)| values.into_iter().map(move |value| (name.clone(), value))).collect()
}

fn decode(body: &str) -> Result<Body, Fault> {
    if body.is_empty() {
        return Ok(Body::None);
    }
    let bytes = STANDARD.decode(body).map_err(|error| Fault::Base64(error.to_string().to_lowercase()))?;
    Ok(Body::Inline(bytes))
}

/// Returns the JSON parser's message without its position, since its "line 1" would be taken for a line of the file.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let what = text.strip_suffix(place.as_str()).unwrap_or(&text);
    plimsoll_units::escape_control(&format!("{what} at column {}", error.column()))
}
