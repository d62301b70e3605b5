//! Runs of several requests, of checks, of encrypted connections, and of a rate that changes.

use std::time::Duration;

use plimsoll_analyze::{Estimate, RampWindow, RequestSummary, Steadiness, StepSummary};
use plimsoll_plan::{ArrivalProcess, LoadSpec, RequestGroup, Slo};
use plimsoll_record::{FailureKind, RunCommand, StepEnd, TlsUsed};

use super::sample::{self, Sample};

fn of_request(name: &str, per_sec: f64, mean_ms: f64) -> RequestSummary {
    let StepSummary { counts, success_ratio, success_interval, throughput, .. } = sample::step(0, 1, per_sec);
    let latency = sample::times(counts.completed, mean_ms);
    RequestSummary {
        name: name.to_owned(),
        counts,
        success_ratio,
        success_interval,
        throughput_per_sec: throughput.value,
        latency,
        service: latency,
    }
}

/// Three requests with two checks over HTTP/2 and TLS; one request is slow and fails a check.
pub(super) fn several_requests(command: RunCommand) -> Sample {
    let mut sample = sample::healthy(command);
    let plan = &mut sample.findings.plan;
    let names = ["GET /healthz", "GET /orders?page=\"1\"", "POST /orders"];
    plan.requests = names.map(|name| RequestGroup { name: name.to_owned() }).to_vec();
    plan.checks = vec!["status=200".to_owned(), "json:/code=200".to_owned()];
    let mut requests = [(2000.0, 1.2), (900.0, 4.8), (100.0, 61.0)]
        .into_iter()
        .zip(names)
        .map(|((per_sec, mean), name)| of_request(name, per_sec, mean))
        .collect::<Vec<_>>();
    let failing = &mut requests[2];
    failing.counts.ok -= 40;
    failing.counts.checks.add(1, 40);
    failing.counts.failed.add(FailureKind::H2Refused, 7);
    failing.success_ratio = failing.counts.success_ratio();
    let checks = failing.counts.checks.clone();
    for step in &mut sample.findings.steps {
        step.counts.checks = checks.clone();
        step.counts.ok -= 40;
        step.counts.failed.add(FailureKind::H2Refused, 7);
        step.success_ratio = step.counts.success_ratio();
        step.depth = 8;
        (step.counts.connects, step.counts.handshakes, step.counts.resumed) = (90, 88, 64);
        step.connect = sample::times(26, 2.4);
        step.handshake = sample::times(25, 2.1);
        step.requests = requests.clone();
    }
    if command == RunCommand::Run {
        sample.findings.plan.load = run_load(None);
        sample.findings.steps.drain(..5);
        (sample.findings.knee, sample.findings.usl, sample.findings.slo) = (None, None, None);
    }
    let manifest = &mut sample.run.manifest;
    (manifest.protocol, manifest.driver) = ("HTTP/2".to_owned(), "io_uring".to_owned());
    manifest.tls = Some(TlsUsed {
        version: "TLS 1.3".to_owned(),
        cipher: "TLS13_AES_256_GCM_SHA384".to_owned(),
        resumption: true,
        verified: false,
        peer: Some("CN=harbour".to_owned()),
    });
    sample
}

fn run_load(rate: Option<&str>) -> plimsoll_plan::Load {
    let load = LoadSpec::Single {
        connections: Some(32),
        profile: rate.map(|text| text.parse().unwrap()),
        arrivals: ArrivalProcess::Constant,
        duration: rate.is_none().then_some(Duration::from_secs(10)),
        requests_max: None,
    };
    sample::plan(load, Slo::default()).load
}

/// A rate that rises, is held, and is more than the target keeps up with at its end.
pub(super) fn ramp() -> Sample {
    let mut sample = sample::behind();
    sample.findings.plan.load = run_load(Some("ramp(0,2k,20s) const(2k,10s) step(2k,6k,500,1s)"));
    sample.findings.slo = None;
    let step = &mut sample.findings.steps[0];
    (step.steadiness, step.end, step.warmup_sec) = (Steadiness::Ramp, StepEnd::TimeLimit, 0.0);
    step.throughput = Estimate { value: 1700.0, interval: None };
    let window = |(index, rate): (usize, f64)| {
        let throughput_per_sec = rate.min(2400.0);
        let late = rate - throughput_per_sec;
        RampWindow {
            began_sec: index as f64 * 5.0,
            end_sec: (index + 1) as f64 * 5.0,
            rate_per_sec: rate,
            due_per_sec: rate,
            throughput_per_sec,
            success_ratio: Some(1.0),
            in_flight: 12,
            backlog: late as u64 * 5,
            latency: sample::times((throughput_per_sec * 5.0) as u64, 3.0 + late),
        }
    };
    step.ramp_windows =
        [250.0, 750.0, 1250.0, 1750.0, 2000.0, 2600.0].into_iter().enumerate().map(window).collect();
    sample
}
