//! Samples of hosts that come while a load is made: they are on the tape, and their faults concern no other feed.
#![expect(clippy::unwrap_used, reason = "in tests, a failed step is the failure")]

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use plimsoll_conductor::{Observer, Progress, RunOptions, conduct};
use plimsoll_host::{Host, SampleSource, Ssh, Watched};
use plimsoll_plan::{
    ArrivalProcess, Capacity, LoadSpec, Network, Plan, PlanHost, PlanSpec, ScenarioSpec, Slo, TransportSpec,
};
use plimsoll_record::metric::{cpu, probe};
use plimsoll_record::{EventKind, HostSample, Reading, Run, RunCommand, Source};
use plimsoll_testkit::{BadServer, Script};

/// What a process that looks at hosts writes: one counter of a host `web`.
const LINES: &str = r#"{"plimsoll_probe":1,"clock_ns":1}
{"host":"web","source":"cpu","subject":"","began_ns":1,"ended_ns":2,"ok":{"total_ms":7}}
{"host":"web","source":"pressure","subject":"","began_ns":3,"ended_ns":4,"absent":true}
"#;

fn plan(server: &BadServer, hosts: Vec<PlanHost>) -> Plan {
    let load = LoadSpec::Single {
        connections: Some(2),
        profile: None,
        arrivals: ArrivalProcess::Constant,
        duration: Some(Duration::from_millis(300)),
        requests_max: None,
    };
    let spec = PlanSpec {
        name: None,
        url: format!("http://{}/", server.address()),
        method: None,
        headers: Vec::new(),
        body: None,
        network: Network::default(),
        load,
        search: None,
        overload: None,
        trace: None,
        warm: None,
        workers: Some(1),
        timeout: Duration::from_secs(10),
        connections_max: None,
        depth: None,
        seed: 1,
        driver: None,
        transport: TransportSpec::default(),
        scenario: ScenarioSpec::default(),
        slo: Slo::default(),
        hosts,
        redact: Vec::new(),
        group: None,
        slo_assumed: false,
    };
    spec.freeze().unwrap()
}

/// Keeps what is reported.
#[derive(Default)]
struct Reported(Vec<String>);

impl Observer for Reported {
    fn observe(&mut self, progress: &Progress<'_>) {
        if let Progress::Happened(event) = progress {
            self.0.push(event.text.clone());
        }
    }
}

/// A short load with these feeds, and what was reported meanwhile.
fn run(hosts: Vec<PlanHost>, feeds: Vec<SampleSource>) -> (Run, Vec<String>) {
    let server = BadServer::start(Script::Correct { body: b"ok".to_vec() });
    let interrupted = AtomicBool::new(false);
    let options = RunOptions { feeds, ..RunOptions::new(RunCommand::Run, "0", &interrupted) };
    let mut reported = Reported::default();
    let outcome = conduct(plan(&server, hosts), options, &mut reported).unwrap();
    (outcome.run, reported.0)
}

/// Samples of a process that writes this and then waits until this one ends.
fn writer(lines: &str) -> SampleSource {
    let (reader, mut writer) = UnixStream::pair().unwrap();
    writer.write_all(lines.as_bytes()).unwrap();
    std::mem::forget(writer);
    SampleSource::reader("lookout", reader)
}

fn of<'a>(run: &'a Run, host: &str) -> Vec<&'a HostSample> {
    run.hosts.iter().filter(|sample| sample.host == host).collect()
}

#[test]
fn samples_of_another_process_are_on_the_tape_before_the_load_begins() {
    let (run, reported) = run(Vec::new(), vec![writer(LINES)]);
    let web = of(&run, "web");
    assert_eq!(web.len(), 2, "{web:?}");
    assert!(matches!(&web[0].reading, Reading::Ok(counters) if counters[cpu::TOTAL_MS] == 7), "{web:?}");
    assert_eq!((&web[1].source, &web[1].reading), (&Source::Pressure.into(), &Reading::Absent));
    assert!(web[0].ended_ns <= run.steps[0].began_ns);
    assert!(reported.is_empty(), "{reported:?}");
}

#[test]
fn a_host_is_called_what_the_plan_calls_it() {
    let (run, _) = run(Vec::new(), vec![writer(LINES).of_host("front")]);
    assert_eq!((of(&run, "front").len(), of(&run, "web").len()), (2, 0));
}

#[test]
fn a_feed_that_fails_is_named_once_and_ends_nothing() {
    let through = |program: &str| {
        SampleSource::ssh("lookout", Ssh::new(None, "web", None).through(program)).of_host("web")
    };
    let feeds = vec![
        through("ls --out-of-order"),
        through("/nowhere/at/all"),
        writer("{\"plimsoll_probe\":1,\"clock_ns\":1}\nout of order too\n"),
        writer(LINES),
    ];
    let (run, reported) = run(Vec::new(), feeds);
    let failed = run.events.iter().filter(|event| event.kind == EventKind::ProbeFailed);
    let events: Vec<&str> = failed.map(|event| event.text.as_str()).collect();
    assert_eq!(events, reported, "what is reported is recorded");
    assert_eq!(events.len(), 3, "{events:?}");
    let said = |part: &str| assert!(events.iter().any(|event| event.contains(part)), "{part}: {events:?}");
    ["out-of-order", "/nowhere/at/all", "out of order too"].iter().for_each(|part| said(part));
    assert_eq!(of(&run, "web").len(), 2, "the others go on");
    assert!(run.frames.iter().map(|frame| frame.head.counts.completed).sum::<u64>() > 0);
}

/// Whether the CPU of this machine was read before the load of a run, and after it.
fn ends_with_samples(run: &Run) -> [bool; 2] {
    let step = &run.steps[0];
    let here = of(run, "here");
    let cpu = || here.iter().filter(|sample| sample.source == Source::Cpu);
    [
        cpu().any(|sample| sample.ended_ns <= step.began_ns),
        cpu().any(|sample| sample.began_ns >= step.ended_ns),
    ]
}

#[test]
fn this_machine_tells_where_its_counters_stand_at_both_ends_of_a_step() {
    let once = || {
        let host = Host::local("here", std::path::Path::new("/"), &Watched::default());
        run(Vec::new(), vec![SampleSource::local("local", vec![host])]).0
    };
    // On a machine that stalls the sample at an end may come too late to be awaited.
    let run = (0..9).map(|_| once()).find(|run| ends_with_samples(run) == [true; 2]).unwrap_or_else(once);
    assert_eq!(ends_with_samples(&run), [true; 2], "{:?}", of(&run, "here"));
    let cost = of(&run, "here").into_iter().filter(|sample| sample.source == Source::Probe);
    let costs: Vec<u64> = cost
        .map(|sample| match &sample.reading {
            Reading::Ok(counters) => counters[probe::CPU_US],
            _ => 0,
        })
        .collect();
    assert!(costs.is_sorted() && costs.last() > Some(&0), "looking costs something: {costs:?}");
}

#[test]
fn what_the_plan_knows_of_its_hosts_is_recorded_at_the_begin() {
    let capacity =
        Capacity { cores: Some(0.25), link_out_bits_per_sec: Some(200_000_000), ..Capacity::default() };
    let (run, _) =
        run(vec![PlanHost { capacity, ..PlanHost::named("web") }, PlanHost::named("api")], Vec::new());
    let [declared] = of(&run, "web")[..] else { panic!("one sample: {:?}", run.hosts) };
    let Reading::Ok(levels) = &declared.reading else { panic!("{declared:?}") };
    let levels: Vec<(&str, u64)> = levels.iter().collect();
    assert_eq!(levels, [("cores_milli", 250), ("link_out_bits_per_sec", 200_000_000)]);
    assert_eq!((&declared.source, of(&run, "api").len()), (&Source::Declared.into(), 0));
}
