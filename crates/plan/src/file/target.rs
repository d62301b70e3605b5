//! The part of a plan file about the request, and what is spoken on the way to the target.

use super::error::PlanFileError;
use super::request::Several;
use super::section::Section;
use crate::{TlsSpec, TransportSpec};

const KEYS: [&str; 8] = ["url", "method", "headers", "body", "requests", "http2", "insecure", "cacert"];

/// What the load is sent to, and how.
pub(super) struct Target {
    /// The URL; empty if it is left to the requests.
    pub(super) url: String,
    pub(super) method: Option<String>,
    /// The headers as they are typed on the command line.
    pub(super) headers: Vec<String>,
    pub(super) body: Option<Vec<u8>>,
    /// Whether a connection serves more than one request: not if a header asks to close it.
    pub(super) keeps_alive: bool,
    pub(super) transport: TransportSpec,
    pub(super) several: Several,
}

pub(super) fn target(file: &Section<'_, '_>) -> Result<Target, PlanFileError> {
    let Some(target) = file.section("target", &KEYS)? else { return Err(no_url(file, "target.url")) };
    let several = Several::read(file, &target)?;
    let url = match target.get("url") {
        Some(url) => url.string()?,
        None if several.is_empty() => return Err(no_url(&target, "url")),
        None => String::new(),
    };
    let headers = target.pairs("headers")?;
    let closes = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("Connection") && value.trim().eq_ignore_ascii_case("close")
    };
    let keeps_alive = !headers.iter().any(closes);
    let plain =
        several.own.iter().map(|request| &request.url).chain([&url]).any(|url| url.starts_with("http://"));
    Ok(Target {
        method: target.get("method").map(|method| method.string()).transpose()?,
        body: target.get("body").map(|body| body.string().map(String::into_bytes)).transpose()?,
        headers: headers.into_iter().map(|(name, value)| format!("{name}: {value}")).collect(),
        keeps_alive,
        transport: transport(&target, plain, keeps_alive)?,
        url,
        several,
    })
}

fn no_url(section: &Section<'_, '_>, key: &str) -> PlanFileError {
    section.missing(key, "it says what to send the load to, as in url = \"http://web/\"")
}

/// HTTP/2 and TLS. Keys that conflict are reported here by their names, and not later by the flags of the command line.
fn transport(
    target: &Section<'_, '_>,
    plain: bool,
    keeps_alive: bool,
) -> Result<TransportSpec, PlanFileError> {
    let switch =
        |key: &str| target.get(key).map(|on| on.boolean()).transpose().map(Option::unwrap_or_default);
    let (http2, insecure) = (switch("http2")?, switch("insecure")?);
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
