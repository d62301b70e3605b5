//! Reports of runs whose hosts were sampled.

use plimsoll_analyze::{
    Advice, At, Claim, Confidence, Demand, Estimate, Evidence, Excluded, Law, Limit, NextLimit, Observation,
    Part, Place, Resource, ResourceKind, ResourceUse, Suspect, Used, Verdict,
};
use plimsoll_record::RunCommand;
use plimsoll_report::{Values, json, text};

use super::sample::{self, Sample};

fn resource(kind: ResourceKind, (host, part): (&str, Part), capacity: f64, per_request: f64) -> Resource {
    let used = |index: usize| {
        Some(per_request * [212.0, 418.0, 830.0, 1610.0, 3050.0, 3190.0, 3171.0, 3160.0][index])
    };
    let exact = |value: f64| Estimate { value, interval: Some((0.98 * value, 1.02 * value)) };
    Resource {
        kind,
        host: host.to_owned(),
        part,
        capacity: Some(capacity),
        used: (0..8).map(used).collect(),
        others: Vec::new(),
        demand: Some(Demand {
            per_request: exact(per_request),
            idle: 0.01,
            at_per_sec: Some(exact(capacity / per_request)),
            law: Law::Holds,
        }),
    }
}

/// A ladder whose limit is one nginx worker, with a name that holds an escape sequence.
fn watched() -> Sample {
    let mut sample = sample::healthy(RunCommand::Answer);
    let row = |observed: Observation, value: f64| Evidence {
        observed,
        value,
        of: Some(1.0),
        at: At::Connections(32),
    };
    let worker = Part::Thread { pid: 7, tid: 7, name: "nginx\u{1b}[2J".to_owned() };
    sample.findings.resources = vec![
        resource(ResourceKind::Thread, ("web", worker), 1.0, 310e-6),
        resource(ResourceKind::Cpu, ("web", Part::Whole), 2.0, 312e-6),
        resource(ResourceKind::Cpu, ("api", Part::Whole), 4.0, 400e-6),
        resource(ResourceKind::BandwidthOut, ("web", Part::Interface("eth0".to_owned())), 200e6, 33_000.0),
    ];
    let [thread, cpu, api, link] = &sample.findings.resources[..] else { panic!("four resources") };
    let used = Used { share: 0.989, capacity: 1.0, per_sec: 3190.0, per_request: Some(310e-6) };
    sample.findings.verdict = Verdict {
        claim: Some(Claim::Thread { used, waited: None, alike: 1, idle: Some(0.502) }),
        evidence: vec![
            row(Observation::Thread(thread.id()), 0.989),
            row(Observation::Cpu { host: cpu.host.clone() }, 0.498),
        ],
        also: vec![Suspect { limit: Limit::Cpu, place: Place::host("api"), at_per_sec: Some(3300.0) }],
        next_limit: Some(NextLimit {
            limit: Limit::Bandwidth,
            place: link.place(),
            resource: link.id(),
            at_per_sec: Estimate { value: 6060.0, interval: Some((5900.0, 6200.0)) },
        }),
        excluded: vec![Excluded::MostUsed(ResourceUse { resource: api.id(), share: 0.32 })],
        advice: vec![Advice::AnotherWorker(Some(32))],
        ..Verdict::new(Limit::Thread, Place::process("web", "nginx\u{1b}[2J"), Confidence::Measured)
    };
    sample
}

#[test]
fn a_verdict_from_hosts_is_reported_with_what_else_was_observed() {
    let Sample { run, findings } = watched();
    let text = text::full(&run, &findings);
    assert!(text.contains("What limits it: nginx\\u{1b}[2J on web is the limit"), "{text}");
    assert!(text.contains("Ruled out\n  - api:"), "{text}");
    assert!(!text.contains("not known."), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn an_explanation_has_the_verdict_and_every_resource() {
    let Sample { run, findings } = watched();
    let text = text::explanation(&run, &findings);
    insta::with_settings!({omit_expression => true, prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("explanation", text);
    });
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn json_names_the_limit_its_rivals_and_the_next() {
    let Sample { run, findings } = watched();
    let document = serde_json::to_value(json::Document::new(&run, &findings, Values::Hidden)).unwrap();
    let verdict = &document["verdict"];
    assert_eq!(
        (verdict["limit"].as_str(), verdict["where"].as_str()),
        (Some("thread"), Some("web: nginx\u{1b}[2J"))
    );
    assert_eq!(verdict["also"][0]["where"], "api");
    assert_eq!(verdict["next_limit"]["limit"], "bandwidth");
    assert_eq!(verdict["next_limit"]["interval"][0], 5900.0);
    let validator = jsonschema::validator_for(&json::schema_of::<json::Document>()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    let explained: serde_json::Value =
        serde_json::from_str(&json::render(&json::ExplanationDocument::new(&findings)).unwrap()).unwrap();
    assert_eq!(explained["verdict"], *verdict);
    assert_eq!(explained["resources"][0]["demand"]["law"], "holds");
}
