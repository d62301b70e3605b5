//! What may stand for a URL, and the name it gives its request.

/// Whether the text can be a URL or a path. Whether the host is one is found out when it is looked up.
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
