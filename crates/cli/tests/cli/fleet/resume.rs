//! `plimsoll fleet resume`, after the conductor of a run was killed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use plimsoll_record::{EventKind, Run, StepEnd};

use super::access::{Agent, Broker, guarded, trusted};
use super::{interrupt, rest, until, write_secret};
use crate::bench::{Bench, Called};

/// A target that counts the requests that reach it.
pub(super) struct Counter {
    pub(super) url: String,
    requests: Arc<AtomicU64>,
}

impl Counter {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let counter = Arc::clone(&counter);
                thread::spawn(move || answer(stream, &counter));
            }
        });
        Self { url, requests }
    }

    /// Waits until so many requests came. No more may have come.
    pub(super) fn has_counted(&self, requests: u64) {
        until("all requests have reached the target", || self.requests.load(Ordering::SeqCst) >= requests);
        assert_eq!(self.requests.load(Ordering::SeqCst), requests);
    }
}

fn answer(mut stream: TcpStream, counter: &AtomicU64) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        if line == "\r\n" {
            counter.fetch_add(1, Ordering::SeqCst);
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
                return;
            }
        }
        line.clear();
    }
}

/// A broker with keys, two agents and a target.
struct Scene<'a> {
    bench: &'a Bench,
    broker: Broker<'a>,
    agents: Vec<Agent>,
    target: Counter,
}

impl<'a> Scene<'a> {
    fn begin(bench: &'a Bench, agent_flags: &[&str]) -> Self {
        let broker = guarded(bench);
        let trusted = trusted(bench);
        let agents = ["a", "b"].map(|name| {
            let credentials = format!("keys/agents/{name}.creds");
            let flags = ["--credentials", &credentials, "--trust", &trusted];
            let agent = broker.agent(name, &[&flags, agent_flags].concat());
            agent.reports("waits for runs");
            agent
        });
        Self { bench, broker, agents: agents.into(), target: Counter::start() }
    }

    /// A conductor whose run has frames in its file.
    fn conduct(&self, command: &str, args: &[&str]) -> (Child, PathBuf) {
        let address = self.broker.address();
        let flags: Vec<&str> = self.broker.conductor.iter().map(String::as_str).collect();
        let own =
            [command, &self.target.url, "--no-probe", "--name", "left", "--agents", "2", "--fleet", &address];
        let mut child = self
            .bench
            .command(&[&own, args, &flags].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut file = None;
        until("frames in the run file", || {
            assert_eq!(child.try_wait().unwrap(), None, "{}", rest(child.stderr.take().unwrap()));
            file = run_file(self.bench);
            file.as_ref()
                .is_some_and(|file| plimsoll_store::read(file).is_ok_and(|run| !run.frames.is_empty()))
        });
        (child, file.unwrap())
    }

    /// A run whose conductor was killed.
    fn left(&self, command: &str, args: &[&str]) -> PathBuf {
        let (mut conductor, file) = self.conduct(command, args);
        kill(&mut conductor);
        assert!(!plimsoll_store::read(&file).unwrap().manifest.sealed);
        file
    }

    fn resume(&self, code: i32, file: &Path, flags: &[&str]) -> Called {
        self.bench
            .expect(code, &[&["fleet", "resume", &file.display().to_string(), "--json"], flags].concat())
    }

    fn status(&self) -> String {
        let address = self.broker.address();
        let credentials = ["--fleet-credentials", "keys/conductor.creds"];
        self.bench.expect(0, &[&["fleet", "status", "--fleet", &address], &credentials[..]].concat()).out
    }

    fn has_ended_without_its_conductor(&self) {
        self.agents.iter().for_each(|agent| agent.reports(": ended"));
    }

    /// The agents are there for the next run.
    fn makes_another_run(&self) -> Called {
        let args =
            ["run", &self.target.url, "-n", "100", "-c", "2", "--no-probe", "--no-files", "--agents", "2"];
        self.broker.call(0, &args)
    }
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

pub(super) fn run_file(bench: &Bench) -> Option<PathBuf> {
    let files = std::fs::read_dir(bench.path("plimsoll-runs")).ok()?.map(|entry| entry.unwrap().path());
    files.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "plimsoll"))
}

fn session(file: &Path) -> PathBuf {
    next_to(file, "-session")
}

fn next_to(file: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", file.display()))
}

/// A complete run in which the frames of each worker follow each other without a gap.
pub(super) fn whole(file: &Path) -> Run {
    let run = plimsoll_store::read(file).unwrap();
    assert!(run.manifest.sealed && run.damage.is_empty());
    assert!(!session(file).exists(), "nothing is to be resumed");
    let mut ends: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut heads: Vec<_> =
        run.frames.iter().map(|frame| &frame.head).filter(|head| head.of_worker()).collect();
    heads.sort_by_key(|head| head.began_ns);
    for head in heads {
        let before = ends.insert((head.step, head.worker), head.ended_ns);
        assert_eq!(before.unwrap_or(head.began_ns), head.began_ns, "{head:?}");
        assert!(before.is_some() || head.interval == 0, "{head:?}");
    }
    run
}

pub(super) fn sum(run: &Run, count: impl Fn(&plimsoll_record::Counts) -> u64) -> u64 {
    run.frames.iter().map(|frame| count(&frame.head.counts)).sum()
}

fn texts(run: &Run, kind: EventKind) -> String {
    let own = run.events.iter().filter(|event| event.kind == kind);
    own.map(|event| event.text.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_load_that_goes_on_is_taken_over_and_ends_as_planned() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, &["--orphan", "60s"]);
    let (mut conductor, file) = scene.conduct("run", &["-R", "100", "-d", "30s"]);
    let alive = scene.resume(1, &file, &[]).err;
    assert!(alive.contains("another process is making the run"), "{alive}");
    // A copy is not locked, but the agents hear their conductor.
    std::fs::create_dir(bench.path("copy")).unwrap();
    let copy = bench.path("copy/left.plimsoll");
    for ending in ["", "-wal", "-session"] {
        std::fs::copy(next_to(&file, ending), next_to(&copy, ending)).unwrap();
    }
    let heard = scene.resume(1, &copy, &[]).err;
    assert!(heard.contains("still hears the conductor of this run"), "{heard}");
    kill(&mut conductor);

    let path = file.display().to_string();
    let mut first = bench.command(&["fleet", "resume", &path, "--json"]);
    let mut first = first.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(first.stderr.take().unwrap()).lines().map(Result::unwrap);
    let began = lines.find(|line| line.contains("goes on with the run of a, b"));
    assert!(began.is_some(), "{}", rest(first.stdout.take().unwrap()));
    if first.try_wait().unwrap().is_none() {
        let second = bench.call(&["fleet", "resume", &path]);
        let refused = second.err.contains("another process") || second.err.contains("is complete");
        assert!(second.code > 0 && refused, "{}", second.err);
    }
    lines.for_each(drop);
    let mut document = String::new();
    first.stdout.take().unwrap().read_to_string(&mut document).unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(0), "{document}");

    let run = whole(&file);
    assert_eq!((sum(&run, |counts| counts.intended), sum(&run, |counts| counts.completed)), (3000, 3000));
    scene.target.has_counted(3000);
    assert!(run.steps[0].generators.iter().all(|share| share.lost_ns.is_none()), "{:?}", run.steps);
    assert!(texts(&run, EventKind::Resumed).contains("the conductor of the run died"));
    let report = bench.expect(0, &["report", &path, "--json"]).json();
    assert_eq!(report, serde_json::from_str::<serde_json::Value>(&document).unwrap());
    let again = scene.resume(2, &file, &[]).err;
    assert!(again.contains("is complete"), "{again}");
    scene.makes_another_run();
}

#[test]
fn what_agents_measured_until_they_gave_up_is_kept_until_it_is_collected() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, &["--orphan", "1s"]);
    let file = scene.left("run", &["-R", "200", "-d", "10m"]);
    scene.has_ended_without_its_conductor();
    let status = scene.status();
    assert_eq!(status.matches("keeps what it measured of run").count(), 2, "{status}");

    let frames = plimsoll_store::read(&file).unwrap().frames;
    write_secret(&bench.path("other.nk"), "SUANQDPB2RUOE4ETUA26CNX7FUKE5ZZKFCQIIW63OX225F2CO7UEXTM7ZY");
    let stranger = scene.resume(1, &file, &["--fleet-key", "other.nk"]).err;
    assert!(stranger.contains("which is no --trust of this agent"), "{stranger}");
    assert_eq!(plimsoll_store::read(&file).unwrap().frames, frames, "nothing is changed");

    let resumed = scene.resume(1, &file, &["--store", "postgres://ann@127.0.0.1:1/perf"]).err;
    assert!(resumed.contains("1 run kept here, to be delivered later"), "{resumed}");
    let run = whole(&file);
    assert!(run.frames.len() > frames.len());
    scene.target.has_counted(sum(&run, |counts| counts.sent));
    let said = texts(&run, EventKind::StepFailed);
    assert!(said.contains("not recorded to its end: of 600 s of the step there is a up to"), "{said}");
    assert!(run.steps[0].generators.iter().all(|share| share.lost_ns.is_some()), "{:?}", run.steps);
    scene.makes_another_run();
}

#[test]
fn nothing_is_missing_of_an_agent_for_which_there_was_no_connection() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, &["--orphan", "60s"]);
    let file = scene.left("run", &["-R", "100", "-d", "10s", "-c", "1", "-t", "1"]);
    scene.resume(0, &file, &[]);
    let run = whole(&file);
    assert_eq!((sum(&run, |counts| counts.intended), sum(&run, |counts| counts.completed)), (1000, 1000));
    let shares = run.steps[0].generators.iter();
    let shares: Vec<(&str, u32, Option<u64>)> =
        shares.map(|share| (share.name.as_str(), share.workers, share.lost_ns)).collect();
    assert_eq!(shares, [("a", 1, None), ("b", 0, None)]);
    assert!(texts(&run, EventKind::LimitMet).contains("b gets no load: "));
}

/// Waits until the run has frames of this step.
fn await_step(file: &Path, step: u32) {
    until("frames of the step in the run file", || {
        plimsoll_store::read(file).is_ok_and(|run| run.frames_of(step).next().is_some())
    });
}

fn levels(run: &Run) -> Vec<u32> {
    run.steps.iter().map(|step| step.connections).collect()
}

#[test]
fn the_later_steps_are_made_by_the_agents_of_a_local_fleet() {
    let bench = Bench::new();
    let fleet = super::Fleet::up(&bench, &["--local", "2"]);
    let target = Counter::start();
    let sweep = ["sweep", &target.url, "--ladder", "2,4,8", "--step", "3s", "--no-probe"];
    let mut conductor = bench.command(&[&sweep[..], &["--fleet", &fleet.address]].concat());
    let mut conductor = conductor.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut file = None;
    until("a run file", || {
        file = run_file(&bench);
        file.is_some()
    });
    let file = file.unwrap();
    await_step(&file, 1);
    kill(&mut conductor);
    let document = bench.expect(0, &["fleet", "resume", "last", "--json"]).json();
    let run = whole(&file);
    assert_eq!(levels(&run), [2, 4, 8], "{:?}", run.steps);
    assert!(run.steps.iter().all(|step| step.generators.len() == 2 && step.end != StepEnd::Cut));
    assert!(run.steps.windows(2).all(|pair| pair[0].drained_ns <= pair[1].began_ns), "{:?}", run.steps);
    target.has_counted(sum(&run, |counts| counts.sent));
    let connections: Vec<u64> = document["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["connections"].as_u64().unwrap())
        .collect();
    assert_eq!(connections, [2, 4, 8]);
    fleet.await_status("all agents are free again", |status| status.matches("free").count() == 2);
}

#[test]
fn agents_that_gave_the_load_up_make_the_step_again_that_was_cut_and_those_after_it() {
    let bench = Bench::new();
    // The load fills the machine, and the conductor that takes it over says something each half second only if it gets its turn.
    let scene = Scene::begin(&bench, &["--orphan", "4s"]);
    let (mut conductor, file) = scene.conduct("sweep", &["--ladder", "2,4,8", "--step", "12s"]);
    await_step(&file, 1);
    kill(&mut conductor);
    scene.has_ended_without_its_conductor();
    scene.resume(0, &file, &[]);
    let run = whole(&file);
    assert_eq!(levels(&run), [2, 4, 4, 8], "{:?}", run.steps);
    assert_eq!(run.steps[1].end, StepEnd::Cut);
    scene.target.has_counted(sum(&run, |counts| counts.sent));
    let said = texts(&run, EventKind::Resumed);
    assert!(said.contains("it was made again, and no figure rests on that part"), "{said}");
    let report = bench.expect(0, &["report", &file.display().to_string(), "--json"]).json();
    assert_eq!(report["steps"].as_array().unwrap().len(), 3);
    scene.makes_another_run();
}

#[test]
fn a_run_that_was_resumed_is_interrupted_as_any_other() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, &["--orphan", "60s"]);
    let (mut conductor, file) = scene.conduct("sweep", &["--ladder", "2,4,8,16", "--step", "5s"]);
    await_step(&file, 1);
    kill(&mut conductor);
    let path = file.display().to_string();
    let mut resumed = bench.command(&["fleet", "resume", &path]);
    let mut resumed = resumed.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    await_step(&file, 2);
    interrupt(&resumed);
    assert_eq!(resumed.wait().unwrap().code(), Some(130));
    let run = whole(&file);
    assert!(levels(&run).starts_with(&[2, 4, 8]), "{:?}", run.steps);
    assert_eq!(run.steps.last().map(|step| step.end), Some(StepEnd::Cut));
    assert!(texts(&run, EventKind::Interrupted).contains("what was measured is kept"));
    scene.makes_another_run();
}

#[test]
fn steps_that_were_not_run_are_named_where_the_file_is_only_to_be_completed() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, &["--orphan", "60s"]);
    let file = scene.left("sweep", &["--ladder", "2,4,8,16,32,64", "--step", "4s"]);
    scene.resume(1, &file, &["--finish-only"]);
    let run = whole(&file);
    let left_out = ["2", "4", "8", "16", "32", "64"][run.steps.len()..].join(", ");
    let said = texts(&run, EventKind::StepFailed);
    assert!(said.contains(&format!("not run: the steps of {left_out} connections")), "{said}");
}

#[test]
fn an_agent_that_died_too_is_named_and_what_the_stream_has_of_it_is_kept() {
    let bench = Bench::new();
    let mut scene = Scene::begin(&bench, &["--orphan", "60s"]);
    let (mut conductor, file) = scene.conduct("run", &["-R", "200", "-d", "20s"]);
    kill(&mut conductor);
    let before = plimsoll_store::read(&file).unwrap();
    // The other one measures on, and hands its frames to the broker, before it is gone.
    until("agents go on", || scene.status().contains("in run"));
    let gone = scene.agents.remove(1);
    drop(gone);
    scene.resume(1, &file, &[]);
    let run = whole(&file);
    assert!(run.frames.len() > before.frames.len());
    let said = texts(&run, EventKind::StepFailed);
    assert!(
        said.contains("b is gone (nothing is heard of it)") && said.contains("there is b up to"),
        "{said}"
    );
    let lost: Vec<bool> = run.steps[0].generators.iter().map(|share| share.lost_ns.is_some()).collect();
    assert_eq!(lost, [false, true]);
}

#[test]
fn what_cannot_be_resumed_is_an_error_and_loses_nothing() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, &["--orphan", "1s"]);
    let file = scene.left("run", &["-R", "100", "-d", "10m"]);
    let own = std::fs::read_to_string(session(&file)).unwrap();
    let secret = std::fs::read_to_string(bench.path("keys/conductor.nk")).unwrap();
    assert!(!own.contains(secret.trim()) && !own.contains("SEED"), "no secret is written: {own}");

    let elsewhere = bench.path("elsewhere.plimsoll");
    std::fs::copy(&file, &elsewhere).unwrap();
    let no_fleet = scene.resume(2, &elsewhere, &[]).err;
    assert!(no_fleet.contains("is not the file of a fleet's run"), "{no_fleet}");
    std::fs::write(session(&elsewhere), "{").unwrap();
    let damaged = scene.resume(1, &elsewhere, &[]).err;
    assert!(damaged.contains("the record of the fleet next to the run file cannot be read"), "{damaged}");
    std::fs::write(&elsewhere, "no database").unwrap();
    let no_run = scene.resume(1, &elsewhere, &[]).err;
    assert!(no_run.contains("is not a run file"), "{no_run}");

    let nowhere = scene.resume(1, &file, &["--fleet", "nats://127.0.0.1:1"]).err;
    assert!(nowhere.contains("could not connect to the broker"), "{nowhere}");
    scene.has_ended_without_its_conductor();
    // Another run takes the place of the one that was left.
    let said = scene.makes_another_run().err;
    assert!(said.contains("this run discards what a, b kept of it"), "{said}");
    assert!(!scene.makes_another_run().err.contains("discards"), "only a run that was left is discarded");
    let frames = plimsoll_store::read(&file).unwrap().frames.len();
    scene.resume(1, &file, &[]);
    let run = whole(&file);
    assert!(run.frames.len() >= frames);
    let said = texts(&run, EventKind::StepFailed);
    assert!(said.contains("of 600 s of the step there is a up to"), "{said}");
}
