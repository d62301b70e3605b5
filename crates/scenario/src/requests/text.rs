//! A request as written in a file.

use std::path::PathBuf;

use super::annotation::Waiting;

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    None,
    Inline(Vec<u8>),
    /// The content of a file, which the caller reads. A relative path is relative to the current folder.
    File(PathBuf),
}

/// A request as written in a file, before its variables are parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestText {
    /// The request's name in reports: as given, or method and path without the query. Requests with the same name are reported together.
    pub name: String,
    /// How often it is sent relative to the others; at least 1.
    pub weight: u32,
    pub method: String,
    /// A URL with `http://` or `https://`, or a path relative to the command's URL.
    pub url: String,
    /// Headers in the order of the file; for JSON in alphabetical order.
    pub headers: Vec<(String, String)>,
    pub body: Body,
    /// The line of the file in which it begins, counted from 1.
    pub line: usize,
}

impl RequestText {
    /// Creates a request without headers or a body, with the name and weight from the settings above it.
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

/// Whether the text can be a URL or a path. Whether the host exists shows only when it is resolved.
///
/// Spaces are allowed only within a variable. The text may begin with a variable, for `${env.BASE}/path`.
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

/// Returns the name of a request that has none: method and path, without query and fragment.
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
