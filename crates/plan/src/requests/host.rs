//! From URLs that may be templates to the one host they name, and their paths.

use super::spec::{OPENING, RequestSpec};
use crate::{Target, TargetError};

/// Requests that cannot be sent to one host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Two hosts.
    #[error(
        "the requests go to several hosts, {first} and {other} (line {line}); one run loads one host: write the \
         requests of the others into another file"
    )]
    Several {
        /// The host of the command's URL, or of the first request that names one.
        first: String,
        /// Another one.
        other: String,
        /// The line of the file in which that request begins.
        line: usize,
    },
    /// No host.
    #[error("no request names its host; give a URL with the file, such as http://127.0.0.1:8080")]
    None,
    /// A host that is not always the same.
    #[error(
        "`{0}` has a variable in its host; only ${{env.NAME}} may stand there, as one run loads one host"
    )]
    Variable(String),
    /// The command's URL cannot be read.
    #[error(transparent)]
    Url(#[from] TargetError),
    /// A URL of a request cannot be read.
    #[error("line {line} of the requests: {source}")]
    Request {
        /// The line of the file in which that request begins.
        line: usize,
        /// What is wrong with it.
        source: TargetError,
    },
}

/// Where the host of a URL ends: at the path, query or fragment. Nothing of a path alone is a host.
fn host_end(url: &str) -> usize {
    let ends = ['/', '?', '#'];
    let start =
        url.find("://").filter(|at| url.find(ends).is_none_or(|end| *at < end)).map_or(0, |at| at + 3);
    url[start..].find(ends).map_or(url.len(), |end| start + end)
}

/// Path and query of a URL, without its fragment.
pub(crate) fn path(url: &str) -> String {
    let path = &url[host_end(url)..];
    let path = &path[..path.find('#').unwrap_or(path.len())];
    if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
}

/// The host of a URL: a GET of its root.
pub(super) fn parse(url: &str) -> Result<Target, HostError> {
    let host = &url[..host_end(url)];
    if host.contains(OPENING) {
        return Err(HostError::Variable(url.to_owned()));
    }
    Ok(Target::parse(host)?)
}

/// The one host of the command's URL, if there is one, and of all requests.
pub(super) fn shared_by_all(url: &str, typed: &[RequestSpec]) -> Result<Target, HostError> {
    let mut shared = if url.is_empty() { None } else { Some(parse(url)?) };
    for request in typed.iter().filter(|request| !request.url.starts_with('/')) {
        let line = request.line;
        let target = parse(&request.url).map_err(|error| match error {
            HostError::Url(source) => HostError::Request { line, source },
            other => other,
        })?;
        match &shared {
            None => shared = Some(target),
            Some(known) if origin(known) == origin(&target) => {}
            Some(known) => {
                let (first, other) = (origin(known), origin(&target));
                return Err(HostError::Several { first, other, line });
            }
        }
    }
    shared.ok_or(HostError::None)
}

/// Scheme, host and port: what a connection is made to.
fn origin(target: &Target) -> String {
    let scheme = target.url.split_once("://").map_or("http", |(scheme, _)| scheme);
    format!("{scheme}://{}", target.authority()).to_ascii_lowercase()
}
