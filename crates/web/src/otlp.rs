//! Metrics of a running load, pushed to an OpenTelemetry collector by OTLP over HTTP.

mod answer;
mod message;
mod push;
mod settings;

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;

use plimsoll_units::{Clock as _, Instant, RealClock, best_effort};

pub use settings::{OtlpError, OtlpSettings};

use message::Snapshot;
use push::{Collector, Outcome};

use crate::totals::LiveTotals;

/// The lowest priority: all other work on this machine comes first.
const NICEST: i32 = 19;

/// Pushes the metrics of a run while it goes on, in a thread of its own.
#[derive(Debug)]
pub struct OtlpExporter {
    /// Dropped to make the thread push the last metrics.
    end: SyncSender<()>,
    ended: Receiver<Pushes>,
    /// The longest wait at the end, for the last push and one that is under way.
    patience: Duration,
    url: String,
}

impl OtlpExporter {
    /// Starts to push these totals; the first push is one interval from now.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(settings: OtlpSettings, totals: LiveTotals) -> io::Result<Self> {
        let (end, has_ended) = mpsc::sync_channel(0);
        let (report, ended) = mpsc::sync_channel(1);
        let (url, patience) = (settings.url.clone(), settings.timeout);
        let work = move || {
            let pushes = push_until(&has_ended, &settings, &totals);
            best_effort(report.send(pushes), "no one waits for the last push any more");
        };
        thread::Builder::new().name("otlp".to_owned()).spawn(work)?;
        Ok(Self { end, ended, patience, url })
    }

    /// Pushes the last metrics and waits for that, at most the timeout of one push. Returns a sentence if a push failed.
    pub fn end(self) -> Option<String> {
        let Self { end, ended, patience, url } = self;
        drop(end);
        match ended.recv_timeout(patience) {
            Ok(pushes) => pushes.trouble(&url),
            Err(_) => Some(format!(
                "the last metrics were not taken by {url} within {} s; see that the collector keeps up, or allow more with \
                 OTEL_EXPORTER_OTLP_TIMEOUT (milliseconds)",
                patience.as_secs_f64()
            )),
        }
    }
}

/// The counts of the pushes of a run, and the last failure.
#[derive(Debug, Default)]
struct Pushes {
    made: u32,
    failed: u32,
    last_failure: Option<String>,
    /// True if the newest push failed: the collector lacks the end of the run.
    newest_failed: bool,
}

impl Pushes {
    fn add(&mut self, outcome: Outcome) {
        self.made += 1;
        self.newest_failed = outcome.is_err();
        if let Err(why) = outcome {
            self.failed += 1;
            self.last_failure = Some(why);
        }
    }

    fn trouble(&self, url: &str) -> Option<String> {
        let why = self.last_failure.as_ref()?;
        let (failed, made) = (self.failed, self.made);
        let lacks = match self.newest_failed {
            true => "the last metrics are missing there",
            false => "a later push brought the same counts",
        };
        Some(format!("{failed} of {made} pushes of metrics to {url} failed: {why}; {lacks}"))
    }
}

/// Pushes at each interval, and once more when the run has ended.
fn push_until(ended: &Receiver<()>, settings: &OtlpSettings, totals: &LiveTotals) -> Pushes {
    let lowered = rustix::process::setpriority_process(None, NICEST);
    best_effort(lowered, "a push takes a millisecond in ten seconds at any priority");
    let collector = Collector::new(settings);
    let mut pushes = Pushes::default();
    let mut due = RealClock.now() + settings.interval;
    loop {
        let has_ended = ended.recv_timeout(until(due)) != Err(RecvTimeoutError::Timeout);
        // A run that was never prepared has nothing to push.
        if let Some(snapshot) = totals.read(Snapshot::new) {
            pushes.add(collector.push(&snapshot.encode(settings)));
        }
        if has_ended {
            return pushes;
        }
        // Pushes that a slow one made late are skipped.
        due = (due + settings.interval).max(RealClock.now());
    }
}

fn until(due: Instant) -> Duration {
    due.since(RealClock.now())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_whose_pushes_were_taken_has_nothing_to_report() {
        let mut pushes = Pushes::default();
        pushes.add(Ok(()));
        assert_eq!(pushes.trouble("http://collector:4318/v1/metrics"), None);
    }

    #[test]
    fn failures_are_one_sentence_with_the_last_reason() {
        let mut pushes = Pushes::default();
        pushes.add(Err("no route".to_owned()));
        pushes.add(Err("connection refused".to_owned()));
        pushes.add(Ok(()));
        let text = pushes.trouble("http://collector:4318/v1/metrics").unwrap();
        assert!(text.starts_with("2 of 3 pushes") && text.contains("connection refused"), "{text}");
        assert!(!text.contains("missing"), "{text}");
        pushes.add(Err("away".to_owned()));
        assert!(pushes.trouble("x").unwrap().ends_with("away; the last metrics are missing there"));
    }
}
