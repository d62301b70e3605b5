use super::*;

const START: Instant = Instant::from_nanos(1_000_000_000);
const ORPHAN: Duration = Duration::from_secs(10);

fn invitation() -> Invitation {
    Invitation {
        run: "r".to_owned(),
        incarnation: 7,
        version: "1".to_owned(),
        plan: String::new(),
        csv: None,
        gather: Duration::ZERO,
    }
}

fn state(term: u64, sent: Instant, commands: Vec<Command>) -> Admission {
    Admission::Obey(ToAgent::State(State {
        run: "r".to_owned(),
        incarnation: 7,
        term,
        sent,
        first: 0,
        commands,
        received: 0,
        kept: 0,
        over: false,
    }))
}

/// An agent that takes part in a run, and where its generator hears commands.
fn taking_part() -> (Participant, Receiver<Command>) {
    let identity = Identity { agent: "a".to_owned(), incarnation: 7, version: "1".to_owned() };
    let mut participant = Participant::new(identity, ORPHAN);
    let join = Admission::Obey(ToAgent::Join(invitation()));
    let Heard::Begun(_, commands) = participant.hear(join, START) else { panic!("not begun") };
    (participant, commands)
}

#[test]
fn a_generator_that_ended_without_its_conductor_begins_again_for_another_one() {
    let (mut participant, commands) = taking_part();
    let late = START + ORPHAN + Duration::from_secs(1);
    participant.look_after_run(late);
    assert!(commands.recv().is_err(), "the load ends");
    let asks = || vec![Command::StandBy { asked: 3 }];
    participant.hear(state(1, late, asks()), late);
    assert!(participant.begin_again().is_none(), "the former generator has not ended");
    participant.finish(late);
    let (again, commands) = participant.begin_again().unwrap();
    assert_eq!((again, commands.recv()), (invitation(), Ok(Command::StandBy { asked: 3 })));
    assert!(participant.begin_again().is_none());
    participant.hear(state(1, late + REPEAT, asks()), late + REPEAT);
    assert!(commands.try_recv().is_err(), "the command is known");
    assert_eq!(participant.run(), Some("r"));
}

#[test]
fn a_generator_that_goes_on_is_asked_itself() {
    let (mut participant, commands) = taking_part();
    participant.hear(state(1, START, vec![Command::StandBy { asked: 3 }]), START);
    assert_eq!(commands.recv(), Ok(Command::StandBy { asked: 3 }));
    assert!(participant.begin_again().is_none());
}

#[test]
fn an_agent_that_is_ended_delivers_what_it_has_and_why_no_more_comes() {
    let (mut participant, commands) = taking_part();
    participant.interrupt();
    assert!(commands.recv().is_err(), "the load ends");
    participant.gather(Message::Began { late_ns: 0, clock_error_ns: None, wall: None }, START);
    participant.gather(Message::Ended { step: Some(0), fault: None }, START);
    participant.finish(START);
    let gathered = participant.take_gathered();
    assert!(
        matches!(&gathered[..], [Message::Began { .. }, Message::Failed { .. }, Message::Failed { .. }]),
        "{gathered:?}"
    );
    participant.add(3, Bytes::from_static(b"packed"), START);
    assert!(!participant.is_delivered() && participant.end_run().is_none(), "it waits for the conductor");
}
