//! One request as its file states it.

use std::path::PathBuf;

use super::annotation::Waiting;

/// What a request's body is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    None,
    Inline(Vec<u8>),
    /// The contents of a file, which the caller reads; a relative path is relative to the current folder.
    File(PathBuf),
}

/// One request as the file states it; its variables are not parsed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestText {
    /// The request's name in reports: as given, or method and path without the query. Requests of one name are
    /// reported together.
    pub name: String,
    /// How often it is sent compared with the others; at least 1.
    pub weight: u32,
    pub method: String,
    /// A URL with `http://` or `https://`, or a path that is meant relative to the command's URL.
    pub url: String,
    /// Headers in the order of the file; for JSON, in that of the alphabet.
    pub headers: Vec<(String, String)>,
    pub body: Body,
    /// The line of the file that it begins in, counted from 1.
    pub line: usize,
}

impl RequestText {
    /// A request without headers or a body, named and weighted by the settings above it.
    pub(super) fn begin(method: &str, url: &str, line: usize, waiting: &mut Waiting) -> Self {
        let settings = waiting.take();
        Self {
            name: settings.name.unwrap_or_else(|| default_name(method, url)),
            weight: settings.weight.unwrap_or(1),
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Body::None,
            line,
        }
    }
}

/// Whether the text can be a URL or a path. Whether the host exists is known once it is resolved.
///
/// Spaces are allowed only within a variable. A variable may stand in front, for `${env.BASE}/path`.
pub(super) fn is_url(text: &str) -> bool {
    let begins = ["/", "http://", "https://", "${"].iter().any(|start| text.starts_with(start));
    begins && !without_variables(text).contains(|c: char| c.is_whitespace() || c.is_control())
}

fn without_variables(text: &str) -> String {
    let mut rest = text;
    let mut plain = String::new();
    while let Some((before, variable)) = rest.split_once("${") {
        plain.push_str(before);
        rest = variable.split_once('}').map_or(variable, |(_, after)| after);
    }
    plain + rest
}

/// The name of a request that was given none: method and path, without query and fragment.
pub(super) fn default_name(method: &str, url: &str) -> String {
    let path = match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?', '#']) => {
            rest.find(['/', '?', '#']).map_or("", |start| &rest[start..])
        }
        _ => url,
    };
    let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
    format!("{method} {}", if path.is_empty() { "/" } else { path })
}
