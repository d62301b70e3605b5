use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use plimsoll_analyze::Raise;
use plimsoll_plan::{Cap, Level, Shares};
use plimsoll_units::Instant;

use super::*;
use crate::context::StepPlan;

/// A socket to meet at, and a folder that goes with it.
fn meeting() -> (tempfile::TempDir, PathBuf, UnixListener) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("meet.sock");
    let listener = UnixListener::bind(&path).unwrap();
    (folder, path, listener)
}

/// A peer that reports these messages, and what becomes of the group.
fn met(messages: &[Message], count: usize) -> (Result<PeerGroup, PeerError>, Channel<Message, Command>) {
    let (_folder, path, mut listener) = meeting();
    let mut peer = socket_channel(UnixStream::connect(&path).unwrap()).unwrap();
    messages.iter().for_each(|message| peer.sender.send(message).unwrap());
    (PeerGroup::meet(&mut listener, count, "1.2", &AtomicBool::new(false)), peer)
}

fn ready(workers: u32) -> Message {
    Message::Ready { version: "1.2".to_owned(), workers, ceiling_per_sec: None }
}

fn ended(step: Option<u32>) -> Message {
    Message::Ended { step, fault: None }
}

/// The coordinator's share, in which its own two or fewer workers take part.
fn share(own_workers: u32, workers: u32) -> StepShare {
    let step = StepPlan {
        index: 3,
        level: Level::Closed { connections: 9, depth: 1 },
        limit: Duration::from_secs(2),
        interval: Duration::from_millis(50),
        requests_max: None,
    };
    let (begins, origin) = (Instant::from_nanos(90), Instant::from_nanos(7));
    StepShare { step, workers_before: 0, own_workers, shares: Shares::equal(workers), begins, origin }
}

/// The next fault, late begin or end of the run.
fn trouble(group: &mut PeerGroup) -> String {
    loop {
        let event = group.next(Duration::from_secs(60));
        if let Some(PeerEvent::Fault(text) | PeerEvent::Late(text) | PeerEvent::Stop(text)) = event {
            return text;
        }
    }
}

#[test]
fn a_peer_that_does_not_end_is_given_up() {
    let (group, _peer) = met(&[ready(4)], 1);
    let mut group = group.unwrap();
    assert!(group.peers.give_up_at_work().is_empty(), "it has no share yet");
    group.peers.begin(&share(0, 4));
    let given_up = group.peers.give_up_at_work();
    assert!(matches!(&given_up[..], [PeerEvent::Fault(_)]), "{given_up:?}: the coordinator goes on alone");
    assert!(!group.peers.at_work() && group.peers.give_up_at_work().is_empty());
}

#[test]
fn a_peer_of_which_nothing_arrives_after_the_load_is_given_up() {
    let (group, _peer) = met(&[ready(4)], 1);
    let mut group = group.unwrap();
    group.peers.begin(&share(0, 4));
    assert!(group.peers.give_up_silent(share(0, 4).begins).is_empty(), "the load has just begun");
    let heard = Instant::from_nanos(200);
    let began = Message::Began { late_ns: 0, clock_error_ns: None, wall: None };
    group.peers.take_in(0, Ok(Some(began)), heard);
    assert!(group.peers.give_up_silent(heard).is_empty(), "something came");
    let given_up = group.peers.give_up_silent(heard + Duration::from_nanos(1));
    assert!(matches!(&given_up[..], [PeerEvent::Fault(_)]), "{given_up:?}");
    assert!(!group.peers.at_work());
}

#[test]
fn workers_of_peers_come_after_those_of_the_coordinator_and_no_further_than_there_are_connections_for() {
    let (group, mut peer) = met(&[ready(4)], 1);
    let mut group = group.unwrap();
    assert_eq!(group.peers.workers(), 4);
    group.peers.begin(&share(2, 5));
    let Some(Command::Begin(received)) = peer.receiver.receive().unwrap() else { panic!("no share") };
    assert_eq!(received, StepShare { workers_before: 2, own_workers: 3, ..share(2, 5) });
    assert!(group.peers.at_work());
    peer.sender.send(&ended(Some(3))).unwrap();
    while group.peers.at_work() {
        group.next(Duration::from_secs(60));
    }
    group.peers.begin(&share(2, 2));
    assert!(!group.peers.at_work(), "no connection is left for it");
}

/// A group of peers that make nothing but are ready, each with its workers and its ceiling.
fn ready_peers(ready: &[(u32, Option<u64>)]) -> Peers {
    let mut peers = Peers::new(false, Instant::from_nanos(0));
    for (index, (workers, ceiling_per_sec)) in ready.iter().enumerate() {
        let (commands, _) = UnixStream::pair().unwrap();
        peers.add(Some(format!("agent-{index}")), Box::new(commands), Instant::from_nanos(0));
        let (version, workers, ceiling_per_sec) = ("1.2".to_owned(), *workers, *ceiling_per_sec);
        let ready = Message::Ready { version, workers, ceiling_per_sec };
        peers.introduce(index, Ok(Some(ready)), "1.2").unwrap();
    }
    peers
}

#[test]
fn a_load_is_divided_by_ceilings_and_divided_anew_once_a_peer_is_lost() {
    let known = [(2, Some(100_000)), (1, Some(50_000)), (1, None)];
    let mut peers = ready_peers(&known);
    let parts = |peers: &Peers| {
        let shares = peers.divide(0, peers.workers());
        (0..peers.workers()).map(|worker| shares.part(worker, 1_000)).collect::<Vec<_>>()
    };
    assert_eq!(parts(&peers), [300, 300, 150, 250]);
    assert_eq!(peers.divide(0, 2), Shares::equal(2), "only the first takes part");
    peers.take_in(0, Ok(None), Instant::from_nanos(1));
    assert_eq!(parts(&peers), [500, 500], "what is not known counts as the mean of what is");
    let mut alike = ready_peers(&[(2, Some(70_000)), (3, Some(70_000))]);
    assert_eq!(alike.divide(0, 5), Shares::equal(5));
    alike.set_on_loss(OnLoss::Continue);
    alike.take_in(0, Ok(None), Instant::from_nanos(1));
    assert_eq!(alike.divide(0, alike.workers()), Shares::equal(5), "no other peer makes its part");
}

#[test]
fn a_peer_that_cannot_begin_or_is_another_version_is_named() {
    let (failed, _peer) = met(&[Message::Failed { why: "no port left".to_owned() }], 1);
    assert!(
        matches!(failed, Err(PeerError::Failed { name, why }) if name == "generator 2" && why == "no port left")
    );
    let (foreign, _peer) =
        met(&[Message::Ready { version: "1.1".to_owned(), workers: 1, ceiling_per_sec: None }], 1);
    assert!(matches!(
        foreign,
        Err(PeerError::Version { name, theirs, ours }) if name == "generator 2" && theirs == "1.1" && ours == "1.2"
    ));
}

#[test]
fn a_peer_that_ends_before_it_is_ready_ends_the_waiting() {
    let (_folder, path, mut listener) = meeting();
    drop(UnixStream::connect(&path).unwrap());
    let error = PeerGroup::meet(&mut listener, 1, "1.2", &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, PeerError::Failed { .. }), "{error}");
}

#[test]
fn the_waiting_for_peers_can_be_interrupted() {
    let (_folder, _path, mut listener) = meeting();
    let error = PeerGroup::meet(&mut listener, 1, "1.2", &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(error, PeerError::Interrupted));
}

#[test]
fn a_late_peer_is_reported_and_one_that_is_gone_is_not_waited_for() {
    let (group, mut peer) = met(&[ready(1)], 1);
    let mut group = group.unwrap();
    group.peers.begin(&share(1, 2));
    peer.sender.send(&Message::Began { late_ns: 25_000_000, clock_error_ns: None, wall: None }).unwrap();
    assert_eq!(trouble(&mut group), "generator 2 began 25 ms after the others");
    drop(peer);
    assert_eq!(trouble(&mut group), "generator 2 is gone; what it measured last is not counted");
    assert!(!group.peers.at_work());
    assert_eq!(group.peers.workers(), 0, "it takes part in no further step");
}

/// The peers of a coordinator that is gone, one of which makes a share already, and what each of them is asked.
fn taken_over() -> (PeerGroup, [Channel<Message, Command>; 2]) {
    let (_folder, path, mut listener) = meeting();
    let peers = [(); 2].map(|()| socket_channel(UnixStream::connect(&path).unwrap()).unwrap());
    let share = |name: &str, workers| plimsoll_record::GeneratorShare {
        name: name.to_owned(),
        first_worker: 0,
        workers,
        ceiling_per_sec: None,
        part_ppm: None,
        clock_error_ns: None,
        wall: None,
        lost_ns: None,
    };
    let under_way = [share("generator 2", 2), share("generator 3", 0)];
    let former = [share("generator 2", 1), share("generator 3", 4)];
    (PeerGroup::resume(&mut listener, (Some(3), &under_way), &former, Instant::default()).unwrap(), peers)
}

#[test]
fn peers_of_a_coordinator_that_is_gone_take_part_once_nothing_of_earlier_steps_can_come() {
    let (mut group, [mut working, mut idle]) = taken_over();
    group.stand_by();
    let Some(Command::StandBy { asked }) = working.receiver.receive().unwrap() else { panic!("not asked") };
    assert_eq!(idle.receiver.receive().unwrap(), Some(Command::Abandon), "its step is not recorded");
    assert_eq!(idle.receiver.receive().unwrap(), Some(Command::StandBy { asked }));
    // The first conductor heard this already.
    working.sender.send(&ready(7)).unwrap();
    working.sender.send(&Message::StandsBy { asked: asked - 1, workers: 7, ceiling_per_sec: None }).unwrap();
    for _ in 0..2 {
        working.sender.send(&ended(Some(3))).unwrap();
    }
    working.sender.send(&Message::StandsBy { asked, workers: 2, ceiling_per_sec: None }).unwrap();
    idle.sender.send(&Message::StandsBy { asked, workers: 3, ceiling_per_sec: None }).unwrap();
    let interrupted = AtomicBool::new(false);
    assert!(group.await_standing_by(&interrupted).is_empty());
    assert_eq!(group.peers.workers(), 5);
    group.peers.begin(&share(0, 5));
    assert!(group.peers.at_work());
    assert!(group.next(Duration::from_millis(1)).is_none() && group.peers.at_work(), "no old end is left");
}

#[test]
fn the_end_of_an_earlier_step_does_not_end_the_one_that_is_on() {
    let (mut group, [mut working, idle]) = taken_over();
    working.sender.send(&ended(Some(2))).unwrap();
    drop(idle);
    assert!(trouble(&mut group).contains("is gone"));
    assert!(group.next(Duration::from_millis(50)).is_none() && group.peers.at_work());
    working.sender.send(&ended(None)).unwrap();
    while group.peers.at_work() {
        group.next(Duration::from_secs(60));
    }
}

#[test]
fn a_peer_that_failed_as_its_coordinator_was_gone_takes_part_in_further_steps() {
    let (mut group, [mut working, idle]) = taken_over();
    drop(idle);
    group.stand_by();
    let Some(Command::StandBy { asked }) = working.receiver.receive().unwrap() else { panic!("not asked") };
    working.sender.send(&Message::Failed { why: "no clock to compare with".to_owned() }).unwrap();
    working.sender.send(&Message::StandsBy { asked, workers: 2, ceiling_per_sec: None }).unwrap();
    let came = group.await_standing_by(&AtomicBool::new(false));
    assert!(matches!(&came[..], [PeerEvent::Fault(_), PeerEvent::Fault(_)]), "{came:?}");
    assert_eq!((group.peers.at_work(), group.peers.workers()), (false, 2));
    working.sender.send(&Message::Failed { why: "no port left".to_owned() }).unwrap();
    assert!(trouble(&mut group).contains("no port left"));
    assert_eq!(group.peers.workers(), 0);
}

#[test]
fn a_peer_that_does_not_stand_by_is_lost() {
    let (mut group, [working, idle]) = taken_over();
    group.stand_by();
    drop((working, idle));
    let lost = group.await_standing_by(&AtomicBool::new(false));
    assert!(matches!(&lost[..], [PeerEvent::Fault(_), PeerEvent::Stop(_)]), "none is left: {lost:?}");
    assert_eq!(group.peers.workers(), 0);
}

#[test]
fn where_a_run_goes_on_without_the_share_of_a_lost_peer_one_that_does_not_stand_by_keeps_it() {
    let (mut group, [mut working, idle]) = taken_over();
    group.set_on_loss(OnLoss::Continue);
    group.stand_by();
    let Some(Command::StandBy { asked }) = working.receiver.receive().unwrap() else { panic!("not asked") };
    working.sender.send(&ended(Some(3))).unwrap();
    working.sender.send(&Message::StandsBy { asked, workers: 2, ceiling_per_sec: None }).unwrap();
    drop(idle);
    let lost = group.await_standing_by(&AtomicBool::new(false));
    assert!(matches!(&lost[..], [PeerEvent::Fault(_)]), "{lost:?}");
    assert_eq!(group.peers.workers(), 6, "the most that it had in a step");
    let late = Message::StandsBy { asked, workers: 1, ceiling_per_sec: None };
    group.peers.take_in(1, Ok(Some(late)), Instant::default());
    assert_eq!(group.peers.workers(), 6, "its answer comes too late");
    assert!(group.peers.are_left());
    drop(working);
    while group.peers.are_left() {
        group.next(Duration::from_secs(60));
    }
}

#[test]
fn every_message_arrives_as_it_was_sent() {
    let raise = Raise { host: "web-1.a".to_owned(), cap: Cap::LinkIn, before: 100, after: 150 };
    let messages = [
        Message::Caps(CapChange::Raise(raise)),
        Message::Caps(CapChange::Apply),
        Message::Recorded { file: PathBuf::from("/runs/a b.plimsoll") },
    ];
    let mut bytes = Vec::new();
    messages.iter().for_each(|message| send_line(&mut bytes, message).unwrap());
    let mut from = bytes.as_slice();
    let received = std::iter::from_fn(|| receive_line::<Message>(&mut from).unwrap());
    assert_eq!(received.collect::<Vec<_>>(), messages);
}
