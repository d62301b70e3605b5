//! Which targets an agent may load.

use std::fmt;
use std::str::FromStr;

use plimsoll_plan::Plan;

/// A target that an agent may load: `HOST`, `HOST:PORT`, `*.DOMAIN` or `*.DOMAIN:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedTarget {
    /// In lower case, without brackets. With a dot at the beginning it stands for all names below the domain.
    host: String,
    /// All ports if `None`.
    port: Option<u16>,
}

/// A text that is not a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write HOST, HOST:PORT, [IPV6]:PORT or *.DOMAIN, without a scheme or a path")]
pub struct NoTarget;

impl FromStr for AllowedTarget {
    type Err = NoTarget;

    fn from_str(text: &str) -> Result<Self, NoTarget> {
        let (host, port) = split(text)?;
        let port = port.map(|port| port.parse().map_err(|_| NoTarget)).transpose()?;
        let host = match host.strip_prefix("*.") {
            Some(domain) => format!(".{domain}"),
            None => host.to_owned(),
        };
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':');
        if host.trim_start_matches('.').is_empty() || !host.bytes().all(fits) {
            return Err(NoTarget);
        }
        Ok(Self { host: host.to_ascii_lowercase(), port })
    }
}

/// Splits a text into host and port, the host without brackets.
fn split(text: &str) -> Result<(&str, Option<&str>), NoTarget> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(NoTarget)?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(NoTarget),
        };
    }
    match text.split_once(':') {
        // An address of IPv6 without brackets has no port.
        Some((_, port)) if port.contains(':') => Ok((text, None)),
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((text, None)),
    }
}

impl fmt::Display for AllowedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.host.starts_with('.') { "*" } else { "" };
        match (self.port, self.host.contains(':')) {
            (Some(port), true) => write!(f, "[{}]:{port}", self.host),
            (Some(port), false) => write!(f, "{star}{}:{port}", self.host),
            (None, _) => write!(f, "{star}{}", self.host),
        }
    }
}

impl AllowedTarget {
    fn takes(&self, host: &str, port: u16) -> bool {
        let host = host.to_ascii_lowercase();
        let of_host = if self.host.starts_with('.') { host.ends_with(&self.host) } else { host == self.host };
        of_host && self.port.is_none_or(|own| own == port)
    }
}

/// Returns why an agent with this list refuses the plan; `None` if it accepts the plan.
pub(crate) fn refusal(allowed: &[AllowedTarget], plan: &Plan) -> Option<String> {
    if plan.network.unix.is_some() {
        return Some("the plan connects to a unix socket, which is of one machine".to_owned());
    }
    if !plan.network.source_ips.is_empty() {
        return Some("the plan names source addresses, which are of one machine".to_owned());
    }
    let places = places(plan);
    let foreign = places.iter().find(|(host, port)| !allowed.iter().any(|own| own.takes(host, *port)))?;
    let list: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    Some(format!("its --allow list ({}) does not name {}:{}", list.join(", "), foreign.0, foreign.1))
}

/// Returns every host and port that connections of the plan may go to.
fn places(plan: &Plan) -> Vec<(String, u16)> {
    let (host, port) = match &plan.network.connect_to {
        Some(other) => (other.host.clone(), other.port),
        None => (plan.target.host.clone(), plan.target.port),
    };
    let given = plan.network.resolve.iter().filter(|entry| entry.covers(&host, port));
    let mut places: Vec<(String, u16)> =
        given.flat_map(|entry| &entry.addresses).map(|address| (address.to_string(), port)).collect();
    places.push((host, port));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(allowed: &str, host: &str, port: u16) -> bool {
        allowed.parse::<AllowedTarget>().unwrap().takes(host, port)
    }

    #[test]
    fn a_host_with_or_without_a_port_is_allowed() {
        assert!(takes("api.example", "API.example", 80));
        assert!(takes("api.example:443", "api.example", 443));
        assert!(!takes("api.example:443", "api.example", 80));
        assert!(!takes("api.example", "notapi.example", 80));
        assert!(takes("[::1]:8080", "::1", 8080));
        assert!(takes("::1", "::1", 1));
    }

    #[test]
    fn a_domain_allows_all_names_below_it() {
        assert!(takes("*.example", "a.b.example", 80));
        assert!(!takes("*.example", "example", 80));
        assert!(!takes("*.example", "badexample", 80));
    }

    #[test]
    fn what_is_no_target_is_refused() {
        for text in ["", "*.", "http://a", "a/b", "a:x", "a:70000", "[::1", "[::1]x", "a b"] {
            assert_eq!(text.parse::<AllowedTarget>(), Err(NoTarget), "{text}");
        }
        for text in ["a.b:80", "*.example", "*.example:1", "[::1]:80", "::1"] {
            assert_eq!(text.parse::<AllowedTarget>().unwrap().to_string(), text);
        }
    }
}
