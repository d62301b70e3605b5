//! The request, and the server it goes to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;
use plimsoll_http::{EncodeError, InvalidByte, Request, USER_AGENT, Version};
use serde::{Deserialize, Serialize};

use crate::address::{AddressError, check_address};

/// The default ports of the schemes.
const PORT_HTTP: u16 = 80;
const PORT_HTTPS: u16 = 443;
/// The port in messages where the intended port is unknown.
const EXAMPLE_PORT: u16 = 8080;

/// The characters that end the host of a URL.
const HOST_ENDS: [char; 3] = ['/', '?', '#'];

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
    /// The URL is not repeated, because it may hold a password.
    #[error("the URL carries a user name; leave it out, and send credentials with -H 'Authorization: …'")]
    User,
    #[error("`{0}` URLs are not supported; use http:// or https://")]
    Scheme(String),
    #[error("`{0}` is a single word and no URL; for a host of that name write http://{0}/")]
    Word(String),
    /// A number as the host. The system would turn it into an address: 8080 into 0.0.31.144.
    #[error("`{number}` is a number and no host; a port? write http://127.0.0.1:{port}")]
    Number { number: String, port: u16 },
    /// An incomplete address. The system would fill it up: 127.1 is 127.0.0.1.
    #[error("`{0}` is no complete address; write all four numbers, as in http://127.0.0.1:8080")]
    Partial(String),
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A header is not `Name: value`.
    #[error("header `{0}` … has no colon; write it like -H 'Accept: text/html'")]
    Header(String),
    #[error(transparent)]
    Encode(#[from] EncodeError<InvalidByte>),
}

/// Splits `Name: value`.
pub(crate) fn parse_header(text: &str) -> Result<(String, String), TargetError> {
    // The text after the name may be a password.
    let name_of = |text: &str| text.split(['=', ' ']).next().unwrap_or_default().to_owned();
    let (name, value) = text.split_once(':').ok_or_else(|| TargetError::Header(name_of(text)))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// The index at which the host of a URL begins: after the scheme, if there is one. A `://` in a path, query or fragment is
/// not a scheme's.
fn host_start(url: &str) -> usize {
    let scheme_end = url.find("://").filter(|at| !url[..*at].contains(HOST_ENDS));
    scheme_end.map_or(0, |at| at + "://".len())
}

/// The index at which the host of a URL ends: at the path, query or fragment. A path alone has no host.
pub fn host_end(url: &str) -> usize {
    let start = host_start(url);
    url[start..].find(HOST_ENDS).map_or(url.len(), |end| start + end)
}

/// True for a number as in an address, `8080` or `0x1f90`.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match digits {
        Some(hex) => hex.chars().all(|c| c.is_ascii_hexdigit()),
        None => !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()),
    }
}

/// Returns the port that a number may have been meant as.
fn port_of(number: &str) -> Option<u16> {
    let hex = number.get(..2).filter(|sign| sign.eq_ignore_ascii_case("0x")).map(|_| &number[2..]);
    let port = hex.map_or_else(|| number.parse(), |hex| u16::from_str_radix(hex, 16));
    port.ok().filter(|port| *port > 0)
}

/// Refuses addresses that load may not go to, and numbers that the system would turn into an address.
pub(crate) fn check_host(host: &str) -> Result<(), TargetError> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(check_address(address)?);
    }
    if is_number(host) {
        let port = port_of(host).unwrap_or(EXAMPLE_PORT);
        return Err(TargetError::Number { number: host.to_owned(), port });
    }
    let is_partial = host.split('.').all(is_number) && host.parse::<Ipv4Addr>().is_err();
    if is_partial { Err(TargetError::Partial(host.to_owned())) } else { Ok(()) }
}

impl Target {
    /// Returns a GET of `url`. A URL without a scheme gets `http://`.
    ///
    /// # Errors
    /// When the URL cannot be parsed, has no host, carries a user name, or is neither `http` nor `https`; and when load may not
    /// go to its host. A single word is read as a host name.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        let url = if host_start(url) > 0 { url.to_owned() } else { format!("http://{url}") };
        // A password may hold a slash or a space, so that the text does not parse as a URL.
        let error = |reason: &str| match url.contains('@') {
            true => TargetError::User,
            false => TargetError::Url { url: url.clone(), reason: reason.to_owned() },
        };
        let uri: Uri = url.parse().map_err(|reason: http::uri::InvalidUri| error(&reason.to_string()))?;
        let usual_port = match uri.scheme_str().unwrap_or_default() {
            "http" => PORT_HTTP,
            "https" => PORT_HTTPS,
            other => return Err(TargetError::Scheme(other.to_owned())),
        };
        let authority = uri.authority().ok_or_else(|| error("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(TargetError::User);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() || authority.port_u16() == Some(0) {
            return Err(error("it names no host or port"));
        }
        let after_host = authority.as_str().rsplit(']').next().unwrap_or_default();
        let is_bracketed = authority.as_str().contains(['[', ']']);
        let is_whole =
            authority.as_str() == format!("[{host}]{after_host}") && host.parse::<Ipv6Addr>().is_ok();
        if is_bracketed && !(is_whole && (after_host.is_empty() || after_host.starts_with(':'))) {
            return Err(error("brackets stand around an IPv6 address and nowhere else"));
        }
        check_host(&host)?;
        let port = if after_host.contains(':') { authority.port_u16() } else { Some(usual_port) };
        let port = port.ok_or_else(|| error("its port is not a number up to 65535"))?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let path = if path.starts_with('?') { format!("/{path}") } else { path.to_owned() };
        Ok(Self { url, host, port, path, method: "GET".to_owned(), headers: Vec::new(), body: Vec::new() })
    }

    /// True for a text that is more likely a mistyped command than a host: a single word other than `localhost`.
    pub fn is_word(text: &str) -> bool {
        let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        is_plain && !text.is_empty() && !is_number(text) && !text.eq_ignore_ascii_case("localhost")
    }

    /// True if connections are encrypted.
    pub fn is_secure(&self) -> bool {
        self.url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
    }

    /// `host` or `host:port`, as in the Host header; without the port if it is the scheme's default.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let usual = if self.is_secure() { PORT_HTTPS } else { PORT_HTTP };
        if self.port == usual { host } else { format!("{host}:{}", self.port) }
    }

    /// The request before encoding; templates count as plain text.
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
    /// When the method, the path or a header is not valid in a request.
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
    fn a_url_in_the_path_or_query_is_no_scheme() {
        for (url, path) in [
            ("localhost:8080/go?to=http://c/", "/go?to=http://c/"),
            ("localhost:8080/http://c/", "/http://c/"),
            ("localhost:8080?to=http://c/", "/?to=http://c/"),
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!((target.host.as_str(), target.port, target.path.as_str()), ("localhost", 8080, path));
            assert_eq!(&url[..host_end(url)], "localhost:8080");
        }
        assert_eq!((host_end("http://a/x"), host_end("http://a"), host_end("/a?u=http://b/")), (8, 8, 0));
    }

    #[test]
    fn an_ipv6_host_loses_its_brackets_only_for_resolving() {
        let target = Target::parse("http://[::1]:81/").unwrap();
        assert_eq!((target.host.as_str(), target.port), ("::1", 81));
        assert_eq!(target.authority(), "[::1]:81");
    }

    #[test]
    fn what_is_no_host_gets_no_load() {
        let refused = |url: &str| Target::parse(url).unwrap_err().to_string();
        assert_eq!(refused("8080"), "`8080` is a number and no host; a port? write http://127.0.0.1:8080");
        assert!(refused("0x50").contains("http://127.0.0.1:80"));
        for number in ["8080/", "http://8080/", "https://2130706433", "http://0x7f000001/"] {
            assert!(refused(number).contains("is a number and no host"), "{number}: {}", refused(number));
        }
        assert!(Target::is_word("swep") && !Target::is_word("localhost") && !Target::is_word("8080"));
        for partial in ["127.1:80", "http://10.1/", "http://0177.0.0.1/", "http://1.2.3.4.5/"] {
            assert!(refused(partial).contains("no complete address"), "{partial}: {}", refused(partial));
        }
        for address in ["0.0.31.144", "http://224.0.0.1/", "255.255.255.255:80", "http://[ff02::1]/"] {
            assert!(Target::parse(address).is_err(), "{address}");
        }
        for fine in ["localhost", "LOCALHOST", "http://web/", "web:80", "web/", "0.0.0.0:3000", "a.b"] {
            assert!(Target::parse(fine).is_ok(), "{fine}");
        }
    }

    #[test]
    fn what_may_be_a_password_is_not_repeated() {
        for url in
            ["http://ann:s3cret@a/", "http://ann:s3cr/et@a:1/", "http://ann:s3 cret@a/", "ann:s3cret@a"]
        {
            let error = Target::parse(url).unwrap_err().to_string();
            assert!(!error.contains("s3") && error.contains("user name"), "{error}");
        }
        for header in ["Authorization=Bearer s3cret", "Authorization s3cret"] {
            let error = parse_header(header).unwrap_err().to_string();
            assert!(!error.contains("s3cret") && error.contains("`Authorization`"), "{error}");
        }
        assert_eq!(Target::parse("http://a/ann@b").unwrap().path, "/ann@b");
    }

    #[test]
    fn bad_urls_say_what_is_wrong() {
        for url in ["10.d[:%:1]=?:8080:100", "http://[a]b/", "http://[a:b]/", "http://[[::1]]/"] {
            assert!(Target::parse(url).is_err(), "{url}");
        }
        for url in ["wss://a/", "ftp://a/", "http://", "http://a:99999/", "http://u:p@a/", "http://a b/", ""]
        {
            assert!(Target::parse(url).is_err(), "{url}");
        }
        assert!(Target::parse("wss://a/").unwrap_err().to_string().contains("https://"));
    }
}
