//! The part of a plan file about the request.

use super::PlanFileError;
use super::section::Section;

const KEYS: [&str; 4] = ["url", "method", "headers", "body"];

fn target<'s, 'a>(file: &Section<'s, 'a>) -> Result<Section<'s, 'a>, PlanFileError> {
    let why = "it says what to send the load to, as in url = \"http://web/\"";
    file.section("target", &KEYS)?.ok_or_else(|| file.missing("target.url", why))
}

/// The URL.
pub(super) fn url(file: &Section<'_, '_>) -> Result<String, PlanFileError> {
    target(file)?.needed("url")?.string()
}

pub(super) fn method(file: &Section<'_, '_>) -> Result<Option<String>, PlanFileError> {
    target(file)?.get("method").map(|method| method.string()).transpose()
}

pub(super) fn body(file: &Section<'_, '_>) -> Result<Option<Vec<u8>>, PlanFileError> {
    target(file)?.get("body").map(|body| body.string().map(String::into_bytes)).transpose()
}

/// The headers with their values, in the order of their names: a table of TOML has no other.
fn pairs(file: &Section<'_, '_>) -> Result<Vec<(String, String)>, PlanFileError> {
    let target = target(file)?;
    let Some(entry) = target.get("headers") else { return Ok(Vec::new()) };
    let toml::de::DeValue::Table(table) = entry.value else {
        return Err(entry.wrong("a table such as { \"Content-Type\" = \"application/json\" }"));
    };
    let names: Vec<&str> = table.keys().map(|name| name.get_ref().as_ref()).collect();
    let headers = entry.section(&names)?;
    let pair = |name: &&str| Ok(((*name).to_owned(), headers.needed(name)?.string()?));
    names.iter().map(pair).collect()
}

/// The headers as they are typed on the command line.
pub(super) fn headers(file: &Section<'_, '_>) -> Result<Vec<String>, PlanFileError> {
    Ok(pairs(file)?.into_iter().map(|(name, value)| format!("{name}: {value}")).collect())
}

/// Whether a connection serves more than one request: not if a header asks to close it.
pub(super) fn keeps_alive(file: &Section<'_, '_>) -> Result<bool, PlanFileError> {
    let closes = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("Connection") && value.trim().eq_ignore_ascii_case("close")
    };
    Ok(!pairs(file)?.iter().any(closes))
}
