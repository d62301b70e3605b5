use std::sync::mpsc::channel;
use std::thread;

use super::*;
use crate::Host;

/// A feed whose thread does what the test says.
struct Scripted<F>(F);

impl<F> std::fmt::Debug for Scripted<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scripted")
    }
}

impl<F: FnOnce(Outlet, Receiver<u64>) + Send + 'static> Feed for Scripted<F> {
    fn name(&self) -> String {
        "scripted".to_owned()
    }

    fn start(self: Box<Self>, outlet: Outlet) -> io::Result<Line> {
        let (sender, questions) = channel();
        let thread = thread::spawn(move || (self.0)(outlet, questions));
        Ok(Line { questions: Some(sender), ender: None, thread: Some(thread) })
    }
}

/// A feed that there can be no thread for.
#[derive(Debug)]
struct Unborn;

impl Feed for Unborn {
    fn name(&self) -> String {
        "unborn".to_owned()
    }

    fn start(self: Box<Self>, _outlet: Outlet) -> io::Result<Line> {
        Err(io::Error::other("no room"))
    }
}

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(300);

fn sample(source: &str) -> HostSample {
    HostSample {
        host: "web".into(),
        source: source.into(),
        subject: "".into(),
        began_ns: 1,
        ended_ns: 2,
        reading: plimsoll_record::Reading::Absent,
    }
}

fn start(feeds: Vec<Box<dyn Feed>>) -> Feeds {
    Feeds::start(feeds, RealClock.now())
}

/// The samples among the news, of which none may be a failure.
fn samples(news: Vec<News>) -> Vec<HostSample> {
    let sample = |news: News| match news.told {
        Told::Sample(sample) => sample,
        Told::Failed(why) => panic!("{why}"),
    };
    news.into_iter().map(sample).collect()
}

#[test]
fn a_question_is_answered_by_samples_made_after_it() {
    let root = tempfile::tempdir().unwrap();
    let feed = LocalFeed::new("local", vec![Host::generator(root.path())]);
    let origin = RealClock.now();
    let mut feeds = Feeds::start(vec![Box::new(feed)], origin);
    let asked_ns = RealClock.now().nanos_since(origin);
    feeds.ask(LONG);
    let samples = samples(feeds.answers());
    let after = samples.iter().filter(|sample| sample.began_ns >= asked_ns);
    let sources: Vec<&str> = after.map(|sample| sample.source.as_str()).collect();
    assert!(sources.contains(&"cpu") && sources.contains(&"probe"), "{sources:?}");
}

#[test]
fn a_feed_that_fails_says_so_and_the_others_go_on() {
    let failing = Scripted(|outlet: Outlet, _questions: Receiver<u64>| {
        outlet.sample(sample("before")).unwrap();
        outlet.fail("the wire was cut; mend it".to_owned());
    });
    let answering = Scripted(|outlet: Outlet, questions: Receiver<u64>| {
        for question in questions {
            outlet.sample(sample("asked")).unwrap();
            outlet.answered(question).unwrap();
        }
    });
    let mut feeds = start(vec![Box::new(failing), Box::new(Unborn), Box::new(answering)]);
    let mut failed = Vec::new();
    let mut asked = 0;
    // The failing one comes to its end whenever it does; the answering one answers each time.
    while failed.len() < 2 || asked < 3 {
        feeds.ask(LONG);
        for news in feeds.answers() {
            match news.told {
                Told::Failed(why) => failed.push((news.feed, why)),
                Told::Sample(sample) if sample.source == "asked" => asked += 1,
                Told::Sample(sample) => assert_eq!(sample, self::sample("before")),
            }
        }
    }
    failed.sort();
    assert_eq!(failed[0], (0, "the wire was cut; mend it".to_owned()));
    assert!(failed[1].0 == 1 && failed[1].1.contains("no room"), "{failed:?}");
}

#[test]
fn a_feed_that_answers_too_late_is_not_waited_for_again() {
    let mute = Scripted(|_outlet: Outlet, questions: Receiver<u64>| questions.into_iter().for_each(drop));
    let mut feeds = start(vec![Box::new(mute)]);
    feeds.ask(Duration::from_millis(1));
    assert!(feeds.answers().is_empty());
    let begun = RealClock.now();
    feeds.ask(LONG);
    assert!(feeds.answers().is_empty());
    assert!(RealClock.now().since(begun) < LONG, "it was not waited for");
}

#[test]
fn a_run_that_is_over_ends_feeds_that_still_want_to_send() {
    let eager =
        Scripted(|outlet: Outlet, _questions: Receiver<u64>| while outlet.sample(sample("more")).is_ok() {});
    let mut feeds = start(vec![Box::new(eager)]);
    let mut seen = 0;
    while seen < WAITING_MAX {
        seen += feeds.news().len();
    }
    // Waits for the thread, which waits for room in the channel: this ends only if that is closed first.
    drop(feeds);
}
