//! A client of the API: the server's address, its login, and one query at a time.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use plimsoll_host::{proxied_agent, resolve_password};
use plimsoll_units::duration_text;
use ureq::Agent;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector as _, TcpConnector};

use crate::answer::{self, Answer, LabelledSeries};
use crate::error::QueryError;
use crate::proxy::{self, ProxyError};
use crate::span::Span;
use crate::tls::TlsConnector;

/// The maximum size of an answer.
const MAX_ANSWER_BYTES: u64 = 256 << 20;
/// The maximum time for a check whether the server answers at all.
const MAX_PROBE: Duration = Duration::from_secs(5);

/// Why a client cannot be created.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    #[error("`{0}` is not the URL of a Prometheus server; write it like http://prometheus:9090")]
    Url(String),
    #[error(
        "the login in the URL of the Prometheus server is no text; write special characters as %XX of UTF-8, such as %40 for @"
    )]
    Login,
    #[error("`{0}` is not a header; write it like 'Authorization: Bearer env:NAME'")]
    Header(String),
    #[error("{0}")]
    Secret(String),
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    #[error("could not read `{}`, given with --cacert ({reason}); name a PEM file that this user can read", path.display())]
    File { path: PathBuf, reason: String },
    #[error("{reason} (`{}`)", path.display())]
    Authority { path: PathBuf, reason: String },
}

impl ClientError {
    /// Whether the user's input is wrong, as opposed to a file.
    pub fn is_mistake(&self) -> bool {
        matches!(self, Self::Url(_) | Self::Login | Self::Header(_) | Self::Secret(_) | Self::Proxy(_))
    }
}

/// A Prometheus server. Its errors never contain the login.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    /// The URL without a login and without a slash at its end.
    base: String,
    /// The proxy in front of the server, without its login.
    proxy: Option<String>,
    headers: Vec<(String, String)>,
    timeout: Duration,
}

impl Client {
    /// Creates a client of the server at `url`, which may contain a user and a password. `headers`, `NAME: VALUE` each, are sent with every
    /// request. The password, and the last word of a header, may be `env:NAME` or `file:PATH`. Over HTTPS the certificates in the PEM file
    /// `cacert` are trusted, or without it the system's authorities. Each query may take `timeout`. Connections use the proxy that the
    /// environment names for this server, if any.
    ///
    /// # Errors
    /// When the URL, a header or the proxy is invalid, or a variable or a file cannot be read.
    pub fn new(
        url: &str,
        headers: &[String],
        cacert: Option<&Path>,
        timeout: Duration,
    ) -> Result<Self, ClientError> {
        Self::in_environment(url, headers, cacert, timeout, &|name| std::env::var(name).ok())
    }

    /// Creates a client with the environment variables that `variable` returns.
    fn in_environment(
        url: &str,
        headers: &[String],
        cacert: Option<&Path>,
        timeout: Duration,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ClientError> {
        let (base, login) = address(url)?;
        let typed: Vec<(String, String)> =
            headers.iter().map(|text| header(text)).collect::<Result<_, _>>()?;
        let headers = login.into_iter().chain(typed).collect();
        let proxy = proxy::from_environment(&base, variable)?;
        let place = proxy.as_ref().map(proxy::place);
        let agent = proxied_agent(&base, timeout, proxy);
        let agent = match cacert {
            Some(path) => trusting(&agent, path)?,
            None => agent,
        };
        Ok(Self { agent, base, proxy: place, headers, timeout })
    }

    /// Returns the address without the login.
    pub fn place(&self) -> &str {
        &self.base
    }

    /// Returns the values of a query over a span, at most [`Span::MAX_POINTS`] per series.
    pub(crate) fn range(&self, query: &str, span: Span) -> Result<Answer<Vec<LabelledSeries>>, QueryError> {
        let (start, end, step) =
            (span.start_sec.to_string(), span.end_sec().to_string(), span.step_sec.to_string());
        let within = self.timeout_text();
        let parameters =
            [("query", query), ("start", &start), ("end", &end), ("step", &step), ("timeout", &within)];
        let (status, body) = self.get("query_range", &parameters, self.timeout)?;
        answer::series(&self.base, query, status, &body)
    }

    /// Returns the values of a query at one instant.
    pub(crate) fn instant(
        &self,
        query: &str,
        at_sec: f64,
    ) -> Result<Answer<Vec<LabelledSeries>>, QueryError> {
        let (time, within) = (at_sec.to_string(), self.timeout_text());
        let parameters = [("query", query), ("time", time.as_str()), ("timeout", within.as_str())];
        let (status, body) = self.get("query", &parameters, self.timeout)?;
        answer::series(&self.base, query, status, &body)
    }

    /// Returns the names of metrics that match one of these selectors and have samples in the span.
    pub(crate) fn metric_names(
        &self,
        selectors: &[String],
        span: Span,
    ) -> Result<Answer<Vec<String>>, QueryError> {
        let (start, end) = (span.start_sec.to_string(), span.end_sec().to_string());
        let matches = selectors.iter().map(|selector| ("match[]", selector.as_str()));
        let parameters: Vec<(&str, &str)> =
            matches.chain([("start", start.as_str()), ("end", end.as_str())]).collect();
        let (status, body) = self.get("label/__name__/values", &parameters, self.timeout)?;
        answer::names(&self.base, &selectors.join(" or "), status, &body)
    }

    /// Returns the type of a metric as its exporter declares it, `counter` or `gauge`; `None` if the server does not know it.
    pub(crate) fn metric_type(&self, name: &str) -> Result<Answer<Option<String>>, QueryError> {
        let (status, body) = self.get("metadata", &[("metric", name)], self.timeout)?;
        answer::metric_type(&self.base, name, status, &body)
    }

    /// Sends a cheap request to check whether the server answers at all, whatever the answer is.
    ///
    /// # Errors
    /// [`QueryError::Unreachable`] when it does not.
    pub(crate) fn check_alive(&self) -> Result<(), QueryError> {
        let patience = self.timeout.min(MAX_PROBE);
        self.get("status/buildinfo", &[], patience).map(drop).map_err(|error| match error {
            QueryError::Late { place, .. } => QueryError::Unreachable {
                place,
                reason: format!(
                    "no answer to any query within {} any more",
                    duration_text(patience.as_nanos() as f64)
                ),
            },
            error => error,
        })
    }

    /// Returns the timeout as a number of seconds: Prometheus rejects durations with a fraction, such as `1.5s`.
    fn timeout_text(&self) -> String {
        self.timeout.as_secs_f64().to_string()
    }

    fn get(
        &self,
        path: &str,
        parameters: &[(&str, &str)],
        timeout: Duration,
    ) -> Result<(u16, Vec<u8>), QueryError> {
        let failed = |error| QueryError::from_http(&self.base, self.proxy.as_deref(), timeout, error);
        let mut request = self.agent.get(format!("{}/api/v1/{path}", self.base));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.query_pairs(parameters.iter().copied());
        let request = if timeout == self.timeout {
            request
        } else {
            request.config().timeout_global(Some(timeout)).build()
        };
        let mut response = request.call().map_err(failed)?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        Ok((status, body.map_err(failed)?))
    }
}

/// Returns the agent, trusting the certificates in a file instead of the system's authorities.
fn trusting(agent: &Agent, path: &Path) -> Result<Agent, ClientError> {
    let unread =
        |error: std::io::Error| ClientError::File { path: path.to_owned(), reason: error.to_string() };
    let pem = std::fs::read(path).map_err(unread)?;
    let connector = TlsConnector::new(pem)
        .map_err(|error| ClientError::Authority { path: path.to_owned(), reason: error.to_string() })?;
    let connector =
        ().chain(ConnectProxyConnector::default()).chain(TcpConnector::default()).chain(connector);
    Ok(Agent::with_parts(agent.config().clone(), connector, DefaultResolver::default()))
}

/// Splits a URL into the address and the header of its login.
fn address(url: &str) -> Result<(String, Option<(String, String)>), ClientError> {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (login, host) =
        authority.rsplit_once('@').map_or((None, authority), |(login, host)| (Some(login), host));
    let shown = format!("{scheme}://{host}{path}");
    let is_whole = matches!(scheme, "http" | "https") && !host.is_empty() && !path.contains(['?', '#']);
    if !is_whole || shown.contains(char::is_whitespace) {
        return Err(ClientError::Url(if scheme.is_empty() { url.to_owned() } else { shown }));
    }
    Ok((shown.trim_end_matches('/').to_owned(), login.map(authorization).transpose()?))
}

/// Returns the header for a login `user:password`.
fn authorization(login: &str) -> Result<(String, String), ClientError> {
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let user = decoded(user)?;
    let password = match password.starts_with("env:") || password.starts_with("file:") {
        true => resolve_password(Some(password)).map_err(ClientError::Secret)?.unwrap_or_default(),
        false => decoded(password)?,
    };
    let encoded = STANDARD.encode(format!("{user}:{password}"));
    Ok(("Authorization".to_owned(), format!("Basic {encoded}")))
}

/// Decodes a part of a login, in which special characters are written as `%XX`.
fn decoded(text: &str) -> Result<String, ClientError> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Cow::into_owned).map_err(|_| ClientError::Login)
}

/// Parses a header whose last word may name the place of a secret.
fn header(text: &str) -> Result<(String, String), ClientError> {
    // The value may be a secret, so errors do not repeat it.
    let shown = || ClientError::Header(text.split(':').next().unwrap_or_default().to_owned());
    let (name, value) = text.split_once(':').ok_or_else(shown)?;
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    if name.is_empty() || !name.chars().all(is_of_name) || value.contains(['\r', '\n']) {
        return Err(shown());
    }
    let value = value.trim();
    let (before, last) = value.rsplit_once(' ').map_or(("", value), |(before, last)| (before, last));
    let last = resolve_password(Some(last)).map_err(ClientError::Secret)?.unwrap_or_default();
    Ok((name.to_owned(), format!("{before} {last}").trim_start().to_owned()))
}

#[cfg(test)]
mod tests {
    use plimsoll_testkit::{Nginx, PageServer, Reply, refused_address};

    use super::*;

    /// A client of a server that only the proxy at `proxy` can reach.
    fn behind(proxy: &str, cacert: Option<&Path>) -> Client {
        let variable = |name: &str| (name == "HTTP_PROXY").then(|| proxy.to_owned());
        Client::in_environment("http://metrics.test:9090", &[], cacert, Duration::from_secs(20), &variable)
            .unwrap()
    }

    #[test]
    fn a_server_behind_a_proxy_is_asked_through_it() {
        // What is sent after a CONNECT would go on to the server. This proxy answers in its place.
        let proxy = PageServer::start(|target| {
            let answer = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
            let body = if target.starts_with('/') { answer } else { "" };
            Reply::Page { status: 200, body: body.to_owned() }
        });
        let nginx = Nginx::before(proxy.url().trim_start_matches("http://").parse().unwrap()).unwrap();
        for cacert in [None, Some(nginx.certificate())] {
            let client = behind(&proxy.url(), cacert.as_deref());
            assert!(client.instant("up", 1.0).unwrap().content.is_empty());
        }
        let heads = proxy.heads();
        assert_eq!(heads.len(), 4);
        assert!(
            heads[0].starts_with("CONNECT metrics.test:9090 ") && heads[2].starts_with("CONNECT "),
            "{heads:?}"
        );
    }

    #[test]
    fn a_proxy_that_refuses_is_named_in_place_of_the_server() {
        let closed = PageServer::start(|_| Reply::Page { status: 403, body: String::new() });
        for proxy in [closed.url(), format!("http://{}", refused_address())] {
            let error = behind(&proxy, None).instant("up", 1.0).unwrap_err();
            assert!(error.is_without_connection() && error.to_string().contains(&proxy), "{error}");
        }
    }

    #[test]
    fn an_address_is_kept_without_its_login() {
        let (base, login) = address("https://ann:p@ss@metrics.test/prometheus/").unwrap();
        assert_eq!(base, "https://metrics.test/prometheus");
        let expected = Some(format!("Basic {}", STANDARD.encode("ann:p@ss/1")));
        for url in ["https://ann:p%40ss%2F1@metrics.test", "https://%61nn:p@ss%2f1@metrics.test/"] {
            assert_eq!(address(url).unwrap().1.map(|(_, login)| login), expected, "{url}");
        }
        assert!(matches!(address("https://ann:%ff@metrics.test"), Err(ClientError::Login)));
        assert_eq!(login.unwrap().1, format!("Basic {}", STANDARD.encode("ann:p@ss")));
        assert_eq!(address("http://127.0.0.1:9090").unwrap(), ("http://127.0.0.1:9090".to_owned(), None));
    }

    #[test]
    fn what_is_no_address_is_refused_without_a_word_of_its_login() {
        for wrong in
            ["prometheus", "9090", "ftp://a", "http://", "http://a?x", "http://a b", "http://u:word@"]
        {
            let error = address(wrong).unwrap_err().to_string();
            assert!(error.contains("http://prometheus:9090") && !error.contains("word"), "{error}");
        }
    }

    #[test]
    fn the_last_word_of_a_header_may_be_a_variable() {
        let path = std::env::var("PATH").unwrap();
        let read = header("Authorization: Bearer env:PATH").unwrap();
        assert_eq!(read, ("Authorization".to_owned(), format!("Bearer {path}")));
        assert_eq!(header("X-Scope-OrgID: shop").unwrap().1, "shop");
        assert_eq!(header("no header").unwrap_err(), ClientError::Header("no header".to_owned()));
        assert!(matches!(header("A: env:PLIMSOLL_NOT_SET"), Err(ClientError::Secret(_))));
    }
}
