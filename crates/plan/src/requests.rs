//! Several requests, the sources of their variables, and the checks of their responses.
//!
//! Texts that hold `${` are templates. They are kept as typed: the code that renders them, before the load, finds errors in
//! them. Only the host must not be a template, because connections are made to it.

use std::collections::HashMap;
use std::path::PathBuf;

use plimsoll_http::Version;
use plimsoll_units::{bytes_text, grouped};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::target::host_end;
use crate::{HostError, PlanError, Target, TargetError};

#[cfg(test)]
mod tests;

/// The text that begins a variable in a template.
const OPENING: &str = "${";

/// The most requests that are counted and timed apart.
const MAX_GROUPS: usize = 64;

/// The most checks of one plan: the failed checks of a response are bits of a `u32`.
const MAX_CHECKS: usize = 32;

/// The most bytes that the requests under way on one connection may take together: a worker counts the bytes that it sends in
/// 32 bits, and encryption adds a little.
const MAX_VOLUME_BYTES: u64 = 1 << 31;
/// An upper bound for the bytes of a request's head in addition to its method, authority, path and headers.
const MAX_ADDED_BYTES: usize = 256;

/// Several requests, with their CSV file and checks, as typed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ScenarioSpec {
    /// The requests of a file; empty if the command's own request is the only one.
    pub requests: Vec<RequestSpec>,
    /// The file that `${csv.column}` takes values from.
    pub csv: Option<CsvFile>,
    /// The checks that every response must pass, as typed.
    pub checks: Vec<String>,
}

/// One request of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestSpec {
    /// The name in reports; requests with the same name are reported together.
    pub name: String,
    /// How often the request is sent compared with the others; at least 1.
    pub weight: u32,
    /// The line of the file in which the request begins.
    pub line: usize,
    pub method: String,
    /// A URL, or a path on the host of the command's URL.
    pub url: String,
    /// The request's headers; a header of the command is added if the request has none of that name.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

/// The order in which requests take the rows of a CSV file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// Each row once before any is used again, over all workers.
    #[default]
    Sequential,
    /// Each row with equal probability.
    Random,
}

/// The CSV file of a plan. Its rows are not part of the plan; equal hashes mean equal rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsvFile {
    pub path: PathBuf,
    pub bytes: u64,
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
    pub order: RowOrder,
}

impl CsvFile {
    /// Describes the file at `path` with the contents `text`.
    pub fn new(path: PathBuf, text: &[u8], order: RowOrder) -> Self {
        Self { path, bytes: text.len() as u64, sha256: hex(&Sha256::digest(text)), order }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Requests of a plan that are counted and timed as one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestGroup {
    /// The name in reports, such as `GET /orders`.
    pub name: String,
}

/// One of several requests, with all headers that are sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MixedRequest {
    /// The index of the request's group in [`Plan::requests`](crate::Plan::requests).
    pub group: u16,
    /// How often the request is sent compared with the others; at least 1.
    pub weight: u32,
    /// The line of the file in which the request begins; 0 for the command's own.
    pub line: usize,
    pub method: String,
    /// Path and query; may be a template.
    pub path: String,
    /// Headers in the order they are sent; a value may be a template.
    pub headers: Vec<(String, String)>,
    /// The body, which may be a template; empty for none.
    pub body: Vec<u8>,
}

impl MixedRequest {
    /// The only request of a plan without a file of requests.
    pub(crate) fn only(target: &Target) -> Self {
        let Target { method, path, headers, body, .. } = target.clone();
        Self { group: 0, weight: 1, line: 0, method, path, headers, body }
    }

    /// True if both send the same with the same weight, wherever they are written.
    pub(crate) fn is_same_request(&self, other: &Self) -> bool {
        let place = |request: &Self| Self { group: 0, line: 0, ..request.clone() };
        place(self) == place(other)
    }

    /// The length in the user's own Content-Length header and the length of the body, if they differ and the body is not a
    /// template. Servers then wait for bytes that never come, or take the rest of the body for another request.
    pub fn misstated_length(&self) -> Option<(u64, u64)> {
        let has_opening = |bytes: &[u8]| bytes.windows(OPENING.len()).any(|part| part == OPENING.as_bytes());
        let stated = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let stated = stated?.1.trim().parse().ok().filter(|_| !has_opening(&self.body))?;
        let own = self.body.len() as u64;
        (stated != own).then_some((stated, own))
    }

    /// This request as a target on the host of `target`.
    fn at(&self, target: &Target) -> Target {
        Target {
            path: self.path.clone(),
            method: self.method.clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
            ..target.clone()
        }
    }
}

/// The requests of a plan: the target with the first request, the groups in which requests are counted, and all requests that
/// are sent if there are several.
pub(crate) type Requests = (Target, Vec<RequestGroup>, Vec<MixedRequest>);

/// The requests of a plan that has only the command's own.
pub(crate) fn only(target: Target, http2: bool) -> Result<Requests, PlanError> {
    check(&target, http2)?;
    let groups = vec![RequestGroup { name: format!("{} {}", target.method, target.path) }];
    Ok((target, groups, Vec::new()))
}

/// The requests of a file. The command's URL may be empty; the command's headers are added to all of them.
pub(crate) fn of_file(
    url: &str,
    headers: &[(String, String)],
    typed: Vec<RequestSpec>,
    http2: bool,
) -> Result<Requests, PlanError> {
    let mut target = shared_by_all(url, &typed)?;
    let (groups, indices) = groups(&typed);
    let request = |(spec, group)| mixed(spec, group, headers);
    let mix: Vec<MixedRequest> = typed.into_iter().zip(indices).map(request).collect();
    for request in &mix {
        let line = request.line;
        check(&request.at(&target), http2).map_err(|source| PlanError::Request { line, source })?;
    }
    if let Some(first) = mix.first() {
        target = first.at(&target);
    }
    Ok((target, groups, mix))
}

fn mixed(spec: RequestSpec, group: u16, common: &[(String, String)]) -> MixedRequest {
    let RequestSpec { weight, line, method, url, mut headers, body, .. } = spec;
    let own = headers.len();
    for (name, value) in common {
        if !headers[..own].iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            headers.push((name.clone(), value.clone()));
        }
    }
    MixedRequest { group, weight, line, method, path: path(&url), headers, body }
}

/// Returns path and query of a URL, without its fragment.
pub(crate) fn path(url: &str) -> String {
    let path = &url[host_end(url)..];
    let path = &path[..path.find('#').unwrap_or(path.len())];
    if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
}

/// Returns a GET of the root of a URL's host.
fn host(url: &str) -> Result<Target, PlanError> {
    let host = &url[..host_end(url)];
    if host.contains(OPENING) {
        return Err(HostError::Variable(url.to_owned()).into());
    }
    Ok(Target::parse(host)?)
}

/// The host of the command's URL, if it is not empty, and of all requests; an error if there are several.
fn shared_by_all(url: &str, typed: &[RequestSpec]) -> Result<Target, PlanError> {
    let mut shared = if url.is_empty() { None } else { Some(host(url)?) };
    for request in typed.iter().filter(|request| !request.url.starts_with('/')) {
        let line = request.line;
        let target = host(&request.url).map_err(|error| match error {
            PlanError::Target(source) => PlanError::Request { line, source },
            other => other,
        })?;
        match &shared {
            None => shared = Some(target),
            Some(known) if origin(known) == origin(&target) => {}
            Some(known) => {
                let (first, other) = (origin(known), origin(&target));
                return Err(HostError::Several { first, other, line }.into());
            }
        }
    }
    Ok(shared.ok_or(HostError::None)?)
}

/// Scheme, host and port: the endpoint that connections are made to.
fn origin(target: &Target) -> String {
    let scheme = target.url.split_once("://").map_or("http", |(scheme, _)| scheme);
    format!("{scheme}://{}", target.authority()).to_ascii_lowercase()
}

/// The command's target; its URL may be a template after the host.
pub(crate) fn target(url: &str) -> Result<Target, PlanError> {
    if Target::is_word(url) {
        return Err(TargetError::Word(url.to_owned()).into());
    }
    if !url.contains(OPENING) {
        return Ok(Target::parse(url)?);
    }
    let mut target = host(url)?;
    target.path = path(url);
    url.clone_into(&mut target.url);
    Ok(target)
}

/// Checks what can be checked before templates are rendered.
fn check(target: &Target, http2: bool) -> Result<(), TargetError> {
    if target.path.contains(OPENING) {
        return check(&Target { path: "/".to_owned(), ..target.clone() }, http2);
    }
    let version = if http2 { Version::Http2 } else { Version::Http1 };
    Ok(target.request().encode(version).map(drop)?)
}

/// The groups, and for each request the index of its group. If there are more names than [`MAX_GROUPS`], the last group
/// collects the remaining ones.
fn groups(typed: &[RequestSpec]) -> (Vec<RequestGroup>, Vec<u16>) {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut names: Vec<&str> = Vec::new();
    let mut place = |name| {
        *known.entry(name).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        })
    };
    let places: Vec<usize> = typed.iter().map(|spec| place(spec.name.as_str())).collect();
    let apart = if names.len() > MAX_GROUPS { MAX_GROUPS - 1 } else { names.len() };
    let mut groups: Vec<RequestGroup> =
        names[..apart].iter().map(|&name| RequestGroup { name: name.to_owned() }).collect();
    if names.len() > apart {
        groups.push(RequestGroup { name: format!("others ({} names)", names.len() - apart) });
    }
    (groups, places.into_iter().map(|place| place.min(apart) as u16).collect())
}

/// Checks that the failed checks of a response fit into their bits.
pub(crate) fn check_number_of_checks(typed: &[String]) -> Result<(), PlanError> {
    match typed.len() {
        ..=MAX_CHECKS => Ok(()),
        count => Err(PlanError::range("the number of checks", count, format!("at most {MAX_CHECKS}"))),
    }
}

fn request_bytes(request: &MixedRequest, authority: &str) -> u64 {
    let fields = request.headers.iter().map(|(name, value)| name.len() + value.len() + ": \r\n".len());
    let head = MAX_ADDED_BYTES + authority.len() + request.method.len() + request.path.len();
    (head + fields.sum::<usize>() + request.body.len()) as u64
}

/// Checks that `depth` of the longest requests together take at most [`MAX_VOLUME_BYTES`].
pub(crate) fn check_volume(requests: &[MixedRequest], authority: &str, depth: u16) -> Result<(), PlanError> {
    let longest = requests.iter().map(|request| request_bytes(request, authority)).max().unwrap_or(0);
    if longest.saturating_mul(depth.into()) <= MAX_VOLUME_BYTES {
        return Ok(());
    }
    let value = format!("{} × {}", grouped(depth.into()), bytes_text(longest as f64));
    let expected =
        "at most 2 GiB together; send less in one request, or fewer at a time with --pipeline or --streams";
    Err(PlanError::range("the length of the requests on a connection", value, expected))
}
