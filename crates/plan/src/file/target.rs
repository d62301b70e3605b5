//! The parts of a plan file about the requests and the protocol.

use std::path::PathBuf;

use plimsoll_http::asks_to_close;

use super::entry::Entry;
use super::error::{PlanFileError, Result};
use super::section::Section;
use crate::{PlanSpec, RequestSpec, TlsSpec, TransportSpec};

/// Fills in the target, requests and protocol. Returns the file of requests, if the plan file names one.
pub(super) fn target(file: &Section<'_>, spec: &mut PlanSpec) -> Result<Option<PathBuf>> {
    let keys =
        ["url", "method", "headers", "body", "requests", "http2", "insecure", "cacert", "redact", "trace"];
    let Some(target) = file.section("target", &keys)? else { return Err(no_url(file, "target.url")) };
    let requests_file = requests(file, &target, &mut spec.scenario.requests)?;
    spec.url = match target.read("url", Entry::string)? {
        Some(url) => url,
        None if spec.scenario.requests.is_empty() && requests_file.is_none() => {
            return Err(no_url(&target, "url"));
        }
        // The requests of the file name the host.
        None => String::new(),
    };
    for (name, value) in target.pairs("headers")? {
        if name.eq_ignore_ascii_case("Connection") && asks_to_close(value.as_bytes()) {
            spec.network.keep_alive = false;
        }
        spec.headers.push(format!("{name}: {value}"));
    }
    spec.trace = target.read("trace", Entry::ratio)?;
    if let Some(names) = target.get("redact") {
        spec.redact = names.one_or_more()?.iter().map(Entry::one_line).collect::<Result<_>>()?;
    }
    spec.method = target.read("method", Entry::string)?;
    spec.body = target.read("body", Entry::string)?.map(String::into_bytes);
    let mut urls = spec.scenario.requests.iter().map(|request| &request.url).chain([&spec.url]);
    let plain = urls.any(|url| url.starts_with("http://"));
    spec.transport = transport(&target, plain, spec.network.keep_alive)?;
    Ok(requests_file)
}

fn no_url(section: &Section<'_>, key: &str) -> PlanFileError {
    section.missing(key, "it says what to send the load to, as in url = \"http://web/\"")
}

/// Reads several requests from the tables of the plan file, or returns the file that holds them. At most one of the two may be
/// given, and neither together with the method or body of a single request.
fn requests(file: &Section<'_>, target: &Section<'_>, own: &mut Vec<RequestSpec>) -> Result<Option<PathBuf>> {
    let named = target.get("requests");
    let tables = file.get("request");
    let Some(given) = named.as_ref().or(tables.as_ref()) else { return Ok(None) };
    if let (Some(named), Some(tables)) = (&named, &tables) {
        return Err(named.conflicting(tables));
    }
    // Method and body belong to a single request.
    if let Some(single) = ["method", "body"].into_iter().find_map(|key| target.get(key)) {
        return Err(single.conflicting(given));
    }
    let sections = file.sections("request", &["name", "weight", "method", "url", "headers", "body"])?;
    if let (Some(tables), true) = (&tables, sections.is_empty()) {
        return Err(tables.wrong("at least one table"));
    }
    *own = sections.iter().map(request).collect::<Result<_>>()?;
    named.map(|named| named.string().map(PathBuf::from)).transpose()
}

fn request(section: &Section<'_>) -> Result<RequestSpec> {
    let entry = section.needed("url")?;
    let url = entry.string()?;
    if !["/", "http://", "https://"].iter().any(|begin| url.starts_with(begin)) {
        return Err(entry.wrong("a path such as \"/orders\", or a URL that begins with http:// or https://"));
    }
    let body = section.read("body", Entry::string)?.map(String::into_bytes);
    let otherwise = if body.is_some() { "POST" } else { "GET" };
    let method = section.read("method", Entry::string)?.unwrap_or_else(|| otherwise.to_owned());
    let path = crate::requests::path(&url);
    let plain = format!("{method} {}", path.split('?').next().unwrap_or_default());
    let weight = |entry: &Entry<'_>| entry.count_up_to(u32::MAX.into(), "a weight of at most 4294967295");
    Ok(RequestSpec {
        name: section.read("name", Entry::string)?.unwrap_or(plain),
        weight: section.read("weight", weight)?.unwrap_or(1),
        line: section.line,
        method,
        url,
        headers: section.pairs("headers")?,
        body: body.unwrap_or_default(),
    })
}

/// Reads HTTP/2 and TLS options. Conflicts are checked here to report the keys of the file; freezing would report flags.
fn transport(target: &Section<'_>, plain: bool, keeps_alive: bool) -> Result<TransportSpec> {
    let http2 = target.read("http2", Entry::boolean)?.unwrap_or_default();
    let insecure = target.read("insecure", Entry::boolean)?.unwrap_or_default();
    let cacert = target.get("cacert");
    let path = cacert.as_ref().map(|path| path.string().map(Into::into)).transpose()?;
    if let Some(http2) = target.get("http2").filter(|_| http2 && !keeps_alive) {
        return Err(
            http2.wrong("left out, because of the header `Connection: close`, which HTTP/2 does not have")
        );
    }
    let insecure_key = target.get("insecure").filter(|_| insecure);
    if let (Some(insecure), Some(cacert)) = (&insecure_key, &cacert) {
        return Err(insecure.conflicting(cacert));
    }
    if let Some(of_tls) = insecure_key.or(cacert).filter(|_| plain) {
        return Err(
            of_tls.wrong("left out where the URL begins with http://, or the URL must begin with https://")
        );
    }
    let tls = TlsSpec { cacert: path, insecure, ..TlsSpec::default() };
    Ok(TransportSpec { http2, streams: None, tls })
}
