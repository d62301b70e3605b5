//! Access control of a page: the token, the accepted hosts, and the security headers of every response.

use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

/// 128 bits.
const TOKEN_BYTES: usize = 16;
/// The query parameter that carries the token.
const TOKEN: &str = "token";

/// The checks that a request must pass before it is answered.
#[derive(Debug)]
pub(crate) struct Guard {
    address: SocketAddr,
    /// In hex.
    token: String,
    /// The content security policy of the page.
    policy: HeaderValue,
}

impl Guard {
    /// Creates a guard with a random token.
    pub(crate) fn new(address: SocketAddr, policy: &str) -> io::Result<Self> {
        let mut random = [0; TOKEN_BYTES];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let mut token = String::with_capacity(2 * TOKEN_BYTES);
        for byte in random {
            write!(token, "{byte:02x}").map_err(io::Error::other)?;
        }
        let policy = format!("{policy}; frame-ancestors 'none'");
        let policy = HeaderValue::from_str(&policy).map_err(io::Error::other)?;
        Ok(Self { address, token, policy })
    }

    /// Returns the URL of the page, with the token. It has the loopback address if the server listens on every address.
    pub(crate) fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            let loopback: IpAddr = match address.ip() {
                IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            };
            address.set_ip(loopback);
        }
        format!("http://{address}/?{TOKEN}={}", self.token)
    }

    /// Adds the checks to every route of the router.
    pub(crate) fn protect(self, router: Router) -> Router {
        router.layer(middleware::from_fn_with_state(Arc::new(self), check))
    }

    /// Returns why a request is refused; `None` if it is accepted.
    fn refusal(&self, request: &Request) -> Option<(StatusCode, &'static str)> {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let token = parameter(request.uri().query(), TOKEN);
        if request.method() != Method::GET {
            return Some((StatusCode::METHOD_NOT_ALLOWED, "only GET is answered"));
        }
        if !host.is_some_and(|host| self.is_own(host)) {
            return Some((
                StatusCode::FORBIDDEN,
                "open the page by the address that Plimsoll printed, and not by another name",
            ));
        }
        match token {
            None => Some((
                StatusCode::UNAUTHORIZED,
                "the token is missing; open the whole URL that Plimsoll printed",
            )),
            Some(token) if !self.is_token(&token) => Some((
                StatusCode::FORBIDDEN,
                "the token is that of another run; open the URL that Plimsoll printed last",
            )),
            Some(_) => None,
        }
    }

    /// Compares in constant time: the duration does not show how much of the token is right.
    fn is_token(&self, token: &str) -> bool {
        self.token.as_bytes().ct_eq(token.as_bytes()).into()
    }

    /// Returns true if a `Host` header names this server. A name that an attacker points here (DNS rebinding) does not.
    fn is_own(&self, host: &str) -> bool {
        let is_local = self.address.ip().is_loopback() || self.address.ip().is_unspecified();
        if host.eq_ignore_ascii_case(&format!("localhost:{}", self.address.port())) {
            return is_local;
        }
        let asked = match host.parse::<SocketAddr>() {
            Ok(asked) => asked,
            // A browser leaves out port 80.
            Err(_) => match host.trim_start_matches('[').trim_end_matches(']').parse() {
                Ok(ip) => SocketAddr::new(ip, 80),
                Err(_) => return false,
            },
        };
        let is_address = asked.ip() == self.address.ip()
            || self.address.ip().is_unspecified()
            || (is_local && asked.ip().is_loopback());
        is_address && asked.port() == self.address.port()
    }
}

async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.refusal(&request) {
        Some((status, why)) => refused(status, why),
        None => next.run(request).await,
    };
    let fixed = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
        (header::CONTENT_SECURITY_POLICY, guard.policy.clone()),
    ];
    for (name, value) in fixed {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Returns a response of plain text.
pub(crate) fn refused(status: StatusCode, why: &str) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    let mut response = (status, kind, format!("{why}\n")).into_response();
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
    }
    response
}

/// Returns the first value of a query parameter that is not empty.
pub(crate) fn parameter(query: Option<&str>, name: &str) -> Option<String> {
    parameters(query, name).next()
}

/// Returns all values of a query parameter that are not empty, in order.
pub(crate) fn parameters(query: Option<&str>, name: &str) -> impl Iterator<Item = String> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .filter(move |(known, value)| known == name && !value.is_empty())
        .map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str) -> Guard {
        Guard::new(address.parse().unwrap(), "default-src 'none'").unwrap()
    }

    #[test]
    fn only_names_of_the_server_itself_are_its_own() {
        let local = guard("127.0.0.1:8090");
        for host in ["127.0.0.1:8090", "localhost:8090", "LOCALHOST:8090", "[::1]:8090"] {
            assert!(local.is_own(host), "{host}");
        }
        for host in
            ["", "evil.test:8090", "127.0.0.1", "127.0.0.1:80", "localhost", "localhost.evil.test:8090"]
        {
            assert!(!local.is_own(host), "{host}");
        }
        let lan = guard("10.0.0.7:8090");
        assert!(lan.is_own("10.0.0.7:8090"));
        assert!(
            !lan.is_own("localhost:8090") && !lan.is_own("10.0.0.8:8090") && !lan.is_own("lan.test:8090")
        );
        let all = guard("0.0.0.0:80");
        assert!(all.is_own("10.0.0.8:80") && all.is_own("10.0.0.8") && !all.is_own("evil.test"));
    }

    #[test]
    fn a_token_has_128_bits_and_no_other_is_taken() {
        let (one, other) = (guard("127.0.0.1:1"), guard("127.0.0.1:1"));
        assert_eq!(one.token.len(), 32);
        assert!(one.is_token(&one.token) && !one.is_token(&other.token) && !one.is_token(""));
        assert!(!one.is_token(&one.token[1..]));
    }
}
