use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use plimsoll_record::Reading;
use rustix::event::{PollFd, PollFlags, poll};

use super::class::Class;
use super::sampler::ThreadSampler;
use super::*;
use crate::collector::tests::tree;
use crate::process::stat::tests::line;
use crate::process::table::Process;

fn member(pid: u32) -> Process {
    Process { pid, parent: 1, name: "x".to_owned(), started_ticks: 900, cpu_ticks: 0 }
}

/// One sample of a process with threads in these states, functions and system calls.
fn sample(threads: &[(char, &str, &str)]) -> Found {
    let mut files = Vec::new();
    for (tid, (state, function, call)) in (10..).zip(threads) {
        let folder = format!("proc/10/task/{tid}");
        files.push((format!("{folder}/stat"), line(tid, "x", *state, 1, 1)));
        files.push((format!("{folder}/wchan"), (*function).to_owned()));
        files.push((format!("{folder}/syscall"), (*call).to_owned()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let root = tree(&files);
    ThreadSampler::new(root.path().join("proc")).sample(&[member(10)]).remove(&10).unwrap()
}

#[test]
fn threads_are_counted_where_they_wait() {
    let write = format!("{} 0x3 0x0", libc::SYS_sendto);
    let read = format!("{} 0x3 0x0", libc::SYS_recvfrom);
    let found = sample(&[
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
    assert!(!found.is_closed());
    let counters = counters(&found);
    let expected = [
        (waiting::LOOKS, 1),
        (waiting::FUTEX, 2),
        (waiting::EPOLL, 1),
        (waiting::SOCKET_WRITE, 1),
        (waiting::SOCKET_READ, 1),
        (waiting::PIPE, 1),
        (waiting::OTHER, 1),
        (waiting::DISK, 1),
        (waiting::TIMER, 0),
    ];
    assert_eq!(expected.map(|(metric, _)| (metric, counters.get(metric).unwrap())), expected);
}

#[test]
fn of_several_ready_threads_on_one_core_at_most_one_runs() {
    let found = sample(&[('R', "0", ""), ('R', "0", ""), ('R', "0", "")]);
    assert_eq!(found.running + found.runnable, 3);
    assert!(found.running <= 1, "all three are on core 1");
}

#[test]
fn a_process_whose_waits_are_hidden_has_no_classes_and_is_a_failure() {
    let found = sample(&[('S', "0", ""), ('S', "0", ""), ('D', "0", "")]);
    assert!(found.is_closed());
    let counters = counters(&found);
    assert_eq!(
        (counters.get(waiting::DISK), counters.get(waiting::OTHER)),
        (Some(1), None),
        "missing is never zero"
    );
    let read = closed(&["x"].into()).unwrap();
    assert!(read.subject.is_empty() && matches!(read.reading, Reading::Failed(_)), "{read:?}");
    assert_eq!(closed(&[].into()), None);
}

/// Starts a thread of this process that waits as `wait` does, and is done with what that gives.
fn thread<T>(wait: impl FnOnce() -> T + Send + 'static) -> JoinHandle<()> {
    std::thread::spawn(move || drop(wait()))
}

/// Waits until every class was found; a sample that comes too early is followed by another.
fn await_classes(sampler: &WchanSampler, classes: &[Class]) {
    for _ in 0..2000 {
        let all = |found: &Found| classes.iter().all(|class| found.classes[*class as usize] > 0);
        if sampler.found().values().any(all) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not all of {classes:?} within 20 s: {:?}", sampler.found());
}

#[test]
fn real_threads_are_found_where_they_wait() {
    let (listener, other) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = listener.local_addr().unwrap();
    let connect = || (TcpStream::connect(other.local_addr().unwrap()).unwrap(), other.accept().unwrap().0);
    let ((mut reader, silent), (mut writer, deaf)) = (connect(), connect());
    let (mut pipe, full) = std::io::pipe().unwrap();
    let (polled, never) = std::io::pipe().unwrap();
    let (over, tell) = (Arc::new(AtomicBool::new(false)), mpsc::channel::<()>());
    let is_over = Arc::clone(&over);
    let threads = [
        thread(move || listener.accept()),
        thread(move || reader.read(&mut [0])),
        thread(move || writer.write_all(&vec![0; 100_000_000])),
        thread(move || pipe.read(&mut [0])),
        thread(move || poll(&mut [PollFd::new(&polled, PollFlags::IN)], None)),
        thread(move || tell.1.recv()),
        thread(move || {
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(200));
            }
        }),
    ];
    let members = Arc::new(Mutex::new(vec![member(std::process::id())]));
    let sampler = WchanSampler::start(Path::new("/proc").to_owned(), members).unwrap();
    use Class::{Accept, Epoll, Futex, Pipe, SocketRead, SocketWrite, Timer};
    await_classes(&sampler, &[Accept, SocketRead, SocketWrite, Pipe, Epoll, Futex, Timer]);
    over.store(true, Ordering::Relaxed);
    drop((TcpStream::connect(address), silent, deaf, full, never, tell.0));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
