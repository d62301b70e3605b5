use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use super::class::Class;
use super::looks::Look;
use super::*;
use crate::lookout::Member;
use crate::process_stat::tests::line;
use crate::source::tests::tree;

fn member(pid: u32) -> Member {
    Member { pid, parent: 1, name: "x".to_owned(), started_ticks: 900 }
}

/// One look at a process with threads of these states, functions and system calls.
fn look(threads: &[(char, &str, &str)]) -> Seen {
    let mut files = Vec::new();
    for (tid, (state, function, call)) in (10..).zip(threads) {
        let folder = format!("proc/10/task/{tid}");
        files.push((format!("{folder}/stat"), line(tid, "x", *state, 1, 1)));
        files.push((format!("{folder}/wchan"), (*function).to_owned()));
        files.push((format!("{folder}/syscall"), (*call).to_owned()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let root = tree(&files);
    Look::new(root.path().join("proc")).at(&[member(10)]).remove(&10).unwrap()
}

#[test]
fn threads_are_counted_where_they_wait() {
    let write = format!("{} 0x3 0x0", libc::SYS_sendto);
    let read = format!("{} 0x3 0x0", libc::SYS_recvfrom);
    let seen = look(&[
        ('S', "futex_wait_queue", ""),
        ('S', "futex_do_wait", ""),
        ('S', "ep_poll", ""),
        ('S', "wait_woken", &write),
        ('S', "wait_woken", &read),
        ('S', "anon_pipe_read", ""),
        ('S', "sigsuspend.isra.0", ""),
        ('D', "io_schedule", ""),
        ('Z', "0", ""),
    ]);
    assert!(!seen.is_closed());
    let counters = counters(&seen);
    let names = ["looks", "futex", "epoll", "socket_write", "socket_read", "pipe", "other", "disk", "timer"];
    assert_eq!(names.map(|name| counters[name]), [1, 2, 1, 1, 1, 1, 1, 1, 0]);
}

#[test]
fn of_several_ready_threads_on_one_core_at_most_one_runs() {
    let seen = look(&[('R', "0", ""), ('R', "0", ""), ('R', "0", "")]);
    assert_eq!(seen.running + seen.runnable, 3);
    assert!(seen.running <= 1, "all three are on core 1");
}

#[test]
fn a_process_that_does_not_say_where_it_waits_has_no_classes_and_is_a_failure() {
    let seen = look(&[('S', "0", ""), ('S', "0", ""), ('D', "0", "")]);
    assert!(seen.is_closed());
    let counters = counters(&seen);
    assert_eq!((counters["disk"], counters.get("other")), (1, None), "missing is never zero");
    let (subject, reading) = closed(&["x"].into()).unwrap();
    assert!(
        subject.is_empty() && matches!(reading, Reading::Failed(why) if why.contains("threads of x wait"))
    );
    assert_eq!(closed(&[].into()), None);
}

struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A real process that says «ready» and then waits as `script` says; this test waits for it to do so.
fn waits(script: &str, class: Class) {
    let script = format!("import socket, select, time, sys\nprint('ready', flush=True)\n{script}");
    let mut command = Command::new("python3");
    command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = Owned(command.spawn().unwrap());
    BufReader::new(child.0.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    let members = Arc::new(Mutex::new(vec![member(child.0.id())]));
    let looker = looks::Looker::start(Path::new("/proc").to_owned(), members).unwrap();
    for _ in 0..1000 {
        let seen = looker.seen();
        if seen.get(&child.0.id()).is_some_and(|seen| seen.classes[&class] > 0) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{class:?} not seen within ten seconds: {:?}", looker.seen());
}

#[test]
fn real_processes_are_seen_where_they_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("s = socket.create_connection(('127.0.0.1', {port}))");
    waits("time.sleep(60)", Class::Timer);
    waits("sys.stdin.read(1)", Class::Pipe);
    waits("e = select.epoll(); e.poll(60)", Class::Epoll);
    waits("s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); s.accept()", Class::Accept);
    waits(&format!("{connect}; s.recv(1)"), Class::SocketRead);
    waits(&format!("{connect}; s.sendall(bytes(100_000_000))"), Class::SocketWrite);
    waits("import threading; threading.Event().wait()", Class::Futex);
}
