//! Who gets into a fleet: credentials, certificates and signatures, with a real broker.

use std::io::{BufRead, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use plimsoll_sys::ReservedPort;
use rustix::process::{Pid, Signal, kill_process};

use super::{Ended, PATIENCE, due_and_completed, until};
use crate::bench::{Bench, Called, Target};

/// A broker of a test's own configuration.
pub(super) struct Broker<'a> {
    pub(super) bench: &'a Bench,
    pub(super) listens: SocketAddr,
    /// Its own also while the server is away.
    _port: ReservedPort,
    /// Flags of a conductor here.
    pub(super) conductor: Vec<String>,
    /// `None` while it is away.
    server: Option<Ended>,
}

impl<'a> Broker<'a> {
    /// A node with JetStream and these further settings.
    pub(super) fn start(bench: &'a Bench, settings: &str) -> Self {
        Self::storing(bench, "", settings)
    }

    /// The same with settings of JetStream.
    pub(super) fn storing(bench: &'a Bench, storage: &str, settings: &str) -> Self {
        let port = ReservedPort::take().unwrap();
        let listens = port.address();
        let mut broker = Self { bench, listens, _port: port, conductor: Vec::new(), server: None };
        broker.configure(storage, settings);
        broker.serve();
        broker
    }

    fn configure(&self, storage: &str, settings: &str) {
        let (listens, store) = (self.listens, self.bench.path("store"));
        let text =
            format!("listen: \"{listens}\"\njetstream {{ store_dir: {store:?}\n{storage} }}\n{settings}\n");
        std::fs::write(self.bench.path("broker.conf"), text).unwrap();
    }

    fn serve(&mut self) {
        let mut server = Command::new(plimsoll_fleet::nats_server().unwrap());
        let server = server.arg("--config").arg(self.bench.path("broker.conf")).stderr(Stdio::null());
        self.server = Some(Ended(server.spawn().unwrap()));
        until("the broker answers", || TcpStream::connect(self.listens).is_ok());
    }

    /// Kills it, and starts it again at the same address after this.
    pub(super) fn restart(&mut self, meanwhile: impl FnOnce(&Self)) {
        self.server = None;
        meanwhile(self);
        self.serve();
    }

    pub(super) fn address(&self) -> String {
        format!("nats://{}", self.listens)
    }

    /// A call with `--fleet` and its flags, which must end with this code.
    pub(super) fn call(&self, code: i32, args: &[&str]) -> Called {
        let address = self.address();
        let flags: Vec<&str> = self.conductor.iter().map(String::as_str).collect();
        self.bench.expect(code, &[args, &["--fleet", &address], &flags].concat())
    }

    /// A run of 1000 requests on all agents, which must give exactly these.
    pub(super) fn gives_1000(&self, target: &Target, agents: &str) {
        let url = target.url("/");
        let args =
            ["run", &url, "-c", "7", "-n", "1000", "--json", "--no-probe", "--quiet", "--agents", agents];
        assert_eq!(due_and_completed(&self.call(0, &args).json()), (1000, 1000));
    }

    pub(super) fn agent(&self, name: &str, flags: &[&str]) -> Agent {
        self.agent_at(&self.address(), name, flags)
    }

    /// An agent that has another way to the broker.
    pub(super) fn agent_at(&self, address: &str, name: &str, flags: &[&str]) -> Agent {
        let args = ["agent", "--join", address, "--name", name, "--allow", "127.0.0.1"];
        let mut command = self.bench.command(&[&args, flags].concat());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || errors.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Agent { process: Ended(child), lines }
    }
}

/// An agent, and what it reports.
pub(super) struct Agent {
    process: Ended,
    lines: Receiver<String>,
}

impl Agent {
    pub(super) fn reports(&self, what: &str) {
        let mut before = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            if line.contains(what) {
                return;
            }
            before.push(line);
        }
        panic!("no {what:?} in {before:?}");
    }

    /// It reports this, and ends with an error.
    pub(super) fn fails(mut self, what: &str) {
        self.reports(what);
        assert_eq!(self.process.0.wait().unwrap().code(), Some(1));
    }

    /// It ends once it is asked to.
    pub(super) fn ends(mut self) {
        kill_process(Pid::from_child(&self.process.0), Signal::TERM).unwrap();
        until("the agent ends", || self.process.0.try_wait().unwrap().is_some());
        assert_eq!(self.process.0.wait().unwrap().code(), Some(0));
    }
}

fn keys(bench: &Bench, folder: &str, args: &[&str]) {
    bench.expect(0, &[&["fleet", "keys", folder], args].concat());
}

/// A broker that only the keys in the folder `keys` open.
pub(super) fn guarded(bench: &Bench) -> Broker<'_> {
    keys(bench, "keys", &["--agents", "a,b"]);
    let mut broker = Broker::start(bench, "include \"keys/broker.conf\"");
    let flags = ["--fleet-credentials", "keys/conductor.creds", "--fleet-key", "keys/conductor.nk"];
    broker.conductor = flags.map(str::to_owned).to_vec();
    broker
}

/// The public key that agents are to trust.
pub(super) fn trusted(bench: &Bench) -> String {
    let said = bench.expect(0, &["fleet", "keys", "keys", "--agents", "c"]).out;
    said.split_whitespace().skip_while(|word| *word != "--trust").nth(1).unwrap().to_owned()
}

#[test]
fn a_fleet_with_keys_gives_its_exact_answer() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let broker = guarded(&bench);
    let seed = std::fs::read_to_string(bench.path("keys/conductor.nk")).unwrap();
    let trusted = trusted(&bench);
    assert_eq!(std::fs::read_to_string(bench.path("keys/conductor.nk")).unwrap(), seed, "keys are made once");
    let agents: Vec<Agent> = ["a", "b", "c"]
        .iter()
        .map(|name| {
            broker.agent(name, &["--credentials", &format!("keys/agents/{name}.creds"), "--trust", &trusted])
        })
        .collect();
    agents.iter().for_each(|agent| agent.reports("waits for runs"));
    broker.gives_1000(&target, "3");
}

#[test]
fn a_stranger_and_a_credential_of_another_fleet_are_refused() {
    let bench = Bench::new();
    let broker = guarded(&bench);
    broker.agent("a", &[]).fails("--credentials FILE");
    keys(&bench, "other", &["--agents", "a"]);
    broker.agent("a", &["--credentials", "other/agents/a.creds"]).fails("refused the credentials");
    let stranger = bench.expect(1, &["fleet", "status", "--fleet", &broker.address()]).err;
    assert!(stranger.contains("--fleet-credentials FILE"), "{stranger}");
}

#[test]
fn an_agent_that_calls_itself_another_is_refused() {
    let bench = Bench::new();
    let broker = guarded(&bench);
    let twin = broker.agent("b", &["--credentials", "keys/agents/a.creds"]);
    twin.fails("plimsoll.default.to.b");
    let conductor = ["fleet", "status", "--fleet-credentials", "keys/agents/a.creds", "--fleet"];
    let refused = bench.expect(1, &[&conductor[..], &[&broker.address()]].concat()).err;
    assert!(refused.contains("do not permit"), "{refused}");
}

#[test]
fn an_expired_credential_ends_an_agent_and_lets_it_in_no_more() {
    let bench = Bench::new();
    let broker = guarded(&bench);
    keys(&bench, "keys", &["--agents", "late", "--valid", "2s"]);
    let credentials = ["--credentials", "keys/agents/late.creds"];
    broker.agent("late", &credentials).fails("expired");
    broker.agent("late", &credentials).fails("plimsoll fleet keys");
}

#[test]
fn an_agent_that_a_broker_lets_in_no_more_ends() {
    let bench = Bench::new();
    let mut broker = guarded(&bench);
    let agent = broker.agent("a", &["--credentials", "keys/agents/a.creds"]);
    agent.reports("waits for runs");
    keys(&bench, "other", &[]);
    broker.restart(|broker| broker.configure("", "include \"other/broker.conf\""));
    agent.fails("plimsoll fleet keys");
}

#[test]
fn a_broker_with_passwords_is_used_by_an_address_that_has_one() {
    let bench = Bench::new();
    let broker = Broker::start(&bench, "authorization { user: me, password: \"s@cret\" }");
    let refused = bench.expect(1, &["fleet", "status", "--fleet", &broker.address()]).err;
    assert!(refused.contains("nats://USER:PASSWORD@HOST"), "{refused}");
    bench.expect(0, &["fleet", "status", "--fleet", &format!("nats://me:s%40cret@{}", broker.listens)]);
}

#[test]
fn a_replay_is_refused_and_costs_nothing() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    keys(&bench, "keys", &[]);
    let mut broker = Broker::start(&bench, "");
    broker.conductor = vec!["--fleet-key".to_owned(), "keys/conductor.nk".to_owned()];
    let trusted = bench.expect(0, &["fleet", "keys", "keys"]).out;
    let trusted = trusted.split_whitespace().skip_while(|word| *word != "--trust").nth(1).unwrap().to_owned();
    let open = broker.agent("a", &["--trust", &trusted]);
    open.reports("waits for runs");
    let url = target.url("/");
    let unsigned = ["run", &url, "-n", "10", "--no-probe", "--fleet", &broker.address()];
    let refused = bench.expect(1, &unsigned).err;
    assert!(refused.contains("a could not begin") && refused.contains("--fleet-key FILE"), "{refused}");
    drop(open);
    let mut tap = Tap::new(broker.listens);
    let agent = broker.agent("a", &["--trust", &trusted]);
    agent.reports("waits for runs");
    broker.gives_1000(&target, "1");
    agent.reports(": ended");
    let recorded = tap.recorded();
    tap.replay(&recorded);
    agent.reports("the run has ended here, and the invitation is a replay");
    broker.gives_1000(&target, "1");
    drop(agent);
    let again = broker.agent("a", &["--trust", &trusted]);
    again.reports("waits for runs");
    // Only a sign of life shows that the broker knows of its subscription.
    until("the agent is heard", || {
        bench.expect(0, &["fleet", "status", "--fleet", &broker.address()]).out.contains("agent   a ")
    });
    tap.replay(&recorded);
    again.reports("another process of this agent's name, or a replay");
    tap.replay(&recorded.iter().map(|message| message.altered()).collect::<Vec<_>>());
    again.reports("its signature does not fit");
    broker.gives_1000(&target, "1");
}

/// A client of the broker that hears what agents are asked to do, and says it again.
struct Tap {
    stream: TcpStream,
    heard: BufReader<TcpStream>,
}

/// A message with its headers, as they came.
struct Recorded {
    subject: String,
    header_bytes: usize,
    content: Vec<u8>,
}

impl Recorded {
    /// With another signature.
    fn altered(&self) -> Self {
        let mut content = self.content.clone();
        let end = content[..self.header_bytes].windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        // The last character of base64 is a mark of its length; one far in front of it is part of the signature.
        let letter = &mut content[end - 40];
        *letter = if *letter == b'A' { b'B' } else { b'A' };
        Self { subject: self.subject.clone(), header_bytes: self.header_bytes, content }
    }
}

impl Tap {
    fn new(broker: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(broker).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let connect =
            "CONNECT {\"verbose\":false,\"headers\":true,\"echo\":false}\r\nSUB plimsoll.*.to.* 1\r\n";
        stream.write_all(connect.as_bytes()).unwrap();
        let heard = BufReader::new(stream.try_clone().unwrap());
        Self { stream, heard }
    }

    /// Everything since the last time.
    fn recorded(&mut self) -> Vec<Recorded> {
        self.stream.write_all(b"PING\r\n").unwrap();
        let mut recorded = Vec::new();
        loop {
            let mut line = String::new();
            self.heard.read_line(&mut line).unwrap();
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["HMSG", subject, _, header_bytes, bytes] => {
                    let mut content = vec![0; bytes.parse::<usize>().unwrap() + 2];
                    std::io::Read::read_exact(&mut self.heard, &mut content).unwrap();
                    content.truncate(content.len() - 2);
                    let (subject, header_bytes) = (subject.to_owned(), header_bytes.parse().unwrap());
                    recorded.push(Recorded { subject, header_bytes, content });
                }
                ["PING"] => self.stream.write_all(b"PONG\r\n").unwrap(),
                ["PONG"] => return recorded,
                _ => {}
            }
        }
    }

    fn replay(&mut self, messages: &[Recorded]) {
        assert!(!messages.is_empty());
        for Recorded { subject, header_bytes, content } in messages {
            write!(self.stream, "HPUB {subject} {header_bytes} {}\r\n", content.len()).unwrap();
            self.stream.write_all(content).unwrap();
            self.stream.write_all(b"\r\n").unwrap();
        }
    }
}

/// Certificates of one authority for a broker and a client.
fn certificates(bench: &Bench) {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    let authority = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let signed = params.self_signed(&authority).unwrap();
    let issuer = Issuer::new(params, authority);
    let write = |name: &str, text: String| std::fs::write(bench.path(name), text).unwrap();
    write("ca.pem", signed.pem());
    for name in ["broker", "client"] {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        write(&format!("{name}.pem"), params.signed_by(&key, &issuer).unwrap().pem());
        write(&format!("{name}.key"), key.serialize_pem());
    }
}

#[test]
fn with_mutual_tls_only_clients_with_a_certificate_get_in() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    certificates(&bench);
    let files: Vec<PathBuf> =
        ["broker.pem", "broker.key", "ca.pem"].iter().map(|name| bench.path(name)).collect();
    let [certificate, key, authority] = &files[..] else { panic!() };
    let tls = format!(
        "tls {{ cert_file: {certificate:?}, key_file: {key:?}, ca_file: {authority:?}, verify: true }}"
    );
    let mut broker = Broker::start(&bench, &tls);
    let flags = ["--fleet-cacert", "ca.pem", "--fleet-cert", "client.pem", "--fleet-cert-key", "client.key"];
    broker.conductor = flags.map(str::to_owned).to_vec();
    broker.agent("a", &["--cacert", "ca.pem"]).fails("--cert FILE --cert-key FILE");
    broker.agent("a", &[]).fails("--cacert FILE");
    let agent =
        broker.agent("a", &["--cacert", "ca.pem", "--cert", "client.pem", "--cert-key", "client.key"]);
    agent.reports("waits for runs");
    broker.gives_1000(&target, "1");
}
