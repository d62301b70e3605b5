//! The URL of a run, split into the parts that wrk's scripts see.

/// The parts of a URL that wrk knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Url {
    /// `http` or `https`, in lower case.
    pub scheme: String,
    /// The host; an IPv6 address has no brackets here.
    pub host: String,
    /// The port as it was typed; `None` if there is none.
    pub port: Option<String>,
    /// Everything from the path to the end, query included; begins with a `/`.
    pub path: String,
}

impl Url {
    /// Returns what wrk's messages call the service: the port if there is one, otherwise the scheme.
    pub fn service(&self) -> &str {
        self.port.as_deref().unwrap_or(&self.scheme)
    }

    /// Returns host and port as they appear in a URL and in the Host header.
    pub(crate) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match &self.port {
            Some(port) => format!("{host}:{port}"),
            None => host,
        }
    }

    /// Parses a URL; `None` for a URL that wrk refuses, and for schemes other than HTTP's.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        if !["http", "https"].contains(&scheme.as_str()) || !text.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return None;
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
        let (host, port) = split_server(server)?;
        // In a URL the query may follow the host directly; in a request it needs a path before it.
        let root = if path.starts_with('/') { "" } else { "/" };
        let path = format!("{root}{path}");
        Some(Self { scheme, host: host.to_owned(), port: port.map(str::to_owned), path })
    }
}

/// Splits host and port, and checks each.
fn split_server(server: &str) -> Option<(&str, Option<&str>)> {
    if let Some(bracketed) = server.strip_prefix('[') {
        let (host, behind) = bracketed.split_once(']')?;
        let port = behind.strip_prefix(':');
        let host_is_right = consists_of(host, |c| c.is_ascii_hexdigit() || ":.".contains(c));
        return (host_is_right && port.map_or(behind.is_empty(), is_port)).then_some((host, port));
    }
    let (host, port) = server.split_once(':').map_or((server, None), |(host, port)| (host, Some(port)));
    let host_is_right = consists_of(host, |c| c.is_ascii_alphanumeric() || ".-".contains(c));
    (host_is_right && port.is_none_or(is_port)).then_some((host, port))
}

fn consists_of(text: &str, right: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(right)
}

fn is_port(text: &str) -> bool {
    consists_of(text, |c| c.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, String, Option<String>, String) {
        let url = Url::parse(text).unwrap();
        (url.scheme, url.host, url.port, url.path)
    }

    #[test]
    fn a_url_comes_apart_into_what_a_script_sees() {
        let own = |text: &str| text.to_owned();
        assert_eq!(
            parts("http://u:p@10.0.0.1:8080/a?b=1"),
            (own("http"), own("10.0.0.1"), Some(own("8080")), own("/a?b=1"))
        );
        assert_eq!(parts("HTTPS://[::1]"), (own("https"), own("::1"), None, own("/")));
        assert_eq!(parts("http://localhost?q").3, "/?q");
        assert_eq!(Url::parse("https://example.org/").unwrap().service(), "https");
        assert_eq!(Url::parse("https://example.org:81/").unwrap().service(), "81");
    }
}
