//! The HTTP proxy in front of a server, from the usual environment variables: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in upper or lower
//! case.

use std::net::IpAddr;

use ureq::http::Uri;
use ureq::{Proxy, ProxyProtocol};

/// The error for an invalid proxy in the environment. The value may contain a password, so it is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the variable {variable} is not the URL of an HTTP proxy; write it like http://proxy:3128, or name the server in NO_PROXY"
)]
pub struct ProxyError {
    variable: &'static str,
}

/// Returns the proxy for the server at `url`; `None` for a direct connection. Connections to this machine are always direct.
///
/// # Errors
/// When a variable names an invalid proxy, or one of another protocol than HTTP.
pub(crate) fn from_environment(
    url: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Proxy>, ProxyError> {
    let set = |names: [&'static str; 2]| {
        let mut values = names.into_iter().filter_map(|name| Some((name, variable(name)?)));
        values.find(|(_, value)| !value.trim().is_empty())
    };
    let Some(uri) = url.parse::<Uri>().ok() else { return Ok(None) };
    let names =
        if url.starts_with("https:") { ["https_proxy", "HTTPS_PROXY"] } else { ["http_proxy", "HTTP_PROXY"] };
    let Some((name, value)) = set(names) else { return Ok(None) };
    let exceptions = set(["no_proxy", "NO_PROXY"]).map(|(_, value)| value).unwrap_or_default();
    if is_direct(&uri, &exceptions) {
        return Ok(None);
    }
    let proxy = Proxy::new(value.trim()).ok();
    let is_http = |proxy: &Proxy| matches!(proxy.protocol(), ProxyProtocol::Http | ProxyProtocol::Https);
    proxy.filter(is_http).map(Some).ok_or(ProxyError { variable: name })
}

/// Returns the address of a proxy, without its login.
pub(crate) fn place(proxy: &Proxy) -> String {
    let scheme = if proxy.protocol() == ProxyProtocol::Https { "https" } else { "http" };
    format!("{scheme}://{}:{}", proxy.host(), proxy.port())
}

/// Whether a server is reached directly: its address is of this machine, or the list of exceptions names it.
fn is_direct(uri: &Uri, exceptions: &str) -> bool {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_lowercase();
    let address = host.parse::<IpAddr>().ok();
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    let is_local = host == "localhost" || host.ends_with(".localhost");
    is_local
        || address.is_some_and(|address| address.is_loopback())
        || exceptions.split(',').any(|entry| names(entry.trim(), &host, address, port))
}

/// Whether an exception matches a host. An exception is `*`, a network such as `10.0.0.0/8`, or a name, which also matches its
/// subdomains. A name and an address may have a port.
fn names(entry: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if let (Some((network, bits)), Some(address)) = (entry.split_once('/'), address) {
        let network = network.parse().ok().zip(bits.parse().ok());
        return network.is_some_and(|(network, bits)| is_in(address, network, bits));
    }
    let is_address = entry.parse::<IpAddr>().is_ok();
    let (name, of_port) = match entry.rsplit_once(':').filter(|_| !is_address) {
        Some((name, port)) => (name, port.parse::<u16>().ok()),
        None => (entry, None),
    };
    let name = name.trim_start_matches('*').trim_start_matches('.').to_lowercase();
    let is_below = || host.strip_suffix(&name).is_some_and(|before| before.ends_with('.'));
    let is_named = entry == "*" || !name.is_empty() && (host == name || address.is_none() && is_below());
    is_named && of_port.is_none_or(|of_port| of_port == port)
}

/// Whether an address begins with this many bits of a network.
fn is_in(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    let same = |leading_equal: u32, all: u32| bits <= all && leading_equal >= bits;
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            same((address.to_bits() ^ network.to_bits()).leading_zeros(), 32)
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            same((address.to_bits() ^ network.to_bits()).leading_zeros(), 128)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The proxy of a server where these variables are set.
    fn with(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let value = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        from_environment(url, &value).unwrap().as_ref().map(place)
    }

    #[test]
    fn the_variable_of_the_scheme_names_the_proxy() {
        let both =
            [("HTTPS_PROXY", "http://ann:word@proxy:3128"), ("http_proxy", "plain"), ("HTTP_PROXY", "other")];
        assert_eq!(with("https://metrics.test", &both).as_deref(), Some("http://proxy:3128"));
        assert_eq!(with("http://metrics.test:9090/p", &both).as_deref(), Some("http://plain:80"));
        assert_eq!(with("https://metrics.test", &[("HTTP_PROXY", "plain")]), None);
        assert_eq!(with("http://metrics.test", &[("HTTP_PROXY", "")]), None);
    }

    #[test]
    fn this_machine_and_what_no_proxy_names_are_reached_without() {
        let is_direct = |host: &str, exceptions: &str| {
            let variables = [("HTTP_PROXY", "http://proxy:3128"), ("NO_PROXY", exceptions)];
            with(&format!("http://{host}"), &variables).is_none()
        };
        for host in ["127.0.0.1:9090", "127.8.0.1", "localhost:9090", "a.localhost", "[::1]:9090"] {
            assert!(is_direct(host, ""), "{host}");
        }
        let exceptions =
            "10.0.0.0/8, metrics.test,.svc,db.test:9090,192.168.1.7,fd00::/8,fe90::1,port.test:80";
        for host in [
            "10.9.8.7:9090",
            "metrics.test",
            "port.test",
            "eu.METRICS.test:1",
            "prometheus.shop.svc",
            "db.test:9090",
            "192.168.1.7",
            "[fd00::1]",
            "[fe90::1]:9",
        ] {
            assert!(is_direct(host, exceptions), "{host}");
        }
        for host in ["11.0.0.1", "othermetrics.test", "db.test:9091", "db.test", "192.168.1.77", "[fe80::1]"]
        {
            assert!(!is_direct(host, exceptions), "{host}");
        }
        assert!(is_direct("metrics.test", "*") && !is_direct("metrics.test", ",. ,"));
    }

    #[test]
    fn what_is_no_http_proxy_is_refused_without_its_value() {
        for wrong in ["socks5://u:word@proxy", "http://", "ftp://word", "http://u:word@"] {
            let value = |name: &str| (name == "HTTPS_PROXY").then(|| wrong.to_owned());
            let error = from_environment("https://metrics.test", &value);
            let error = error.unwrap_err().to_string();
            assert!(error.contains("HTTPS_PROXY") && !error.contains("word"), "{error}");
        }
    }
}
