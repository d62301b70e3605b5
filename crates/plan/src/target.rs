//! What is requested, and of whom.

use http::Uri;
use plimsoll_http::{EncodeError, InvalidByte, Request, USER_AGENT, Version};
use serde::{Deserialize, Serialize};

/// The ports where a URL names none.
const PORT_HTTP: u16 = 80;
const PORT_HTTPS: u16 = 443;

/// One request, and the server it goes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The URL as typed, with the scheme filled in.
    pub url: String,
    /// Host name or address, without brackets.
    pub host: String,
    pub port: u16,
    /// Path and query, as they go into the request line.
    pub path: String,
    pub method: String,
    pub headers: Vec<(String, String)>,
    /// Empty for none.
    pub body: Vec<u8>,
}

/// A target that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error("`{url}` is not a URL: {reason}; write it like http://127.0.0.1:8080/path")]
    Url { url: String, reason: String },
    #[error("`{0}` URLs are not supported; use http:// or https://")]
    Scheme(String),
    /// A header is not `Name: value`.
    #[error("header `{0}` has no colon; write it like -H 'Accept: text/html'")]
    Header(String),
    #[error(transparent)]
    Encode(#[from] EncodeError<InvalidByte>),
}

/// Splits `Name: value`.
pub(crate) fn parse_header(text: &str) -> Result<(String, String), TargetError> {
    let (name, value) = text.split_once(':').ok_or_else(|| TargetError::Header(text.to_owned()))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl Target {
    /// A GET of `url`; without a scheme, `http://` is meant.
    ///
    /// # Errors
    /// When the URL cannot be read, has no host, carries a user name, or is neither `http` nor `https`.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let error = |reason: &str| TargetError::Url { url: url.clone(), reason: reason.to_owned() };
        let uri: Uri = url.parse().map_err(|reason: http::uri::InvalidUri| error(&reason.to_string()))?;
        let usual_port = match uri.scheme_str().unwrap_or_default() {
            "http" => PORT_HTTP,
            "https" => PORT_HTTPS,
            other => return Err(TargetError::Scheme(other.to_owned())),
        };
        let authority = uri.authority().ok_or_else(|| error("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(error("it carries a user name; send credentials with -H 'Authorization: …'"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() || authority.port_u16() == Some(0) {
            return Err(error("it names no host or port"));
        }
        let after_host = authority.as_str().rsplit(']').next().unwrap_or_default();
        let port = if after_host.contains(':') { authority.port_u16() } else { Some(usual_port) };
        let port = port.ok_or_else(|| error("its port is not a number up to 65535"))?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if path.starts_with('?') { format!("/{path}") } else { path.to_owned() };
        Ok(Self { url, host, port, path, method: "GET".to_owned(), headers: Vec::new(), body: Vec::new() })
    }

    /// True if connections are encrypted.
    pub fn is_secure(&self) -> bool {
        self.url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
    }

    /// `host` or `host:port`, as it stands in the Host header: the port only where it is not the scheme's own.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let usual = if self.is_secure() { PORT_HTTPS } else { PORT_HTTP };
        if self.port == usual { host } else { format!("{host}:{}", self.port) }
    }

    /// The request, to be encoded; templates are taken for plain text.
    pub fn request(&self) -> Request<'_, &[u8]> {
        Request {
            method: &self.method,
            secure: self.is_secure(),
            authority: self.authority(),
            path: self.path.as_bytes(),
            headers: self.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect(),
            body: &self.body,
            user_agent: Some(USER_AGENT),
        }
    }

    /// The complete request as it is sent over HTTP/1.1.
    ///
    /// # Errors
    /// When the method, the path or a header cannot stand in a request.
    pub fn encode(&self) -> Result<Vec<u8>, TargetError> {
        Ok(self.request().encode(Version::Http1)?.to_bytes().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_may_leave_out_what_is_usual() {
        let target = Target::parse("127.0.0.1:8080/a?b=c").unwrap();
        assert_eq!((target.host.as_str(), target.port, target.path.as_str()), ("127.0.0.1", 8080, "/a?b=c"));
        assert_eq!(target.authority(), "127.0.0.1:8080");
        let target = Target::parse("http://example.test").unwrap();
        assert_eq!((target.port, target.path.as_str()), (80, "/"));
        assert_eq!(target.authority(), "example.test");
    }

    #[test]
    fn each_scheme_has_a_port_that_the_host_header_leaves_out() {
        let parts = |url: &str| {
            let target = Target::parse(url).unwrap();
            (target.port, target.authority(), target.is_secure())
        };
        assert_eq!(parts("https://a/"), (443, "a".to_owned(), true));
        assert_eq!(parts("HTTPS://a:443/"), (443, "a".to_owned(), true));
        assert_eq!(parts("https://a:80/"), (80, "a:80".to_owned(), true));
        assert_eq!(parts("http://a:443/"), (443, "a:443".to_owned(), false));
    }

    #[test]
    fn an_ipv6_host_loses_its_brackets_only_for_resolving() {
        let target = Target::parse("http://[::1]:81/").unwrap();
        assert_eq!((target.host.as_str(), target.port), ("::1", 81));
        assert_eq!(target.authority(), "[::1]:81");
    }

    #[test]
    fn bad_urls_say_what_is_wrong() {
        for url in ["wss://a/", "ftp://a/", "http://", "http://a:99999/", "http://u:p@a/", "http://a b/", ""]
        {
            assert!(Target::parse(url).is_err(), "{url}");
        }
        assert!(Target::parse("wss://a/").unwrap_err().to_string().contains("https://"));
    }
}
