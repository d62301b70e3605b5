//! The outcome of a lab's run as JSON.

use plimsoll_analyze::{Limit, Verdict};
use plimsoll_experiment::CaseOutcome;
use plimsoll_plan::{Expect, Expected};
use plimsoll_report::json::{CaseDocument, ExpectedDocument, FoundDocument, NamedLimitDocument};
use plimsoll_report::words;

use crate::terminal::with_causes;

pub(super) fn case_document(outcome: &CaseOutcome) -> CaseDocument {
    let judged = outcome.judged();
    let (verdict, peak) = (judged.map(|judged| &judged.verdict), judged.and_then(|judged| judged.peak));
    let named = |limit: Limit, host: &str| NamedLimitDocument {
        limit: limit.name().to_owned(),
        host: Some(host.to_owned()),
    };
    let also =
        |verdict: &Verdict| verdict.also.iter().map(|suspect| named(suspect.limit, suspect.host())).collect();
    CaseDocument {
        name: outcome.name.clone(),
        expected: outcome.expected.as_ref().map(expected_document),
        found: judged.map(|judged| FoundDocument {
            named: named(judged.verdict.limit, judged.verdict.host()),
            size: judged.size(),
        }),
        overload: judged.and_then(|judged| judged.overload).map(|class| class.name().to_owned()),
        ramp: judged.and_then(|judged| judged.ramp).map(|effect| effect.name().to_owned()),
        also: verdict.map(also).unwrap_or_default(),
        confidence: verdict.map(|verdict| verdict.confidence.name().to_owned()),
        right: outcome.as_expected(),
        text: match &outcome.result {
            Ok(judged) => words::summary(&judged.verdict),
            Err(error) => with_causes(error),
        },
        throughput_per_sec: peak.map(|peak| peak.throughput_per_sec),
        lower_bound: peak.map(|peak| peak.lower_bound),
        connections: peak.map(|peak| peak.connections),
        p99_ms: peak.and_then(|peak| peak.p99_ns).map(|ns| ns / 1e6),
        file: outcome.file().map(|file| file.to_string_lossy().into_owned()),
    }
}

/// Converts an expectation: the first of its limits, and all of them if there are several.
fn expected_document(expected: &Expect) -> ExpectedDocument {
    let one = |expected: &Expected| NamedLimitDocument {
        limit: expected.limit.name().to_owned(),
        host: expected.host.clone(),
    };
    let all: Vec<NamedLimitDocument> = expected.limits.iter().map(one).collect();
    let none = NamedLimitDocument { limit: String::new(), host: None };
    ExpectedDocument {
        named: all.first().cloned().unwrap_or(none),
        size: expected.size,
        overload: expected.overload.iter().map(|class| class.name().to_owned()).collect(),
        ramp: expected.ramp.map(|effect| effect.name().to_owned()),
        either: if all.len() > 1 { all } else { Vec::new() },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_of_a_tie_holds_all_of_it() {
        let one = |limit| Expected { limit, host: Some("web".to_owned()) };
        let tie = Expect {
            limits: vec![one(Limit::Cpu), one(Limit::Bandwidth)],
            size: None,
            overload: Vec::new(),
            ramp: None,
        };
        let tie = serde_json::to_value(expected_document(&tie)).unwrap();
        assert_eq!((&tie["limit"], &tie["where"]), (&json!("cpu"), &json!("web")));
        assert_eq!(tie["either"][1]["limit"], "bandwidth");
    }
}
