//! A page fetched over HTTP; the connection stays open between samples.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::aws_lc_rs::default_provider;
use rustls_native_certs::load_native_certs;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Proxy, ProxyProtocol};

use super::error::{DEADLINE, ServerError};

/// The longest accepted page. A page of node_exporter has a few hundred kilobytes; one of a hundred thousand series is refused.
const MAX_PAGE_BYTES: u64 = 8 << 20;

/// One page of one server.
pub(super) struct Page {
    agent: Agent,
    pub(super) url: String,
}

impl Page {
    pub(super) fn new(url: &str) -> Self {
        Self { agent: page_agent(url, DEADLINE), url: url.to_owned() }
    }

    /// Returns another page of the same server, at `path`, over the same connection.
    pub(super) fn sibling(&self, path: &str) -> Self {
        let rest = self.url.find("://").map_or(0, |at| at + 3);
        let end = self.url[rest..].find('/').map_or(self.url.len(), |at| rest + at);
        Self { agent: self.agent.clone(), url: format!("{}{path}", &self.url[..end]) }
    }

    /// Returns host and port as written in the URL: the subject of the page's samples.
    pub(super) fn address(&self) -> &str {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        rest.split(['/', '?']).next().unwrap_or(rest)
    }

    pub(super) fn text(&self) -> Result<String, ServerError> {
        let mut answer = self.agent.get(&self.url).call()?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(MAX_PAGE_BYTES).read_to_vec()?;
        if status != 200 {
            return Err(ServerError::Refused {
                reason: format!("status {status}"),
                advice: "see that the path is right and that this machine may read it",
            });
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

impl From<ureq::Error> for ServerError {
    fn from(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Timeout(_) => Self::Late,
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                Self::Unreachable(error)
            }
            ureq::Error::Io(error) => error.into(),
            ureq::Error::HostNotFound => {
                Self::Unreachable(io::Error::new(io::ErrorKind::NotFound, "the name has no address"))
            }
            ureq::Error::ConnectionFailed => Self::Unreachable(io::ErrorKind::ConnectionRefused.into()),
            other => Self::Broken(other.to_string()),
        }
    }
}

/// Returns an HTTP client for pages of a probed server, with a deadline for a whole answer. The client uses no proxy, follows no
/// redirects, and treats every status as an answer.
pub fn page_agent(url: &str, deadline: Duration) -> Agent {
    proxied_agent(url, deadline, None)
}

/// Returns the same client as [`page_agent`], but connecting through `proxy` if one is given.
pub fn proxied_agent(url: &str, deadline: Duration, proxy: Option<Proxy>) -> Agent {
    let is_encrypted = url.starts_with("https:")
        || proxy.as_ref().is_some_and(|proxy| proxy.protocol() == ProxyProtocol::Https);
    let config = Agent::config_builder()
        .timeout_global(Some(deadline))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        // Set even if it is `None`: otherwise the client takes a proxy from the environment, which is meant for the web.
        .proxy(proxy)
        .max_idle_connections_per_host(1)
        .tls_config(security(is_encrypted))
        .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
        .build();
    config.into()
}

/// Trusts the system's certificate authorities. They are loaded only for an encrypted connection.
fn security(is_encrypted: bool) -> TlsConfig {
    let certificates = if is_encrypted { load_native_certs().certs } else { Vec::new() };
    let authorities: Vec<_> =
        certificates.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&authorities))
        .unversioned_rustls_crypto_provider(Arc::new(default_provider()))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_the_urls_and_a_sibling_is_on_the_same_server() {
        let page = Page::new("http://10.0.0.1:6060/debug/vars?x=1");
        assert_eq!(page.address(), "10.0.0.1:6060");
        let sibling = page.sibling("/debug/pprof/");
        assert_eq!(sibling.url, "http://10.0.0.1:6060/debug/pprof/");
        assert_eq!(Page::new("http://a:1").sibling("/x").url, "http://a:1/x");
    }
}
