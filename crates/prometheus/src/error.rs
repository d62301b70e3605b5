//! Errors of queries.

use std::io;
use std::time::Duration;

use plimsoll_units::duration_text;

/// Why a query has no answer, with advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("could not connect to {place} ({reason}); see that Prometheus runs and listens there")]
    Unreachable { place: String, reason: String },
    #[error(
        "could not connect to {place} through the proxy {proxy} ({reason}); see that the proxy runs and allows it, or name the \
         server in NO_PROXY if it is reached without"
    )]
    Proxy { place: String, proxy: String, reason: String },
    #[error(
        "{place} did not answer within {}; see that it is up, allow more with --timeout, or ask for less with --last, --step or \
         --selector",
        duration_text(timeout.as_nanos() as f64)
    )]
    Late { place: String, timeout: Duration },
    #[error(
        "{place} broke off its answer ({reason}); see its log, or ask for less with --last or --selector"
    )]
    Broken { place: String, reason: String },
    #[error(
        "the certificate of {place} is not accepted ({reason}); name its authority, or the certificate itself, with --cacert FILE"
    )]
    Certificate { place: String, reason: String },
    #[error(
        "{place} wants a login (status {status}); give one with --header 'Authorization: Bearer env:NAME'"
    )]
    Login { place: String, status: u16 },
    #[error(
        "{place} answered with status {status} and `{said}`, which is no answer of Prometheus's API; see that the URL is right, \
         with the prefix before /api/v1 if there is one"
    )]
    NoApi { place: String, status: u16, said: String },
    #[error("Prometheus does not understand the query `{query}`: {said}")]
    Query { query: String, said: String },
    #[error("Prometheus gave up the query `{query}`: {said}; ask for less with --last, --step or --selector")]
    TooMuch { query: String, said: String },
    #[error("Prometheus is not available just now ({said}); ask again later")]
    Unavailable { said: String },
    #[error("Prometheus could not answer the query `{query}` ({kind}): {said}")]
    Other { query: String, kind: String, said: String },
    #[error("the query `{query}` gives {got}, and numbers over time are needed")]
    Type { query: String, got: String },
    #[error(
        "the query `{query}` gives native histograms; write histogram_count(…) or histogram_sum(…) around it"
    )]
    Histograms { query: String },
}

impl QueryError {
    /// Whether the query itself is wrong, so that it fails with any server and at any time.
    pub fn is_mistake(&self) -> bool {
        matches!(self, Self::Query { .. } | Self::Type { .. } | Self::Histograms { .. })
    }

    /// Whether no connection could be opened, so that the server is unreachable for any query.
    pub(crate) fn is_without_connection(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Proxy { .. } | Self::Certificate { .. })
    }

    /// Whether every later query would fail too.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Self::Login { .. } | Self::NoApi { .. })
    }

    /// Converts an error of the API: its type, and its message (Prometheus, *HTTP API*, format overview).
    pub(crate) fn from_api(query: &str, kind: &str, said: String) -> Self {
        let query = query.to_owned();
        let loads_too_much = said.contains("too many samples") || said.contains("resolution of");
        // Mimir, Cortex and Thanos report errors of their storage as errors of execution.
        let is_of_storage = said.contains("expanding series") || said.contains("rpc error");
        match kind {
            "timeout" | "canceled" => Self::TooMuch { query, said },
            "execution" | "bad_data" if loads_too_much => Self::TooMuch { query, said },
            "execution" if names_limit(&said) => Self::TooMuch { query, said },
            "execution" if is_of_storage => Self::Unavailable { said },
            "bad_data" | "execution" => Self::Query { query, said },
            "unavailable" => Self::Unavailable { said },
            kind => Self::Other { query, kind: kind.to_owned(), said },
        }
    }

    /// Converts an error of the HTTP client, with or without a proxy.
    pub(crate) fn from_http(place: &str, proxy: Option<&str>, timeout: Duration, error: ureq::Error) -> Self {
        let place = place.to_owned();
        let unreachable = |place, reason: &dyn std::fmt::Display| {
            let reason = reason.to_string();
            match proxy {
                Some(proxy) => Self::Proxy { place, proxy: proxy.to_owned(), reason },
                None => Self::Unreachable { place, reason },
            }
        };
        match error {
            ureq::Error::Timeout(_) => Self::Late { place, timeout },
            ureq::Error::Io(error)
                if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) =>
            {
                Self::Late { place, timeout }
            }
            ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                unreachable(place, &error)
            }
            ureq::Error::Io(error) if is_certificate(&error) => {
                Self::Certificate { place, reason: error.to_string() }
            }
            ureq::Error::HostNotFound => unreachable(place, &"the name has no address"),
            ureq::Error::ConnectionFailed => unreachable(place, &"no connection"),
            ureq::Error::ConnectProxyFailed(reason) => unreachable(place, &reason),
            other => Self::Broken { place, reason: other.to_string() },
        }
    }
}

/// Whether a message mentions a limit, such as `the query exceeded the maximum number of series (limit: 5000)`. Words within names of
/// metrics, which a message may quote, do not count: `container_spec_memory_limit_bytes`.
fn names_limit(said: &str) -> bool {
    let is_part_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
    let words = said.split(|letter| !is_part_of_name(letter));
    // `limit:` is the word followed by a colon.
    let mut words = words.map(|word| word.trim_end_matches(':').to_ascii_lowercase());
    words.any(|word| matches!(word.as_str(), "limit" | "limits" | "exceed" | "exceeds" | "exceeded"))
}

/// Whether TLS rejected the server's certificate.
fn is_certificate(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    matches!(inner, Some(rustls::Error::InvalidCertificate(_)))
}
