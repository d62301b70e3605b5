//! Hides private values in documents and figures, which are passed on where a run file is not.
//!
//! Credentials in headers are always hidden; the values of queries and the bodies of requests unless they are asked for.

use plimsoll_analyze::{Findings, RateSearch, StepSummary};
use plimsoll_plan::{HIDDEN, HIDDEN_VALUE, Plan, is_credential, without_query_values};
use serde_json::Value;

/// Whether the values of queries and the bodies of requests are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Values {
    #[default]
    Hidden,
    Shown,
}

/// Returns the findings for figures and tables, without query values in the target's URL and in the names of requests.
pub fn for_figures(findings: &Findings, values: Values) -> Findings {
    let mut findings = findings.clone();
    if values == Values::Hidden {
        findings.plan.target.url = shown_url(&findings, values);
        findings.steps = shown_steps(&findings, values);
    }
    findings
}

/// The target's URL.
pub(crate) fn shown_url(findings: &Findings, values: Values) -> String {
    let url = &findings.plan.target.url;
    if values == Values::Hidden { without_query_values(url) } else { url.clone() }
}

/// Returns the steps without query values in the names of their requests.
pub(crate) fn shown_steps(findings: &Findings, values: Values) -> Vec<StepSummary> {
    let mut steps = findings.steps.clone();
    steps.iter_mut().for_each(|step| hide_names(step, values));
    steps
}

/// Returns the search without query values in the names of its steps' requests.
pub(crate) fn shown_search(findings: &Findings, values: Values) -> Option<RateSearch> {
    let mut search = findings.search.clone()?;
    search.trials.iter_mut().for_each(|trial| hide_names(&mut trial.step, values));
    Some(search)
}

fn hide_names(step: &mut StepSummary, values: Values) {
    for request in step.requests.iter_mut().filter(|_| values == Values::Hidden) {
        request.name = without_query_values(&request.name);
    }
}

/// Returns the stored plan as a document shows it; null if the plan cannot be read.
pub(crate) fn shown_plan(stored: &str, values: Values) -> Value {
    let mut plan: Value = serde_json::from_str(stored).unwrap_or(Value::Null);
    let redacted: Vec<String> = plan["redact"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| Some(name.as_str()?.to_owned()))
        .collect();
    let hide = |request: &mut Value| {
        hide_headers(request, &redacted);
        if values == Values::Hidden {
            hide_values(request);
        }
    };
    plan.get_mut("target").into_iter().for_each(hide);
    // A request without a name of its own is called by its path.
    plan.get_mut("requests").and_then(Value::as_array_mut).into_iter().flatten().for_each(hide);
    for part in ["hosts", "profile"] {
        plan.get_mut(part).filter(|_| values == Values::Hidden).into_iter().for_each(hide_values_of_pages);
    }
    plan.get_mut("mix").and_then(Value::as_array_mut).into_iter().flatten().for_each(hide);
    plan
}

/// Returns the stored plan without the values that documents hide, in the form of a run file. `None` if the result cannot
/// be read as a plan.
pub fn shareable_plan(stored: &str) -> Option<String> {
    let mut plan = shown_plan(stored, Values::Hidden);
    let as_bytes = |request: &mut Value| {
        if let Some(body) = request.get_mut("body").filter(|body| body.as_str() == Some(HIDDEN)) {
            *body = Value::from(HIDDEN.as_bytes());
        }
    };
    plan.get_mut("target").into_iter().for_each(as_bytes);
    plan.get_mut("mix").and_then(Value::as_array_mut).into_iter().flatten().for_each(as_bytes);
    let text = plan.to_string();
    Plan::from_json(&text).is_ok().then_some(text)
}

/// Hides the values of a request's secret headers, each a pair of name and value.
fn hide_headers(request: &mut Value, redacted: &[String]) {
    let headers = request.get_mut("headers").and_then(Value::as_array_mut);
    for header in headers.into_iter().flatten() {
        let name = header.get(0).and_then(Value::as_str);
        if name.is_some_and(|name| is_credential(name, redacted))
            && let Some(value) = header.get_mut(1)
        {
            *value = Value::from(HIDDEN);
        }
    }
}

/// Headers, in lower case, that hold no credentials.
const HARMLESS: [&str; 10] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-type",
    "host",
    "user-agent",
];

/// Returns a header as typed, `Name: value`, with its value only if headers of this name hold no credentials. `redacted`
/// has names in lower case. A plan file may name others, so the values of all unknown headers are hidden.
pub fn shown_header(header: &str, redacted: &[String]) -> String {
    let Some((name, _)) = header.split_once(':') else { return header.to_owned() };
    let known = name.trim().to_ascii_lowercase();
    match HARMLESS.contains(&known.as_str()) && !redacted.contains(&known) {
        true => header.to_owned(),
        false => format!("{name}: {HIDDEN}"),
    }
}

/// A URL as typed, without its login and without the values of its query.
pub fn shown_address(address: &str) -> String {
    let login = |rest: &str| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.rfind('@')
    };
    without_query_values(&without_login(address, login))
}

/// Returns a sentence without query values in its URLs and paths, such as those of pages that cannot be read.
pub(crate) fn shown_sentence(text: &str) -> String {
    let shown = |word: &str| {
        let address = word.strip_suffix(',').unwrap_or(word);
        if address.contains('?') { shown_address(address) + &word[address.len()..] } else { word.to_owned() }
    };
    text.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

/// Returns the value of an option as typed; an address without a possible login and without query values. A password may
/// contain any character, so everything up to the last `@` is hidden. The user of `ssh://user@host` is no secret.
pub fn shown_setting(value: &str) -> String {
    if !value.contains("://") {
        return value.to_owned();
    }
    without_query_values(&without_login(value, |rest| rest.rfind('@')))
}

/// Returns the addresses of a broker as typed, separated by commas, each as [`shown_setting`] shows it. A comma always
/// ends an address, because no user or password of a broker can contain one.
pub fn shown_brokers(value: &str) -> String {
    value.split(',').map(shown_setting).collect::<Vec<_>>().join(",")
}

/// Hides the login of an address: all from its scheme to the position that `login_end` finds after the scheme.
fn without_login(address: &str, login_end: impl Fn(&str) -> Option<usize>) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) if !scheme.ends_with("ssh") => match login_end(rest) {
            Some(end) => format!("{scheme}://{HIDDEN_VALUE}{}", &rest[end..]),
            None => address.to_owned(),
        },
        _ => address.to_owned(),
    }
}

/// Hides a request's body, and the values of its query.
fn hide_values(request: &mut Value) {
    for part in ["name", "path", "url"] {
        if let Some(Value::String(text)) = request.get_mut(part) {
            *text = without_query_values(text);
        }
    }
    let is_empty = |body: &Value| match body {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(bytes) => bytes.is_empty(),
        _ => false,
    };
    if let Some(body) = request.get_mut("body").filter(|body| !is_empty(body)) {
        *body = Value::from(HIDDEN);
    }
}

/// Hides query values in every text, because pages of probes and profilers are requested by URL.
fn hide_values_of_pages(part: &mut Value) {
    match part {
        Value::String(text) => *text = without_query_values(text),
        Value::Array(items) => items.iter_mut().for_each(hide_values_of_pages),
        Value::Object(fields) => fields.values_mut().for_each(hide_values_of_pages),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secrets_are_hidden_by_the_names_of_their_headers_and_values_unless_asked_for() {
        let stored = json!({
            "target": {
                "url": "http://a/x?user=ann&b=&token", "path": "/x?user=ann&b=&token", "body": [104, 105],
                "headers": [["Authorization", "1"], ["X-Api-Key", "2"], ["Accept", "3"], ["X-Internal", "4"]],
            },
            "requests": [{ "name": "GET /x?user=ann" }],
            "mix": [{ "path": "/y", "headers": [["Set-Cookie2", "5"]], "body": "" }],
            "hosts": [{ "probes": ["prometheus=http://b/metrics?token=t"] }],
            "profile": { "profiler": "http://b/debug?key=k#part" },
            "redact": ["x-internal"],
        });
        let hidden = shown_plan(&stored.to_string(), Values::Hidden);
        assert_eq!(hidden["target"]["url"], "http://a/x?user=…&b=…&…");
        assert_eq!(hidden["target"]["body"], HIDDEN);
        assert_eq!(hidden["requests"][0]["name"], "GET /x?user=…");
        assert_eq!(hidden["hosts"][0]["probes"][0], "prometheus=http://b/metrics?token=…");
        assert_eq!(hidden["profile"]["profiler"], "http://b/debug?key=…#…");
        let values = |plan: &Value| {
            let headers = plan["target"]["headers"].as_array().unwrap().clone();
            headers.iter().map(|pair| pair[1].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(values(&hidden), [HIDDEN, HIDDEN, "3", HIDDEN]);
        assert_eq!(
            (&hidden["mix"][0]["headers"][0][1], &hidden["mix"][0]["body"]),
            (&json!(HIDDEN), &json!(""))
        );
        let shown = shown_plan(&stored.to_string(), Values::Shown);
        assert_eq!(shown["target"]["path"], "/x?user=ann&b=&token");
        assert_eq!(values(&shown), [HIDDEN, HIDDEN, "3", HIDDEN], "a credential is never shown");
        assert_eq!(shown_plan("not a plan", Values::Shown), Value::Null);
    }

    #[test]
    fn what_is_typed_is_shown_without_credentials_logins_and_values() {
        let redacted = ["x-internal".to_owned()];
        for (typed, shown) in [
            ("Accept: a:b", "Accept: a:b"),
            ("authorization: Bearer s3cret", "authorization: (hidden)"),
            ("X-Internal:s3cret", "X-Internal: (hidden)"),
        ] {
            assert_eq!(shown_header(typed, &redacted), shown);
        }
        for (typed, shown) in [
            ("http://a:1/x?key=s3cret&s3cret", "http://a:1/x?key=…&…"),
            ("db=mariadb://ann:s3cret@a:3306", "db=mariadb://…@a:3306"),
            ("nats://s3cret@a:4222", "nats://…@a:4222"),
            ("http://a/ann@b", "http://a/ann@b"),
            ("web=ssh://ann@a", "web=ssh://ann@a"),
            ("a:1/x?key=s3cret", "a:1/x?key=…"),
        ] {
            assert_eq!(shown_address(typed), shown);
        }
    }

    #[test]
    fn of_several_brokers_only_the_logins_are_hidden() {
        for (typed, shown) in [
            ("nats://user:pw@a:4222,nats://user:pw@b:4222", "nats://…@a:4222,nats://…@b:4222"),
            ("nats://a:1,tls://p@w@b:2,nats://c", "nats://a:1,tls://…@b:2,nats://c"),
            ("nats://a:4222", "nats://a:4222"),
        ] {
            assert_eq!(shown_brokers(typed), shown);
        }
    }

    #[test]
    fn a_sentence_names_pages_without_the_values_of_their_queries() {
        for (text, shown) in [
            ("nginx+http://a:1/x?k=s3cret on host b: 503?", "nginx+http://a:1/x?k=… on host b: 503?"),
            ("GET /x?k=s3cret&n=1, 0 headers", "GET /x?k=…&n=…, 0 headers"),
            ("no answer of mariadb://ann@a:3306", "no answer of mariadb://ann@a:3306"),
            ("what now?", "what now?"),
        ] {
            assert_eq!(shown_sentence(text), shown);
        }
    }
}
