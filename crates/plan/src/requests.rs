//! Several requests, what their variables stand for, and what their answers must be.
//!
//! Texts that hold `${` are templates. They are kept as typed: what is wrong with one is found by those who render
//! it, before the load. Only what makes up a connection, the host, has to be plain here.

use std::collections::HashMap;

use plimsoll_http::Version;
use serde::{Deserialize, Serialize};

use crate::Target;
use crate::error::PlanError;
use crate::target::TargetError;
use spec::OPENING;

mod host;
mod spec;
#[cfg(test)]
mod tests;

pub use host::HostError;
pub(crate) use host::path;
pub(crate) use spec::hex;
pub use spec::{CsvFile, RequestSpec, RowOrder, ScenarioSpec};

/// The most requests that are counted and timed apart.
const MAX_GROUPS: usize = 64;

/// The most checks of one plan: a response's failed ones are the bits of 32.
const MAX_CHECKS: usize = 32;

/// Requests of a plan that are counted and timed together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestGroup {
    /// What reports call it, such as `GET /orders`.
    pub name: String,
}

/// One of several requests, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MixedRequest {
    /// The index of its group among the plan's requests.
    pub group: u16,
    /// How often it is sent compared with the others; at least 1.
    pub weight: u32,
    /// The line of the file that it begins in; 0 for the command's own.
    pub line: usize,
    pub method: String,
    /// Path and query, perhaps a template.
    pub path: String,
    /// Headers in the order they are sent; a value may be a template.
    pub headers: Vec<(String, String)>,
    /// The body, perhaps a template; empty for none.
    pub body: Vec<u8>,
}

impl MixedRequest {
    /// The one request of a plan without a file of them.
    pub(crate) fn only(target: &Target) -> Self {
        let Target { method, path, headers, body, .. } = target.clone();
        Self { group: 0, weight: 1, line: 0, method, path, headers, body }
    }

    /// A length that the user's own header states of a body that is the same each time, and the body's own, if they differ:
    /// servers wait for what does not come, or take the rest of the body for another request.
    #[must_use]
    pub fn misstated_length(&self) -> Option<(u64, u64)> {
        let has_opening = |bytes: &[u8]| bytes.windows(OPENING.len()).any(|part| part == OPENING.as_bytes());
        let stated = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let stated = stated?.1.trim().parse().ok().filter(|_| !has_opening(&self.body))?;
        let own = self.body.len() as u64;
        (stated != own).then_some((stated, own))
    }

    /// This request, if it is to go to the host of `target`.
    pub fn at(&self, target: &Target) -> Target {
        Target {
            path: self.path.clone(),
            method: self.method.clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
            ..target.clone()
        }
    }
}

/// The requests of a plan: who gets them, what is reported, and what is sent.
#[derive(Debug)]
pub(crate) struct Requests {
    /// The host, with the first of the requests.
    pub(crate) target: Target,
    pub(crate) groups: Vec<RequestGroup>,
    /// Several requests; none if the target's is the only one.
    pub(crate) mix: Vec<MixedRequest>,
}

impl Requests {
    /// The command's own request alone.
    pub(crate) fn only(target: Target, http2: bool) -> Result<Self, PlanError> {
        check(&target, http2)?;
        let groups = vec![RequestGroup { name: format!("{} {}", target.method, target.path) }];
        Ok(Self { target, groups, mix: Vec::new() })
    }

    /// The requests of a file. The command's URL may be empty; its headers go to all of them.
    pub(crate) fn from_file(
        url: &str,
        headers: &[(String, String)],
        (typed, http2): (Vec<RequestSpec>, bool),
    ) -> Result<Self, PlanError> {
        let mut target = host::shared_by_all(url, &typed)?;
        let (groups, indices) = groups(&typed);
        let request = |(spec, group)| mixed(spec, group, headers);
        let mix: Vec<MixedRequest> = typed.into_iter().zip(indices).map(request).collect();
        for request in &mix {
            check(&request.at(&target), http2)
                .map_err(|source| PlanError::Request { line: request.line, source })?;
        }
        if let Some(first) = mix.first() {
            target = first.at(&target);
        }
        Ok(Self { target, groups, mix })
    }
}

fn mixed(spec: RequestSpec, group: u16, common: &[(String, String)]) -> MixedRequest {
    let RequestSpec { weight, line, method, url, mut headers, body, .. } = spec;
    let own = headers.len();
    for (name, value) in common {
        if !headers[..own].iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            headers.push((name.clone(), value.clone()));
        }
    }
    MixedRequest { group, weight, line, method, path: host::path(&url), headers, body }
}

/// The command's target, whose URL may be a template behind the host.
pub(crate) fn target(url: &str) -> Result<Target, PlanError> {
    if !url.contains(OPENING) {
        return Ok(Target::parse(url)?);
    }
    let mut target = host::parse(url)?;
    target.path = host::path(url);
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

/// The groups, and for each request the index of its own. The names beyond the most share the last.
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

/// Checks that the failed checks of a response fit into its bits.
pub(crate) fn checks(typed: Vec<String>) -> Result<Vec<String>, PlanError> {
    if typed.len() <= MAX_CHECKS {
        return Ok(typed);
    }
    let expected = format!("at most {MAX_CHECKS}");
    Err(PlanError::Range { what: "the number of checks", value: typed.len().to_string(), expected })
}
