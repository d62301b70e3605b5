//! One condition as it is typed: `p99<200ms`, `success>=99.95%` or `qps>=2k`; k6's threshold syntax is also read.

use std::str::FromStr;

use plimsoll_units::{parse_duration, parse_rate, parse_ratio};

use crate::slo::percent_of;
use crate::{LatencyLimit, PlanError, Slo};

/// One condition of an objective. `<` and `<=` mean the same, and so do `>` and `>=`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Condition {
    Latency(LatencyLimit),
    /// At least this ratio of the requests succeeds.
    Success(f64),
    /// At least this many requests per second are served.
    Throughput(f64),
}

/// Why a text is not a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    #[error("`{0}` is not a condition; {EXAMPLES}")]
    Unreadable(String),
    #[error(
        "`{text}` sets a limit on {name}, which says nothing of the slow responses; take p50 for the usual one and p99 for the slow ones"
    )]
    Unsupported { text: String, name: String },
    #[error("`{text}` bounds {name} from the wrong side; write {name}{operator}…")]
    Direction { text: String, name: String, operator: &'static str },
    #[error("`{text}`: {reason}")]
    Value { text: String, reason: String },
    #[error("`{0}` has a tag or an option of k6, which has no meaning here; write the condition alone")]
    Tagged(String),
}

const EXAMPLES: &str = "write p99<200ms, p50<20ms, max<2s, success>=99.95%, errors<0.1% or qps>=2k";

/// The quantity that a condition limits.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Subject {
    Percentile(f64),
    Success,
    Errors,
    Throughput,
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let compact: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
        if compact.contains(['{', '[']) {
            return Err(ConditionError::Tagged(text.to_owned()));
        }
        let unreadable = || ConditionError::Unreadable(text.to_owned());
        let (metric, rest) = match compact.split_once(':') {
            Some((metric, rest)) => (Some(metric), rest),
            None => (None, compact.as_str()),
        };
        let at = rest.find(['<', '>']).ok_or_else(unreadable)?;
        let (name, rest) = rest.split_at(at);
        let is_upper = rest.starts_with('<');
        let value = rest[1..].strip_prefix('=').unwrap_or(&rest[1..]);
        let subject = subject(metric, name).ok_or_else(|| match name {
            "avg" | "mean" | "min" => {
                ConditionError::Unsupported { text: text.to_owned(), name: name.to_owned() }
            }
            _ => unreadable(),
        })?;
        let wants_upper = matches!(subject, Subject::Percentile(_) | Subject::Errors);
        if is_upper != wants_upper {
            let operator = if wants_upper { "<" } else { ">=" };
            return Err(ConditionError::Direction { text: text.to_owned(), name: name.to_owned(), operator });
        }
        // k6 writes milliseconds without their unit.
        let is_k6 = metric.is_some() || name.contains('(');
        valued(subject, value, is_k6)
            .map_err(|reason| ConditionError::Value { text: text.to_owned(), reason })
    }
}

/// Parses the quantity's name, with the metric before it in k6's syntax.
fn subject(metric: Option<&str>, name: &str) -> Option<Subject> {
    let latency = || {
        let plain = name.replace(['(', ')'], "");
        if plain == "med" { Some(50.0) } else { percent_of(&plain) }.map(Subject::Percentile)
    };
    match (metric, name) {
        (None, "success") | (Some("checks"), "rate") => Some(Subject::Success),
        (None, "errors") | (Some("http_req_failed"), "rate") => Some(Subject::Errors),
        (None, "qps" | "rps") | (Some("http_reqs"), "rate") => Some(Subject::Throughput),
        (None | Some("http_req_duration"), _) => latency(),
        _ => None,
    }
}

fn valued(subject: Subject, value: &str, is_k6: bool) -> Result<Condition, String> {
    let ratio = || parse_ratio(value).map_err(|error| error.to_string());
    Ok(match subject {
        Subject::Percentile(percent) => {
            Condition::Latency(LatencyLimit { percent, limit_ms: limit_ms(value, is_k6)? })
        }
        Subject::Success => successes(ratio()?, "success>=99.9%")?,
        Subject::Errors => successes(1.0 - ratio()?, "errors<1%")?,
        Subject::Throughput => Condition::Throughput(parse_rate(value).map_err(|error| error.to_string())?),
    })
}

/// A success ratio of 0 would hold even if every request fails; it is a mistake, such as `errors<1` for `errors<1%`.
const ALL_MAY_FAIL: &str = "it allows every request to fail";

/// Returns the condition that at least this ratio of requests succeeds.
fn successes(ratio: f64, instead: &str) -> Result<Condition, String> {
    if ratio > 0.0 { Ok(Condition::Success(ratio)) } else { Err(format!("{ALL_MAY_FAIL}; write {instead}")) }
}

/// Parses a limit of latency in milliseconds. Outside k6's syntax a unit is required: a limit of 200 s that was meant as 200 ms
/// would always hold.
fn limit_ms(value: &str, is_k6: bool) -> Result<f64, String> {
    match value.parse::<f64>() {
        Ok(ms) if is_k6 && ms > 0.0 && ms.is_finite() => Ok(ms),
        Ok(_) if is_k6 => Err("a limit of latency is above 0".to_owned()),
        Ok(_) => Err(format!("`{value}` has no unit; write {value}ms or {value}s")),
        Err(_) => {
            parse_duration(value).map(|limit| limit.as_secs_f64() * 1e3).map_err(|error| error.to_string())
        }
    }
}

impl Slo {
    /// Combines conditions into one objective.
    ///
    /// # Errors
    /// When two conditions limit the same quantity, or a value is out of its range. A success ratio of 0 is out of range, because
    /// it allows every request to fail.
    pub fn of_conditions(conditions: impl IntoIterator<Item = Condition>) -> Result<Self, PlanError> {
        let mut slo = Self::default();
        for condition in conditions {
            let (name, is_second) = match condition {
                Condition::Latency(limit) => {
                    slo.latency.push(limit);
                    (limit.name(), false)
                }
                Condition::Success(ratio) if ratio <= 0.0 => {
                    let expected = format!("above 0, or {ALL_MAY_FAIL}");
                    return Err(PlanError::range("the success ratio", ratio, expected));
                }
                Condition::Success(ratio) => {
                    ("success".to_owned(), slo.success_ratio.replace(ratio).is_some())
                }
                Condition::Throughput(rate) => {
                    ("qps".to_owned(), slo.throughput_per_sec.replace(rate).is_some())
                }
            };
            if is_second {
                return Err(PlanError::TwoLimits { name });
            }
        }
        let slo = slo.sorted();
        slo.check()?;
        Ok(slo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Condition {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn latency(percent: f64, limit_ms: f64) -> Condition {
        Condition::Latency(LatencyLimit { percent, limit_ms })
    }

    #[test]
    fn conditions_are_read_in_our_spelling_and_in_that_of_k6() {
        assert_eq!(read("p99<200ms"), latency(99.0, 200.0));
        assert_eq!(read(" p99.9 <= 1.5s "), latency(99.9, 1500.0));
        assert_eq!(read("p(95)<200"), latency(95.0, 200.0));
        assert_eq!(read("http_req_duration: p(99.9)<500"), latency(99.9, 500.0));
        assert_eq!(read("med<20ms"), latency(50.0, 20.0));
        assert_eq!(read("http_req_duration: med<20"), latency(50.0, 20.0));
        assert_eq!(read("max<2s"), latency(100.0, 2000.0));
        assert_eq!(read("success>=99.95%"), Condition::Success(0.9995));
        assert_eq!(read("checks: rate>0.9"), Condition::Success(0.9));
        assert_eq!(read("errors<1%"), Condition::Success(0.99));
        assert_eq!(read("http_req_failed: rate<0.01"), Condition::Success(0.99));
        assert_eq!(read("qps>=2k"), Condition::Throughput(2000.0));
        assert_eq!(read("http_reqs: rate>=150"), Condition::Throughput(150.0));
    }

    #[test]
    fn what_is_no_condition_is_refused_with_what_to_write() {
        let refused = |text: &str| text.parse::<Condition>().unwrap_err();
        for text in
            ["", "p99", "p99=200ms", "p0<1s", "p101<1s", "latency<1s", "rate<0.1", "iterations: p(95)<2"]
        {
            assert!(matches!(refused(text), ConditionError::Unreadable(_)), "{text}");
        }
        assert!(matches!(refused("p99<200"), ConditionError::Value { .. }), "no unit");
        assert!(matches!(refused("success>=99.95"), ConditionError::Value { .. }), "no per cent");
        for all_may_fail in
            ["errors<1", "errors<=100%", "http_req_failed: rate<1.0", "success>=0", "checks: rate>0%"]
        {
            assert!(matches!(refused(all_may_fail), ConditionError::Value { .. }), "{all_may_fail}");
        }
        assert!(refused("errors<1").to_string().contains("write errors<1%"), "{}", refused("errors<1"));
        assert!(matches!(refused("p(95)<-5"), ConditionError::Value { .. }));
        assert!(matches!(refused("p99>200ms"), ConditionError::Direction { operator: "<", .. }));
        assert!(matches!(refused("success<99%"), ConditionError::Direction { operator: ">=", .. }));
        assert!(matches!(refused("avg<20ms"), ConditionError::Unsupported { .. }));
        assert!(matches!(refused("http_req_duration{a:b}: p(95)<2"), ConditionError::Tagged(_)));
    }

    #[test]
    fn a_success_ratio_of_0_is_refused_wherever_it_was_typed() {
        let of = |ratio| Slo::of_conditions([Condition::Success(ratio)]);
        assert_eq!(of(0.001).unwrap().success_ratio, Some(0.001));
        let refused = of(0.0).unwrap_err().to_string();
        assert!(refused.contains("it allows every request to fail"), "{refused}");
    }

    #[test]
    fn two_limits_of_the_same_are_a_contradiction() {
        let of = |texts: &[&str]| Slo::of_conditions(texts.iter().map(|text| read(text)));
        let slo = of(&["p99<200ms", "p50<20ms", "success>99%"]).unwrap();
        assert_eq!(slo.latency.iter().map(LatencyLimit::name).collect::<Vec<_>>(), ["p50", "p99"]);
        for twice in [["p99<200ms", "p(99)<300"], ["success>99%", "errors<5%"], ["qps>1k", "rps>2k"]] {
            assert!(matches!(of(&twice), Err(PlanError::TwoLimits { .. })), "{twice:?}");
        }
    }
}
