//! An agent that is cut off from the broker or comes late, and a broker that has little room.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::access::{Agent, Broker};
use super::resume::{Counter, sum, whole};
use super::{PATIENCE, await_true, interrupt, rest};
use crate::bench::{Bench, Target};

/// The way of an agent to its broker, which can be cut.
#[derive(Clone)]
struct Relay {
    listens: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    is_cut: bool,
    open: Vec<TcpStream>,
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

    fn connect(&self, near: TcpStream, broker: SocketAddr) {
        let mut state = self.state.lock().unwrap();
        if state.is_cut {
            return;
        }
        let far = TcpStream::connect(broker).unwrap();
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            thread::spawn(move || carry(from, to));
        }
        state.open.extend([near, far]);
    }

    fn set_cut(&self, is_cut: bool) {
        let mut state = self.state.lock().unwrap();
        state.is_cut = is_cut;
        state.open.drain(..).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Both));
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
        let through = format!("nats://{}", relay.listens);
        let behind = broker.agent_at(&through, "behind", &["--orphan", orphan]);
        let direct = broker.agent("direct", &[]);
        [&behind, &direct].iter().for_each(|agent| agent.reports("waits for runs"));
        Self { broker, relay, behind, _direct: direct, target: Counter::start() }
    }

    fn conduct(&self, duration: &str) -> (Child, PathBuf) {
        let (bench, address) = (self.broker.bench, self.broker.address());
        let load = ["run", &self.target.url, "-R", "200", "-d", duration, "--no-probe", "--name", "cut"];
        let mut command = bench.command(&[&load[..], &["--agents", "2", "--fleet", &address]].concat());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut file = None;
        await_true("frames in the run file", || {
            assert_eq!(child.try_wait().unwrap(), None, "{}", rest(child.stderr.take().unwrap()));
            file = super::resume::run_file(bench);
            file.as_ref()
                .is_some_and(|file| plimsoll_store::read(file).is_ok_and(|run| !run.frames.is_empty()))
        });
        (child, file.unwrap())
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
fn a_connection_that_breaks_costs_no_frame_and_doubles_none() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, "60s");
    let (mut conductor, file) = scene.conduct("8s");
    scene.relay.set_cut(true);
    scene.relay.set_cut(false);
    let errors = rest(conductor.stderr.take().unwrap());
    assert_eq!(conductor.wait().unwrap().code(), Some(0), "{errors}");
    let run = whole(&file);
    assert_eq!((sum(&run, |counts| counts.intended), sum(&run, |counts| counts.completed)), (1600, 1600));
    scene.target.has_counted(1600);
}

#[test]
fn an_agent_that_stays_cut_off_is_lost_ends_its_load_and_is_free_again() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, "1s");
    let (mut conductor, file) = scene.conduct("10m");
    scene.relay.set_cut(true);
    // The load ends here without a word of anyone.
    scene.behind.reports(": ended");
    await_true("the agent is given up", || {
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
    await_true("both agents are free", || {
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
    let errors = rest(conductor.stderr.take().unwrap());
    assert_eq!(conductor.wait().unwrap().code(), Some(0), "{errors}");
    let run = whole(&file);
    assert_eq!((sum(&run, |counts| counts.intended), sum(&run, |counts| counts.completed)), (1600, 1600));
    assert!(run.steps[0].generators.iter().all(|share| share.lost_ns.is_none()), "{:?}", run.steps);
}

#[test]
fn an_agent_that_comes_late_takes_part_in_the_next_run() {
    let bench = Bench::new();
    let scene = Scene::begin(&bench, "60s");
    let (mut conductor, file) = scene.conduct("8s");
    let late = scene.broker.agent("late", &[]);
    late.reports("waits for runs");
    await_true("the late agent is named as free", || {
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
