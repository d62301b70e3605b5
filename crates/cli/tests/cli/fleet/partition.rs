//! Agents and a conductor that are cut off from the broker, one that comes late, and a broker that has little room or loses what it has.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use serde_json::{Value, json};

use super::access::{Agent, Broker};
use super::resume::{Counter, sum, whole};
use super::{PATIENCE, interrupt, rest, until};
use crate::bench::{Bench, Target};

/// A way to the broker that can be cut.
#[derive(Clone)]
struct Relay {
    listens: SocketAddr,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    is_cut: bool,
    /// Nothing passes, and neither side hears of that.
    is_silent: bool,
    open: Vec<TcpStream>,
    /// How many connections there were in all.
    connections: usize,
}

impl Relay {
    fn start(broker: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let relay = Self { listens: listener.local_addr().unwrap(), state: Arc::default() };
        let accepting = relay.clone();
        thread::spawn(move || {
            listener.incoming().map_while(Result::ok).for_each(|stream| accepting.connect(stream, broker));
        });
        relay
    }

    fn address(&self) -> String {
        format!("nats://{}", self.listens)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().unwrap()
    }

    fn connect(&self, near: TcpStream, broker: SocketAddr) {
        let mut state = self.state();
        state.connections += 1;
        if state.is_cut {
            return;
        }
        // The broker may be away.
        let Ok(far) = TcpStream::connect(broker) else { return };
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (relay, from, to) = (self.clone(), from.try_clone().unwrap(), to.try_clone().unwrap());
            thread::spawn(move || relay.carry(from, to));
        }
        state.open.extend([near, far]);
    }

    fn carry(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut bytes = [0; 16 << 10];
        while let Ok(read @ 1..) = from.read(&mut bytes) {
            drop(self.state.1.wait_while(self.state(), |state| state.is_silent).unwrap());
            if to.write_all(&bytes[..read]).is_err() {
                break;
            }
        }
        drop(to.shutdown(Shutdown::Both));
    }

    fn set_cut(&self, is_cut: bool) {
        let mut state = self.state();
        state.is_cut = is_cut;
        state.open.drain(..).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    }

    fn set_silent(&self, is_silent: bool) {
        self.state().is_silent = is_silent;
        self.state.1.notify_all();
    }

    fn connections(&self) -> usize {
        self.state().connections
    }
}

/// An agent behind a relay and one without, and a run of both that has frames in its file.
struct Scene<'a> {
    broker: Broker<'a>,
    relay: Relay,
    behind: Agent,
    _direct: Agent,
    target: Counter,
}

impl<'a> Scene<'a> {
    fn begin(bench: &'a Bench, orphan: &str) -> Self {
        let broker = Broker::start(bench, "");
        let relay = Relay::start(broker.listens);
        let behind = broker.agent_at(&relay.address(), "behind", &["--orphan", orphan]);
        // In some tests its conductor is cut off.
        let direct = broker.agent("direct", &["--orphan", "60s"]);
        [&behind, &direct].iter().for_each(|agent| agent.reports("waits for runs"));
        Self { broker, relay, behind, _direct: direct, target: Counter::start() }
    }

    fn conduct(&self, duration: &str) -> (Child, PathBuf) {
        self.conduct_at(&self.broker.address(), duration)
    }

    /// With a conductor that has another way to the broker.
    fn conduct_at(&self, address: &str, duration: &str) -> (Child, PathBuf) {
        let bench = self.broker.bench;
        let load = ["run", &self.target.url, "-R", "200", "-d", duration, "--no-probe", "--name", "cut"];
        let mut command = bench.command(&[&load[..], &["--agents", "2", "--fleet", address]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut file = None;
        until("frames in the run file", || {
            assert_eq!(child.try_wait().unwrap(), None, "{}", rest(child.stderr.take().unwrap()));
            file = super::resume::run_file(bench);
            file.as_ref()
                .is_some_and(|file| plimsoll_store::read(file).is_ok_and(|run| !run.frames.is_empty()))
        });
        (child, file.unwrap())
    }

    /// The run ends well, and has all of these requests of both agents.
    fn gives(&self, requests: u64, (mut conductor, file): (Child, PathBuf)) {
        let errors = rest(conductor.stderr.take().unwrap());
        assert_eq!(conductor.wait().unwrap().code(), Some(0), "{errors}");
        let run = whole(&file);
        let counts = (sum(&run, |counts| counts.intended), sum(&run, |counts| counts.completed));
        assert_eq!(counts, (requests, requests), "{errors}");
        assert!(run.steps[0].generators.iter().all(|share| share.lost_ns.is_none()), "{:?}", run.steps);
        self.target.has_counted(requests);
    }
}

#[test]
fn a_broker_with_little_room_carries_a_run() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let broker = Broker::storing(&bench, "max_file_store: 200MB", "");
    let agent = broker.agent("a", &[]);
    agent.reports("waits for runs");
    broker.gives_1000(&target, "1");
}

#[test]
fn a_broker_whose_account_may_have_small_streams_carries_a_run() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let account = "jetstream { disk_max_stream_bytes: 200MB }, users: [{ user: me, password: secret }]";
    let broker = Broker::start(&bench, &format!("no_auth_user: me\naccounts {{ A {{ {account} }} }}"));
    let agent = broker.agent("a", &[]);
    agent.reports("waits for runs");
    broker.gives_1000(&target, "1");
}

#[test]
fn streams_that_leave_no_room_for_that_of_a_run_are_named() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let broker = Broker::storing(&bench, "max_file_store: 200MB", "");
    let agent = broker.agent("a", &[]);
    agent.reports("waits for runs");
    let name = "plimsoll-default-0123456789abcdef";
    let other = json!({ "name": name, "subjects": ["other"], "storage": "file", "max_bytes": 150 << 20 });
    let made = Api::new(broker.listens).ask(&format!("$JS.API.STREAM.CREATE.{name}"), &other.to_string());
    assert_eq!(made["config"]["name"], name, "{made}");
    let refused = broker.call(1, &["run", &target.url("/"), "-n", "10", "--no-probe", "--agents", "1"]).err;
    assert!(refused.contains(name), "{refused}");
}

#[test]
fn a_connection_that_breaks_costs_no_frame_and_doubles_none() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, "60s");
    let run = scene.conduct("8s");
    scene.relay.set_cut(true);
    scene.relay.set_cut(false);
    scene.gives(1600, run);
}

#[test]
fn a_conductor_whose_connection_is_cut_without_a_word_loses_no_agent_and_no_frame() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, "60s");
    let relay = Relay::start(scene.broker.listens);
    let run = scene.conduct_at(&relay.address(), "15s");
    let before = relay.connections();
    relay.set_silent(true);
    // The first of these tries takes longer than an agent may be silent.
    until("it has tried twice to connect again", || relay.connections() >= before + 2);
    relay.set_silent(false);
    scene.gives(3000, run);
}

#[test]
fn a_broker_that_loses_its_store_in_a_run_costs_no_frame() {
    let bench = Bench::new();
    let mut scene = Scene::begin(&bench, "60s");
    let run = scene.conduct("8s");
    scene.broker.restart(|broker| std::fs::remove_dir_all(broker.bench.path("store")).unwrap());
    scene.gives(1600, run);
}

#[test]
fn an_agent_ends_when_it_is_asked_to_although_the_broker_is_away() {
    let bench = Bench::new();
    let broker = Broker::start(&bench, "");
    let relay = Relay::start(broker.listens);
    let agent = broker.agent_at(&relay.address(), "a", &[]);
    agent.reports("waits for runs");
    relay.set_cut(true);
    let before = relay.connections();
    until("it has noticed that", || relay.connections() > before);
    agent.ends();
}

#[test]
fn an_agent_that_stays_cut_off_is_lost_ends_its_load_and_is_free_again() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, "1s");
    let (mut conductor, file) = scene.conduct("10m");
    scene.relay.set_cut(true);
    // The load ends here without a word of anyone.
    scene.behind.reports(": ended");
    until("the agent is given up", || {
        let run = plimsoll_store::read(&file).unwrap();
        run.events.iter().any(|event| event.text.contains("behind is gone (nothing was heard of it"))
    });
    interrupt(&conductor);
    let errors = rest(conductor.stderr.take().unwrap());
    assert_eq!(conductor.wait().unwrap().code(), Some(130), "{errors}");
    let lost: Vec<(String, bool)> = whole(&file).steps[0]
        .generators
        .iter()
        .map(|share| (share.name.clone(), share.lost_ns.is_some()))
        .collect();
    assert_eq!(lost, [("behind".to_owned(), true), ("direct".to_owned(), false)]);
    scene.relay.set_cut(false);
    until("both agents are free", || {
        let status = bench.expect(0, &["fleet", "status", "--fleet", &scene.broker.address()]).out;
        status.matches("free").count() == 2
    });
}

/// A client of the broker's own API.
struct Api {
    stream: TcpStream,
    heard: BufReader<TcpStream>,
}

impl Api {
    fn new(broker: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(broker).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(b"CONNECT {\"verbose\":false}\r\nSUB answers 1\r\n").unwrap();
        let heard = BufReader::new(stream.try_clone().unwrap());
        Self { stream, heard }
    }

    fn ask(&mut self, subject: &str, content: &str) -> Value {
        write!(self.stream, "PUB {subject} answers {}\r\n{content}\r\n", content.len()).unwrap();
        loop {
            let mut line = String::new();
            self.heard.read_line(&mut line).unwrap();
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["MSG", .., bytes] => {
                    let mut answer = vec![0; bytes.parse::<usize>().unwrap() + 2];
                    self.heard.read_exact(&mut answer).unwrap();
                    return serde_json::from_slice(&answer).unwrap();
                }
                ["PING"] => self.stream.write_all(b"PONG\r\n").unwrap(),
                _ => {}
            }
        }
    }

    /// Limits the only stream to so many bytes; gives its subject and the limit before.
    fn limit_stream(&mut self, bytes: &Value) -> (String, Value) {
        let name = self.ask("$JS.API.STREAM.NAMES", "")["streams"][0].as_str().unwrap().to_owned();
        let mut config = self.ask(&format!("$JS.API.STREAM.INFO.{name}"), "")["config"].take();
        let before = std::mem::replace(&mut config["max_bytes"], bytes.clone());
        let subject = config["subjects"][0].as_str().unwrap().to_owned();
        let updated = self.ask(&format!("$JS.API.STREAM.UPDATE.{name}"), &config.to_string());
        assert_eq!(updated["config"]["max_bytes"], *bytes, "{updated}");
        (subject, before)
    }
}

#[test]
fn agents_keep_what_a_full_stream_refuses_and_the_answer_is_exact() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, "60s");
    let (mut conductor, file) = scene.conduct("8s");
    let mut api = Api::new(scene.broker.listens);
    let (subject, before) = api.limit_stream(&json!(1));
    let refused = api.ask(&subject.replace('*', "other"), "message");
    assert!(refused["error"]["description"].as_str().unwrap().contains("maximum bytes"), "{refused}");
    scene.target.has_counted(1600);
    assert_eq!(conductor.try_wait().unwrap(), None, "the run waits for what the agents have");
    api.limit_stream(&before);
    scene.gives(1600, (conductor, file));
}

#[test]
fn an_agent_that_comes_late_takes_part_in_the_next_run() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, "60s");
    let (mut conductor, file) = scene.conduct("8s");
    let late = scene.broker.agent("late", &[]);
    late.reports("waits for runs");
    until("the late agent is named as free", || {
        let status = scene.broker.call(0, &["fleet", "status"]).out;
        let is_free = |line: &str| line.starts_with("agent   late ") && line.ends_with("free");
        status.lines().any(is_free) && status.matches("in run").count() == 2
    });
    let errors = rest(conductor.stderr.take().unwrap());
    assert_eq!(conductor.wait().unwrap().code(), Some(0), "{errors}");
    let names: Vec<String> =
        whole(&file).steps[0].generators.iter().map(|share| share.name.clone()).collect();
    assert_eq!(names, ["behind", "direct"]);
    let load =
        ["run", &scene.target.url, "-t", "1", "-c", "3", "-n", "300", "--json", "--no-probe", "--no-files"];
    let next = scene.broker.call(0, &[&load[..], &["--agents", "3"]].concat()).json();
    let shares = next["fleet"][0]["generators"].as_array().unwrap();
    let names: Vec<&str> = shares.iter().map(|share| share["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["behind", "direct", "late"]);
}
