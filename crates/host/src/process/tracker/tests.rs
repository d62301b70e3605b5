//! A proxy in front of an application: what the collectors report of the two, and of other processes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};

use plimsoll_record::metric::{cgroup, interface, listener, process, tcp, thread};
use plimsoll_record::{Counters, HostSample, Metric, Reading};

use super::*;
use crate::net::tcp_table::Socket;
use crate::process::stat::tests::line;
use crate::process::{thread as threads, usage};
use crate::{CgroupPaths, Host};

/// A machine's file tree.
struct Machine(tempfile::TempDir);

impl Machine {
    /// A machine with a proxy of two processes that listens on port 80, an application that it has two connections to,
    /// a database on another machine, and a process that has nothing to do with all that.
    fn new() -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        machine.process(1, "init", 0, &[99]);
        machine.process(10, "proxy", 1, &[1]);
        machine.process(11, "proxy", 10, &[1, 20, 23, 30]);
        machine.process(40, "app", 1, &[2, 21, 24, 22]);
        machine.process(41, "app", 40, &[]);
        machine.process(50, "noisy", 1, &[]);
        machine.sockets(&[
            "0: 00000000:0050 00000000:0000 0A 00000000:00000003 00:00000000 00000000 0 0 1 1 0",
            "1: 0100007F:2328 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 2 1 0",
            "2: 0100007F:9C40 0100007F:2328 01 00000000:00000000 00:00000000 00000000 0 0 20 1 0",
            "3: 0100007F:2328 0100007F:9C40 01 00000000:00000007 00:00000000 00000000 0 0 21 1 0",
            "4: 0100007F:9C41 0100007F:2328 01 00000000:00000000 00:00000000 00000000 0 0 23 1 0",
            "5: 0100007F:2328 0100007F:9C41 01 00000000:00000000 00:00000000 00000000 0 0 24 1 0",
            "6: 0900000A:9C42 0800000A:18EB 01 00000000:00000000 00:00000000 00000000 0 0 22 1 0",
            "7: 0900000A:0050 0700000A:C350 01 00000000:00000000 00:00000000 00000000 0 0 30 1 0",
            "8: 0900000A:0050 0700000A:C351 01 00000000:00000005 00:00000000 00000000 0 0 0 1 0",
        ]);
        machine
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn process(&self, pid: u32, name: &str, parent: u32, sockets: &[u64]) {
        self.write(&format!("proc/{pid}/stat"), &line(pid, name, 'S', parent, 100));
        self.write(&format!("proc/{pid}/limits"), "Max open files            1024      4096      files\n");
        self.write(
            &format!("proc/{pid}/io"),
            "rchar: 5\nsyscr: 6\nsyscw: 7\nread_bytes: 8\nwrite_bytes: 9\n",
        );
        self.write(&format!("proc/{pid}/cgroup"), "0::/box\n");
        self.thread(pid, pid, 1_000_000);
        fs::create_dir(self.root().join(format!("proc/{pid}/fd"))).unwrap();
        for inode in sockets {
            let link = self.root().join(format!("proc/{pid}/fd/{inode}"));
            symlink(format!("socket:[{inode}]"), link).unwrap();
        }
    }

    fn thread(&self, pid: u32, tid: u32, run_ns: u64) {
        let folder = format!("proc/{pid}/task/{tid}");
        self.write(&format!("{folder}/schedstat"), &format!("{run_ns} 2000 {run_ns}\n"));
        let status = "Name:\tworker\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t1\n";
        self.write(&format!("{folder}/status"), status);
    }

    fn sockets(&self, lines: &[&str]) {
        let text = format!("sl local_address rem_address st\n{}\n", lines.join("\n"));
        self.write("proc/net/tcp", &text);
    }

    fn host(&self, watched: &Watched) -> Host {
        Host::local("local", self.root(), watched)
    }
}

fn port(port: u16) -> Watched {
    Watched { ports: vec![port], ..Watched::default() }
}

fn samples(host: &mut Host) -> Vec<HostSample> {
    host.samples(Instant::default())
}

/// The subjects of a source.
fn subjects(samples: &[HostSample], source: Source) -> Vec<&str> {
    samples.iter().filter(|one| one.source == source).map(|one| one.subject.as_str()).collect()
}

/// What a source reported of a subject.
fn counters<'a>(samples: &'a [HostSample], source: Source, subject: &str) -> &'a Counters {
    let found = samples.iter().find(|one| one.source == source && one.subject == subject);
    match &found.unwrap_or_else(|| panic!("no {source} of {subject}: {samples:#?}")).reading {
        Reading::Ok(counters) => counters,
        other => panic!("{source} of {subject}: {other:?}"),
    }
}

/// The peers of a process.
fn peers<'a>(samples: &'a [HostSample], subject: &str) -> Vec<(&'a str, u64)> {
    counters(samples, Source::Peers, subject).iter().collect()
}

const LEVELS: [Metric; 4] = [listener::PID, listener::QUEUE, listener::ESTABLISHED, listener::UNREAD];

#[test]
fn the_tiers_behind_a_port_are_found_with_their_children_and_no_others() {
    let machine = Machine::new();
    let samples = samples(&mut machine.host(&port(80)));
    assert_eq!(subjects(&samples, Source::Process), ["10 proxy", "11 proxy", "40 app", "41 app"]);
    let front = counters(&samples, Source::Listener, "0.0.0.0:80");
    let values = LEVELS.map(|metric| front[metric]);
    assert_eq!(values, [10, 3, 2, 1], "the child got the socket from its parent");
    assert_eq!(front.get(listener::QUEUE_LIMIT), None, "files do not say it");
    let back = counters(&samples, Source::Listener, "127.0.0.1:9000");
    assert_eq!(LEVELS.map(|metric| back[metric]), [40, 0, 2, 1]);
    assert_eq!(subjects(&samples, Source::Peers), ["11 proxy", "40 app"]);
    assert_eq!(peers(&samples, "11 proxy"), [("127.0.0.1:9000", 2)]);
    assert_eq!(peers(&samples, "40 app"), [("10.0.0.8:6379", 1)]);
}

#[test]
fn a_dependency_of_connections_that_live_for_one_request_is_found_while_one_is_open() {
    let machine = Machine::new();
    let front = "0: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1 1 0";
    let behind = "1: 0100007F:2328 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 2 1 0";
    machine.sockets(&[front, behind]);
    let round = Round::default();
    let mut tracker = ProcessTracker::new(machine.root(), None, &port(80), &round);
    let members = |tracker: &ProcessTracker| tracker.members.keys().copied().collect::<Vec<u32>>();
    let begun = Instant::default();
    tracker.refresh(begun);
    assert_eq!(members(&tracker), [10, 11]);
    // The proxy was searched before; its new connection was not there then. Of the second one the descriptor is closed again.
    machine.sockets(&[
        front,
        behind,
        "2: 0100007F:9C40 0100007F:2328 01 00000000:00000000 00:00000000 00000000 0 0 20 1 0",
        "3: 0100007F:2328 0100007F:9C40 01 00000000:00000000 00:00000000 00000000 0 0 21 1 0",
        "4: 0100007F:9C41 0100007F:2328 01 00000000:00000000 00:00000000 00000000 0 0 77 1 0",
    ]);
    round.begin();
    tracker.refresh(begun + Duration::from_secs(3600));
    assert_eq!(members(&tracker), [10, 11, 40, 41]);
    let openers: Vec<Option<u32>> =
        tracker.sockets().unwrap().0.outbound().map(|socket| tracker.opener(socket)).collect();
    assert_eq!(openers, [Some(11), Some(11)], "one without an owner is taken for the opener of others");
}

#[test]
fn processes_can_be_named_by_id_and_by_name() {
    let machine = Machine::new();
    for watched in [
        Watched { pids: vec![40], ..Watched::default() },
        Watched { names: vec!["app".to_owned()], ..Watched::default() },
    ] {
        let samples = samples(&mut machine.host(&watched));
        assert_eq!(subjects(&samples, Source::Process), ["40 app", "41 app"]);
        assert_eq!(subjects(&samples, Source::Listener), ["127.0.0.1:9000"]);
    }
}

#[test]
fn a_process_reports_what_it_used_and_what_it_may_use() {
    let machine = Machine::new();
    machine.write("sys/fs/cgroup/cgroup.procs", "");
    machine.write("sys/fs/cgroup/box/cpu.max", "50000 100000\n");
    machine.write("sys/fs/cgroup/box/cpu.stat", "usage_usec 7\nnr_throttled 2\n");
    machine.thread(40, 45, 3_000_000);
    let samples = samples(&mut machine.host(&port(9000)));
    let app = counters(&samples, Source::Process, "40 app");
    let expected = [
        (process::PARENT, 1),
        // More than its threads have used: others have ended.
        (process::CPU_US, 1_070_000),
        (process::RUN_WAIT_US, 4),
        (process::VOLUNTARY_SWITCHES, 6),
        (process::INVOLUNTARY_SWITCHES, 2),
        (process::THREADS, 5),
        (process::DESCRIPTORS, 4),
        (process::DESCRIPTORS_LIMIT, 1_024),
        (process::READ_CALLS, 6),
        (process::WRITE_CALLS, 7),
        (process::READ_BYTES, 8),
        (process::WRITE_BYTES, 9),
        (process::MAJOR_FAULTS, 3),
        (process::USER_MS, 1_000),
        (process::SYSTEM_MS, 70),
        (process::QUOTA_US, 50_000),
        (process::PERIOD_US, 100_000),
    ];
    for (metric, value) in expected {
        // A file system in memory has another size of its folders than /proc.
        assert!(app[metric] == value || metric == process::DESCRIPTORS, "{metric:?}: {}", app[metric]);
    }
    assert_eq!(counters(&samples, Source::Cgroup, "/box")[cgroup::THROTTLED_PERIODS], 2);
}

#[test]
fn threads_are_reported_once_they_run_and_from_then_on() {
    let machine = Machine::new();
    machine.thread(40, 45, 3_000_000);
    let mut host = machine.host(&port(9000));
    assert_eq!(subjects(&samples(&mut host), Source::Thread), [""; 0], "no time has passed");
    let later = |run_ns: u64, host: &mut Host| {
        machine.thread(40, 45, run_ns);
        samples(host)
    };
    let seen = later(5_000_000, &mut host);
    assert_eq!(counters(&seen, Source::Thread, "40/45 worker")[thread::CPU_US], 5_000);
    assert_eq!(
        subjects(&later(5_000_000, &mut host), Source::Thread),
        ["40/45 worker"],
        "although it did not run"
    );
}

#[test]
fn a_thread_that_becomes_busy_late_is_reported_although_many_were_before() {
    let machine = Machine::new();
    let (early, late) = (1_000..1_200, 2_000);
    early.clone().chain([late]).for_each(|tid| machine.thread(40, tid, 1_000_000));
    let round = Round::default();
    let mut tracker = ProcessTracker::new(machine.root(), None, &port(9000), &round);
    // Each round reads the threads, whatever that costs.
    tracker.reading = Pace::new(Duration::ZERO, 0);
    let mut collector = threads::collector(SharedTracker::new(tracker));
    let mut reported = || {
        round.begin();
        (collector.read)().into_iter().map(|read| read.subject.to_string()).collect::<Vec<String>>()
    };
    assert_eq!(reported(), [""; 0]);
    // Some more begin to run before each read, until there is no room.
    for tid in early {
        machine.thread(40, tid, 2_000_000);
        if tid % 30 == 0 {
            reported();
        }
    }
    let full = reported();
    machine.thread(40, late, 1_000_000_000);
    let seen = reported();
    assert_eq!((full.len(), seen.len()), (128, 128));
    assert!(seen.contains(&"40/2000 worker".to_owned()) && !full.contains(&"40/2000 worker".to_owned()));
}

#[test]
fn threads_are_read_more_rarely_where_that_costs_more_and_nothing_is_reported_in_between() {
    let machine = Machine::new();
    let round = Round::default();
    let mut tracker = ProcessTracker::new(machine.root(), None, &port(9000), &round);
    let hour = Duration::from_secs(3600);
    tracker.reading = Pace::new(hour, 1);
    let tracker = SharedTracker::new(tracker);
    let (mut usage, mut threads) =
        (usage::collector(machine.root(), tracker.clone()), threads::collector(tracker.clone()));
    let mut reads = |run_ns: u64| {
        round.begin();
        machine.thread(40, 45, run_ns);
        ((usage.read)().len(), (threads.read)().len())
    };
    assert_eq!(reads(1_000_000), (2, 0));
    assert_eq!(reads(2_000_000), (2, 1), "the first read says nothing of what the next ones cost");
    assert_eq!(reads(3_000_000), (0, 0), "too early: what is known is of an earlier time");
    round.begin();
    let mut tracker = tracker.0.lock();
    tracker.refresh(RealClock.now() + hour);
    assert!(tracker.has_read_threads());
}

#[test]
fn a_list_of_sockets_that_fails_once_ends_no_process_that_is_watched() {
    let machine = Machine::new();
    let round = Round::default();
    let mut tracker = ProcessTracker::new(machine.root(), None, &port(80), &round);
    let members = |tracker: &ProcessTracker| tracker.members.keys().copied().collect::<Vec<u32>>();
    let begun = RealClock.now();
    tracker.refresh(begun);
    assert_eq!(members(&tracker), [10, 11, 40, 41]);
    let list = machine.root().join("proc/net/tcp");
    fs::remove_file(&list).unwrap();
    fs::create_dir(&list).unwrap();
    round.begin();
    tracker.refresh(begun + Duration::from_secs(3600));
    assert!(matches!(tracker.sockets(), Err(Missing::Failed(_))));
    assert_eq!(members(&tracker), [10, 11, 40, 41]);
}

#[test]
fn a_port_without_a_listener_is_absent_and_one_of_a_hidden_process_is_a_failure() {
    let machine = Machine::new();
    let process = |samples: Vec<HostSample>| {
        samples
            .into_iter()
            .find(|one| one.source == Source::Process)
            .map(|one| (one.subject, one.reading))
            .unwrap()
    };
    assert_eq!(process(samples(&mut machine.host(&port(81)))), ("".into(), Reading::Absent));
    machine.sockets(&["0: 00000000:0051 00000000:0000 0A 00000000:00000000 00:00000000 0 0 0 77 1 0"]);
    let seen = samples(&mut machine.host(&port(81)));
    assert_eq!(counters(&seen, Source::Listener, "0.0.0.0:81").get(listener::PID), None);
    let (_, reading) = process(seen);
    assert!(matches!(reading, Reading::Failed(_)), "{reading:?}");
}

#[test]
fn the_first_process_is_no_server_although_it_holds_sockets_for_others() {
    let machine = Machine::new();
    machine.sockets(&["0: 00000000:0051 00000000:0000 0A 00000000:00000000 00:00000000 0 0 0 99 1 0"]);
    let samples = samples(&mut machine.host(&port(81)));
    assert_eq!(subjects(&samples, Source::Process), [""]);
}

#[test]
fn a_lab_host_watches_all_processes_of_its_namespace_and_reads_its_network() {
    let machine = Machine::new();
    for pid in [1, 10, 11, 40, 41, 50] {
        fs::create_dir(machine.root().join(format!("proc/{pid}/ns"))).unwrap();
        let namespace = if [40, 50].contains(&pid) { "net:[2]" } else { "net:[1]" };
        symlink(namespace, machine.root().join(format!("proc/{pid}/ns/net"))).unwrap();
    }
    machine.write("proc/50/net/dev", "head|x\n eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
    machine.write("proc/50/net/tcp", "head\n");
    machine.write("sys/fs/cgroup/lab/cpu.stat", "usage_usec 7\n");
    let cgroups = CgroupPaths { unified: Some("/sys/fs/cgroup/lab".into()), ..CgroupPaths::default() };
    let mut host = Host::lab("web", machine.root(), Some(50), &cgroups, &Watched::default());
    let samples = samples(&mut host);
    assert_eq!(subjects(&samples, Source::Process), ["40 app", "50 noisy"]);
    assert_eq!(counters(&samples, Source::Interface, "eth0")[interface::SENT_BYTES], 9);
    assert_eq!(counters(&samples, Source::Cgroup, "")[cgroup::USAGE_US], 7);
    assert_eq!(subjects(&samples, Source::Cpu), [""; 0]);
}

#[test]
fn this_machine_reports_this_process_and_the_server_that_it_is_connected_to() {
    let nginx = plimsoll_testkit::Nginx::start().unwrap();
    let behind = nginx.address().to_string();
    let mut connection = TcpStream::connect(&behind).unwrap();
    connection.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    assert!(connection.read(&mut [0; 1]).unwrap() == 1, "nginx has accepted");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let front = listener.local_addr().unwrap();
    let waiting = TcpStream::connect(front).unwrap();
    let mut host = Host::local("local", Path::new("/"), &port(front.port()));
    let samples = samples(&mut host);
    let queue = counters(&samples, Source::Listener, &front.to_string());
    assert_eq!(
        (queue[listener::PID], queue[listener::QUEUE], queue[listener::ESTABLISHED]),
        (std::process::id().into(), 1, 1)
    );
    assert!(queue[listener::QUEUE_LIMIT] > 0);
    let server = counters(&samples, Source::Listener, &behind);
    assert!(server[listener::QUEUE_LIMIT] > 0 && server[listener::ESTABLISHED] >= 1, "{server:?}");
    assert!(
        subjects(&samples, Source::Process).contains(&format!("{} nginx", server[listener::PID]).as_str())
    );
    let ours = format!("{} ", std::process::id());
    let ours =
        subjects(&samples, Source::Peers).into_iter().find(|subject| subject.starts_with(&ours)).unwrap();
    assert_eq!(counters(&samples, Source::Peers, ours).named(&behind), Some(1));
    for sample in &samples {
        assert!(!matches!(sample.reading, Reading::Failed(_)), "{sample:?}");
    }
    drop(waiting);
}

#[test]
fn a_dependency_behind_a_unix_socket_is_followed_and_reported_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("behind.sock").to_str().unwrap().to_owned();
    let _redis = plimsoll_testkit::Server::redis(&["--unixsocket", &path]).unwrap();
    let mut client = Command::new("redis-cli");
    client.args(["-s", &path]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut client = Owned(client.spawn().unwrap());
    client.0.stdin.as_mut().unwrap().write_all(b"PING\n").unwrap();
    client.0.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
    let watched = Watched { pids: vec![client.0.id()], ..Watched::default() };
    let samples = samples(&mut Host::local("local", Path::new("/"), &watched));
    let subject = format!("unix:{path}");
    let server = counters(&samples, Source::Listener, &subject);
    assert!(server[listener::QUEUE_LIMIT] > 0 && server[listener::ESTABLISHED] == 1, "{server:?}");
    assert!(
        subjects(&samples, Source::Process)
            .contains(&format!("{} redis-server", server[listener::PID]).as_str())
    );
    let client = format!("{} redis-cli", client.0.id());
    assert_eq!(counters(&samples, Source::Peers, &client).named(&subject), Some(1));
}

#[test]
fn a_process_that_serves_other_machines_is_found_without_a_port_and_followed() {
    let machine = Machine::new();
    let watched = Watched { serving: true, ..Watched::default() };
    let seen = samples(&mut machine.host(&watched));
    assert_eq!(subjects(&seen, Source::Process), ["10 proxy", "11 proxy", "40 app", "41 app"]);
    machine.process(std::process::id(), "probe", 10, &[]);
    let seen = samples(&mut machine.host(&watched));
    assert_eq!(subjects(&seen, Source::Process), [""], "what started the probe serves only that");
}

#[test]
fn a_server_whose_socket_the_first_process_holds_too_serves_other_machines() {
    let machine = Machine::new();
    machine.process(std::process::id(), "probe", 1, &[]);
    symlink("socket:[1]", machine.root().join("proc/1/fd/1")).unwrap();
    let watched = Watched { serving: true, ..Watched::default() };
    let seen = samples(&mut machine.host(&watched));
    assert_eq!(subjects(&seen, Source::Process), ["10 proxy", "11 proxy", "40 app", "41 app"]);
}

#[test]
fn processes_beyond_the_limit_are_a_failure_and_are_not_reported_as_others() {
    let machine = Machine::new();
    for pid in 1000..1300 {
        machine.process(pid, "backend", 40, &[]);
    }
    machine.write("proc/1299/stat", &line(1299, "backend", 'S', 40, 900));
    let mut host = machine.host(&port(9000));
    let seen = samples(&mut host);
    let read = subjects(&seen, Source::Process);
    assert_eq!(read.iter().filter(|subject| !subject.is_empty()).count(), MAX_MEMBERS);
    assert!(read.contains(&"40 app") && read.contains(&"1299 backend"), "it listens, or it ran most");
    let failure = seen.iter().find(|one| one.source == Source::Process && one.subject.is_empty()).unwrap();
    assert!(
        matches!(&failure.reading, Reading::Failed(why) if why.contains("302 processes") && why.contains("256")),
        "{failure:?}"
    );
}

#[test]
fn a_long_name_is_that_of_the_process_whose_name_the_kernel_cut() {
    let watched = Watched { names: vec!["prometheus-node-exporter".to_owned()], ..Watched::default() };
    assert!(watched.names(1, "prometheus-node"));
    assert!(!watched.names(1, "prometheus"));
}

struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_real_network_namespace_has_its_own_processes_and_sockets() {
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", "echo here; read line"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut inside = Owned(command.spawn().unwrap());
    let mut here = String::new();
    BufReader::new(inside.0.stdout.as_mut().unwrap()).read_line(&mut here).unwrap();
    if here.is_empty() {
        println!("passed over: this user may not make a network namespace");
        return;
    }
    let pid = inside.0.id();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let is_ours = |socket: &Socket| socket.local == listener.local_addr().unwrap();
    assert!(TcpTable::new(Path::new("/"), None).listening().unwrap().iter().any(is_ours));
    let mut table = TcpTable::new(Path::new("/"), Some(pid));
    assert!(table.kernel.is_some());
    assert_eq!(table.listening().unwrap(), []);
    let watched = Watched::default();
    let mut host = Host::lab("web", Path::new("/"), Some(pid), &CgroupPaths::default(), &watched);
    let samples = samples(&mut host);
    assert_eq!(subjects(&samples, Source::Process), [format!("{pid} sh").as_str()]);
    assert_eq!(subjects(&samples, Source::Interface), ["lo"]);
    assert_eq!(counters(&samples, Source::Tcp, "")[tcp::ESTABLISHED], 0);
}
