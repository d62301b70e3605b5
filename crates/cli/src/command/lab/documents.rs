//! The outcome of a lab's run as JSON.

use plimsoll_experiment::{CaseOutcome, JudgedRun, NamedLimit};
use plimsoll_plan::{Expect, Expected};
use plimsoll_report::json::{CaseDocument, ExpectedDocument, FoundDocument, NamedLimitDocument};
use plimsoll_report::words;

use crate::terminal::with_causes;

/// The document of an outcome.
pub(super) fn case_document(outcome: &CaseOutcome) -> CaseDocument {
    match outcome {
        CaseOutcome::Judged(judged) => judged_document(judged),
        CaseOutcome::Failed { name, expected, error } => CaseDocument {
            name: name.clone(),
            expected: expected.as_ref().map(expected_document),
            found: None,
            also: Vec::new(),
            confidence: None,
            right: Some(false),
            text: with_causes(error),
            throughput_per_sec: None,
            connections: None,
            p99_ms: None,
            file: None,
        },
    }
}

fn judged_document(judged: &JudgedRun) -> CaseDocument {
    let found = &judged.found;
    CaseDocument {
        name: judged.name.clone(),
        expected: judged.expected.as_ref().map(expected_document),
        found: Some(FoundDocument { named: named_document(&found.named), size: found.size }),
        also: found.also.iter().map(named_document).collect(),
        confidence: Some(found.confidence.name().to_owned()),
        right: judged.as_expected(),
        text: words::summary(&judged.verdict),
        throughput_per_sec: judged.peak.map(|peak| peak.throughput_per_sec),
        connections: judged.peak.map(|peak| peak.connections),
        p99_ms: judged.peak.and_then(|peak| peak.p99_ns).map(|ns| ns / 1e6),
        file: Some(judged.file.to_string_lossy().into_owned()),
    }
}

fn named_document(named: &NamedLimit) -> NamedLimitDocument {
    NamedLimitDocument { limit: named.limit.name().to_owned(), host: Some(named.host.clone()) }
}

/// An expectation: the first of its limits, and all of them if there are several.
fn expected_document(expected: &Expect) -> ExpectedDocument {
    let one = |expected: &Expected| NamedLimitDocument {
        limit: expected.limit.clone(),
        host: expected.host.clone(),
    };
    let all: Vec<NamedLimitDocument> = expected.limits.iter().map(one).collect();
    let first =
        all.first().cloned().unwrap_or_else(|| NamedLimitDocument { limit: String::new(), host: None });
    ExpectedDocument {
        named: first,
        size: expected.size,
        either: if all.len() > 1 { all } else { Vec::new() },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_of_a_tie_holds_all_of_it() {
        let one = |limit: &str| Expected { limit: limit.to_owned(), host: Some("web".to_owned()) };
        let tie = Expect { limits: vec![one("cpu"), one("bandwidth")], size: None };
        let tie = serde_json::to_value(expected_document(&tie)).unwrap();
        assert_eq!((&tie["limit"], &tie["where"]), (&json!("cpu"), &json!("web")));
        assert_eq!(tie["either"][1]["limit"], "bandwidth");
    }
}
