use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

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

/// Starts a thread of this process that waits as `wait` does, and is done with what that gives.
fn thread<T>(wait: impl FnOnce() -> T + Send + 'static) -> JoinHandle<()> {
    std::thread::spawn(move || drop(wait()))
}

/// Looks at this process until every class was seen; a look that comes too early is followed by another.
fn look_until_seen(looker: &looks::Looker, classes: &[Class]) {
    for _ in 0..2000 {
        let seen = looker.seen();
        let all = |seen: &Seen| classes.iter().all(|class| seen.classes[class] > 0);
        if seen.values().any(all) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not all of {classes:?} within 20 s: {:?}", looker.seen());
}

#[test]
fn real_threads_are_seen_where_they_wait() {
    let (listener, other) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = listener.local_addr().unwrap();
    let connect = || (TcpStream::connect(other.local_addr().unwrap()).unwrap(), other.accept().unwrap().0);
    let ((mut reader, silent), (mut writer, deaf)) = (connect(), connect());
    let (mut pipe, full) = std::io::pipe().unwrap();
    let (polled, never) = std::io::pipe().unwrap();
    let (told, tell) = (Arc::new(AtomicBool::new(false)), mpsc::channel::<()>());
    let over = Arc::clone(&told);
    let threads = [
        thread(move || listener.accept()),
        thread(move || reader.read(&mut [0])),
        thread(move || writer.write_all(&vec![0; 100_000_000])),
        thread(move || pipe.read(&mut [0])),
        thread(move || poll(&mut [PollFd::new(&polled, PollFlags::IN)], None)),
        thread(move || tell.1.recv()),
        thread(move || {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(200));
            }
        }),
    ];
    let members = Arc::new(Mutex::new(vec![member(std::process::id())]));
    let looker = looks::Looker::start(Path::new("/proc").to_owned(), members).unwrap();
    use Class::{Accept, Epoll, Futex, Pipe, SocketRead, SocketWrite, Timer};
    look_until_seen(&looker, &[Accept, SocketRead, SocketWrite, Pipe, Epoll, Futex, Timer]);
    told.store(true, Ordering::Relaxed);
    drop((TcpStream::connect(address), silent, deaf, full, never, tell.0));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
