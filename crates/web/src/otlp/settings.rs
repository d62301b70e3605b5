//! Where and how metrics are pushed, from a URL and OpenTelemetry's environment variables.

use std::str::FromStr;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Uri};
use percent_encoding::percent_decode_str;

/// The path that is added to a URL without one, as OpenTelemetry's exporters do.
const PATH: &str = "/v1/metrics";
const INTERVAL: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_secs(10);
/// Pushing more often would itself be a load.
const MIN_INTERVAL_MS: u64 = 100;
const SERVICE: &str = "plimsoll";

/// Why metrics cannot be pushed as requested. Errors do not repeat the values of variables, which may be secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OtlpError {
    #[error("--otlp takes the URL of a collector, such as http://127.0.0.1:4318")]
    Url,
    #[error(
        "the URL of --otlp holds a login or a query; put them into OTEL_EXPORTER_OTLP_HEADERS, which no one else sees"
    )]
    Secret,
    #[error(
        "{0} has an entry that is no header; write it like 'api-key=SECRET,x-tenant=shop', with % codes for special characters"
    )]
    Headers(&'static str),
    #[error("{0} is not a number of milliseconds, {1} or more")]
    Milliseconds(&'static str, u64),
    #[error("OTEL_RESOURCE_ATTRIBUTES has an entry that is not of the form key=value")]
    Attributes,
}

/// Where metrics are pushed, how often, and with which attributes.
#[derive(Debug, Clone)]
pub struct OtlpSettings {
    pub(crate) url: String,
    /// The header values are marked as sensitive, so that no debug output shows them.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
    pub(crate) service: String,
    pub(crate) attributes: Vec<(String, String)>,
}

impl OtlpSettings {
    /// Reads the settings from this URL and from the environment, which `variable` looks up. Variables for metrics alone
    /// override those for all signals.
    ///
    /// # Errors
    /// When the URL or a variable is not what it should be.
    pub fn new(url: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, OtlpError> {
        let set = |name: &'static str| Some((name, variable(name).filter(|value| !value.is_empty())?));
        let headers = set("OTEL_EXPORTER_OTLP_METRICS_HEADERS").or_else(|| set("OTEL_EXPORTER_OTLP_HEADERS"));
        let timeout = set("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT").or_else(|| set("OTEL_EXPORTER_OTLP_TIMEOUT"));
        let interval = set("OTEL_METRIC_EXPORT_INTERVAL");
        let mut attributes = set("OTEL_RESOURCE_ATTRIBUTES")
            .map_or(Ok(Vec::new()), |(_, text)| entries(&text).ok_or(OtlpError::Attributes))?;
        let of_attributes = attributes.iter().find(|(key, _)| key == "service.name");
        let service = set("OTEL_SERVICE_NAME").map(|(_, service)| service);
        let service = service.or_else(|| of_attributes.map(|(_, service)| service.clone()));
        attributes.retain(|(key, _)| key != "service.name");
        Ok(Self {
            url: endpoint(url)?,
            headers: headers
                .map_or(Ok(Vec::new()), |(name, text)| read_headers(&text).ok_or(OtlpError::Headers(name)))?,
            interval: interval.map_or(Ok(INTERVAL), |set| milliseconds(&set, MIN_INTERVAL_MS))?,
            timeout: timeout.map_or(Ok(TIMEOUT), |set| milliseconds(&set, 1))?,
            service: service.unwrap_or_else(|| SERVICE.to_owned()),
            attributes,
        })
    }
}

/// Returns the URL that receives the POST requests.
fn endpoint(url: &str) -> Result<String, OtlpError> {
    let uri: Uri = url.parse().map_err(|_| OtlpError::Url)?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    let authority = uri.authority().filter(|authority| is_http && !authority.host().is_empty());
    let authority = authority.ok_or(OtlpError::Url)?;
    if authority.as_str().contains('@') || uri.query().is_some() || url.contains('#') {
        return Err(OtlpError::Secret);
    }
    let base = url.trim_end_matches('/');
    Ok(if matches!(uri.path(), "" | "/") { format!("{base}{PATH}") } else { url.to_owned() })
}

fn milliseconds((name, text): &(&'static str, String), least: u64) -> Result<Duration, OtlpError> {
    let number = text.trim().parse().ok().filter(|ms| *ms >= least);
    number.map(Duration::from_millis).ok_or(OtlpError::Milliseconds(name, least))
}

fn read_headers(text: &str) -> Option<Vec<(HeaderName, HeaderValue)>> {
    let read = |(name, value): (String, String)| {
        let mut value = HeaderValue::from_str(&value).ok()?;
        value.set_sensitive(true);
        Some((HeaderName::from_str(&name).ok()?, value))
    };
    entries(text)?.into_iter().map(read).collect()
}

/// Parses `key=value,key=value` with percent codes, the form of W3C Baggage that OpenTelemetry uses.
fn entries(text: &str) -> Option<Vec<(String, String)>> {
    let read = |entry: &str| {
        let (key, value) = entry.split_once('=')?;
        let decode =
            |text: &str| percent_decode_str(text.trim()).decode_utf8().ok().map(|text| text.into_owned());
        Some((decode(key).filter(|key| !key.is_empty())?, decode(value)?))
    };
    text.split(',').filter(|entry| !entry.trim().is_empty()).map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(url: &str, variables: &[(&str, &str)]) -> Result<OtlpSettings, OtlpError> {
        let find = |name: &str| variables.iter().find(|(known, _)| *known == name);
        OtlpSettings::new(url, |name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_url_without_a_path_gets_that_of_metrics() {
        for (typed, posted) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics"),
            ("http://[::1]:4318/", "http://[::1]:4318/v1/metrics"),
            ("https://otlp.test/otlp/v1/metrics", "https://otlp.test/otlp/v1/metrics"),
        ] {
            assert_eq!(settings(typed, &[]).unwrap().url, posted);
        }
    }

    #[test]
    fn what_is_no_url_or_holds_a_secret_is_refused_without_being_repeated() {
        for typed in ["127.0.0.1:4318", "collector", "grpc://collector:4317", "http://", ""] {
            assert_eq!(settings(typed, &[]).unwrap_err(), OtlpError::Url, "{typed}");
        }
        for typed in ["http://ann:word@collector:4318", "http://collector:4318/v1/metrics?key=word"] {
            assert_eq!(settings(typed, &[]).unwrap_err(), OtlpError::Secret, "{typed}");
        }
    }

    #[test]
    fn variables_of_opentelemetry_count_and_those_of_metrics_first() {
        let read = settings(
            "http://a:1",
            &[
                ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=all"),
                ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "authorization=Basic%20c2VjcmV0, x-tenant=shop"),
                ("OTEL_EXPORTER_OTLP_TIMEOUT", "2500"),
                ("OTEL_METRIC_EXPORT_INTERVAL", "1000"),
                ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment=ci"),
            ],
        );
        let read = read.unwrap();
        let headers: Vec<_> =
            read.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        assert_eq!(headers, [("authorization", &b"Basic c2VjcmV0"[..]), ("x-tenant", b"shop")]);
        assert_eq!((read.timeout, read.interval), (Duration::from_millis(2500), Duration::from_secs(1)));
        assert_eq!(read.service, "other");
        assert_eq!(read.attributes, [("deployment.environment".to_owned(), "ci".to_owned())]);
        assert!(!format!("{read:?}").contains("c2VjcmV0"));
    }

    #[test]
    fn a_wrong_variable_is_named_without_its_value() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_HEADERS", "secret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a b=secret"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "secret"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "99"),
            ("OTEL_RESOURCE_ATTRIBUTES", "secret"),
        ] {
            let error = settings("http://a:1", &[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(name) && !error.contains("secret"), "{error}");
        }
    }
}
