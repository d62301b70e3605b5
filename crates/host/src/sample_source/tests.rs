use std::sync::mpsc::channel;
use std::{io, thread};

use plimsoll_record::{HostSample, Source};

use super::*;
use crate::Host;

/// A source whose thread does what the test says.
fn scripted(run: impl FnOnce(SampleSender, Receiver<u64>) + Send + 'static) -> SampleSource {
    SampleSource::new("scripted", |sender| {
        let (questions, asked) = channel();
        let thread = thread::spawn(move || run(sender, asked));
        Ok(RunningSource { questions: Some(questions), child: None, thread: Some(thread) })
    })
}

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(300);

fn sample(source: Source) -> HostSample {
    HostSample {
        host: "web".into(),
        source: source.into(),
        subject: "".into(),
        began_ns: 1,
        ended_ns: 2,
        reading: plimsoll_record::Reading::Absent,
    }
}

fn start(sources: Vec<SampleSource>) -> SampleSources {
    SampleSources::start(sources, RealClock.now())
}

/// The samples of these events, none of which may be a failure.
fn samples(received: Vec<Received>) -> Vec<HostSample> {
    let sample = |received: Received| match received.event {
        SourceEvent::Sample(sample) => sample,
        SourceEvent::Failed(why) => panic!("{why}"),
    };
    received.into_iter().map(sample).collect()
}

#[test]
fn a_question_is_answered_by_samples_made_after_it() {
    let root = tempfile::tempdir().unwrap();
    let source = SampleSource::local("local", vec![Host::generator(root.path())]);
    let origin = RealClock.now();
    let mut sources = SampleSources::start(vec![source], origin);
    let asked_ns = RealClock.now().nanos_since(origin);
    sources.ask(LONG);
    let samples = samples(sources.wait_answers());
    let after = samples.iter().filter(|sample| sample.began_ns >= asked_ns);
    let found: Vec<Option<Source>> = after.map(|sample| sample.source.known()).collect();
    assert!(found.contains(&Some(Source::Cpu)) && found.contains(&Some(Source::Probe)), "{found:?}");
}

#[test]
fn a_source_that_fails_reports_it_and_the_others_go_on() {
    let failing = scripted(|sender: SampleSender, _questions: Receiver<u64>| {
        sender.sample(sample(Source::Cpu)).unwrap();
        sender.fail("the wire was cut; fix it".to_owned()).unwrap();
    });
    let no_thread = SampleSource::new("no thread", |_sender| Err(io::Error::other("no room")));
    let answering = scripted(|sender: SampleSender, questions: Receiver<u64>| {
        for question in questions {
            sender.sample(sample(Source::Tcp)).unwrap();
            sender.answered(question).unwrap();
        }
    });
    let mut sources = start(vec![failing, no_thread, answering]);
    let mut failed = Vec::new();
    let mut asked = 0;
    // The failing one comes to its end whenever it does; the answering one answers each time.
    while failed.len() < 2 || asked < 3 {
        sources.ask(LONG);
        for Received { source, event } in sources.wait_answers() {
            match event {
                SourceEvent::Failed(why) => failed.push((source, why)),
                SourceEvent::Sample(sample) if sample.source == Source::Tcp => asked += 1,
                SourceEvent::Sample(sample) => assert_eq!(sample, self::sample(Source::Cpu)),
            }
        }
    }
    failed.sort();
    assert_eq!(failed[0], (0, "the wire was cut; fix it".to_owned()));
    assert!(failed[1].0 == 1 && failed[1].1.contains("no room"), "{failed:?}");
}

#[test]
fn a_source_that_answers_too_late_is_not_waited_for_again() {
    let mute =
        scripted(|_sender: SampleSender, questions: Receiver<u64>| questions.into_iter().for_each(drop));
    let mut sources = start(vec![mute]);
    sources.ask(Duration::from_millis(1));
    assert!(sources.wait_answers().is_empty());
    let begun = RealClock.now();
    sources.ask(LONG);
    assert!(sources.wait_answers().is_empty());
    assert!(RealClock.now().since(begun) < LONG, "it was not waited for");
}

#[test]
fn a_run_that_is_over_ends_sources_that_still_send() {
    let eager = scripted(
        |sender: SampleSender, _questions: Receiver<u64>| {
            while sender.sample(sample(Source::Cpu)).is_ok() {}
        },
    );
    let mut sources = start(vec![eager]);
    let mut count = 0;
    while count < MAX_WAITING {
        count += sources.take().len();
    }
    // Waits for the thread, which waits for room in the channel: this ends only if the channel is closed first.
    drop(sources);
}

#[test]
fn a_host_that_takes_longer_to_sample_than_the_interval_is_left_as_long_in_between() {
    let ms = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    let next = |due, began, ended| next_round(ms(due), Duration::from_secs(1), (ms(began), ms(ended)));
    assert_eq!(next(5_000, 5_000, 5_300), ms(6_000));
    assert_eq!(next(5_000, 5_010, 5_300), ms(6_000), "a late begin is made up for");
    assert_eq!(next(5_000, 5_000, 5_700), ms(6_400));
    assert_eq!(next(5_000, 7_000, 9_000), ms(11_000));
}

#[test]
fn a_day_has_few_more_samples_than_four_hours() {
    let (usual, day) = (Duration::from_secs(1), Duration::from_secs(24 * 3600));
    let (mut running, mut samples) = (Duration::ZERO, 0);
    while running < day {
        running += sampling_interval(usual, running);
        samples += 1;
        assert!(samples != 3600 || running == Duration::from_secs(3600), "each second of the first hour");
    }
    assert!((14_000..16_000).contains(&samples), "{samples}");
}
