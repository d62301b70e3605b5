use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use plimsoll_plan::Level;
use plimsoll_units::Instant;

use super::*;

/// A socket to meet at, and a folder that goes with it.
fn meeting() -> (tempfile::TempDir, PathBuf, UnixListener) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("meet.sock");
    let listener = UnixListener::bind(&path).unwrap();
    (folder, path, listener)
}

/// A mate that says these words, and what the leader says of it.
fn met(words: &[Word], count: usize) -> (Result<Mates, MatesError>, UnixStream) {
    let (_folder, path, listener) = meeting();
    let mate = UnixStream::connect(&path).unwrap();
    words.iter().for_each(|word| say(&mate, word).unwrap());
    (Mates::meet(&listener, count, "1.2", &AtomicBool::new(false)), mate)
}

fn ready(workers: u32) -> Word {
    Word::Ready { version: "1.2".to_owned(), workers }
}

fn wish(workers: u32) -> StepWish {
    let level = Level::Closed { connections: 9, depth: 1 };
    let (begins, origin) = (Instant::from_nanos(90), Instant::from_nanos(7));
    StepWish {
        step: 3,
        level,
        limit: Duration::from_secs(2),
        workers,
        begins,
        interval: Duration::from_millis(50),
        origin,
    }
}

/// The next thing worth telling.
fn trouble(mates: &mut Mates) -> String {
    loop {
        if let News::Trouble(text) | News::Late(text) = mates.next(Duration::from_secs(60)) {
            return text;
        }
    }
}

#[test]
fn workers_of_mates_come_after_those_of_the_leader_and_no_further_than_there_are_connections_for() {
    let (mates, mate) = met(&[ready(4)], 1);
    let mut mates = mates.unwrap();
    assert_eq!(mates.workers(), 4);
    mates.begin(2, &wish(5));
    let Some(Wish::Begin(share)) = Lines::of(&mate).unwrap().next().unwrap() else { panic!("no share") };
    assert_eq!((share.workers_before, share.own_workers, share.step.workers), (2, 3, 5));
    assert_eq!(share.step, wish(5));
    assert!(mates.at_work());
    say(&mate, &Word::Ended { fault: None }).unwrap();
    while mates.at_work() {
        mates.next(Duration::from_secs(60));
    }
    mates.begin(2, &wish(2));
    assert!(!mates.at_work(), "no connection is left for it");
}

#[test]
fn a_mate_that_cannot_begin_or_is_another_version_is_named() {
    let (failed, _mate) = met(&[Word::Failed { why: "no port left".to_owned() }], 1);
    assert!(failed.unwrap_err().to_string().contains("generator 2 could not begin: no port left"));
    let (foreign, _mate) = met(&[Word::Ready { version: "1.1".to_owned(), workers: 1 }], 1);
    assert!(foreign.unwrap_err().to_string().contains("generator 2 is plimsoll 1.1, and this one 1.2"));
}

#[test]
fn a_mate_that_ends_before_it_is_ready_ends_the_waiting() {
    let (_folder, path, listener) = meeting();
    drop(UnixStream::connect(&path).unwrap());
    let error = Mates::meet(&listener, 1, "1.2", &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("generator 2 could not begin: it ended"), "{error}");
}

#[test]
fn the_waiting_for_mates_can_be_interrupted() {
    let (_folder, _path, listener) = meeting();
    let error = Mates::meet(&listener, 1, "1.2", &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(error, MatesError::Interrupted));
}

#[test]
fn what_goes_wrong_elsewhere_is_told_and_a_mate_that_is_gone_is_not_waited_for() {
    let (mates, mate) = met(&[ready(1)], 1);
    let mut mates = mates.unwrap();
    mates.begin(1, &wish(2));
    say(&mate, &Word::Began { late_ns: 25_000_000 }).unwrap();
    assert_eq!(trouble(&mut mates), "generator 2 began 25 ms after the others");
    drop(mate);
    assert!(trouble(&mut mates).contains("generator 2 is gone"));
    assert!(!mates.at_work());
    assert_eq!(mates.workers(), 0, "it takes part in no further step");
}
