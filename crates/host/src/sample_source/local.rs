//! Hosts that this process samples itself.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use plimsoll_record::metric::probe;
use plimsoll_record::{Counters, HostSample, Reading, Source, Subject, Text};
use plimsoll_units::{Clock, RealClock, best_effort};

use super::channel::{Closed, RunningSource, SampleSender, SampleSource};
use super::{next_round, sampling_interval};
use crate::Host;
use crate::cost::thread_cpu;

/// Hosts are sampled at this interval (longer in a long run), and when a sample is requested.
const INTERVAL: Duration = Duration::from_secs(1);

impl SampleSource {
    /// Creates a source that samples hosts in a thread of this process: each second, and at once on request. The CPU time of this
    /// thread and of its collectors' threads is a sample too: of the first host, source `probe`, with `name` as its subject.
    pub fn local(name: &str, mut hosts: Vec<Host>) -> Self {
        let subject: Text = Subject::Named(name).into();
        Self::new(name, move |sender| {
            let (questions, asked) = channel();
            let run = move || best_effort(answer(&subject, &mut hosts, &asked, &sender), "the run is over");
            let thread = thread::Builder::new().name("probe".to_owned()).spawn(run)?;
            Ok(RunningSource { questions: Some(questions), child: None, thread: Some(thread) })
        })
    }
}

/// Samples until no more requests can come, or the run is over.
fn answer(
    name: &Text,
    hosts: &mut [Host],
    questions: &Receiver<u64>,
    sender: &SampleSender,
) -> Result<(), Closed> {
    let mut asked = None;
    loop {
        let began = RealClock.now();
        let samples: Vec<HostSample> =
            hosts.iter_mut().flat_map(|host| host.samples(sender.origin)).collect();
        // Measured before sending: waiting for the receiver costs the hosts nothing.
        let ended = RealClock.now();
        samples.into_iter().try_for_each(|sample| sender.sample(sample))?;
        cost(name, hosts, sender).map_or(Ok(()), |sample| sender.sample(sample))?;
        if let Some(question) = asked.take() {
            sender.answered(question)?;
        }
        let interval = sampling_interval(INTERVAL, began.since(sender.origin));
        let due = next_round(began, interval, (began, ended));
        match questions.recv_timeout(due.since(RealClock.now())) {
            // One sample answers all earlier requests.
            Ok(question) => asked = questions.try_iter().last().or(Some(question)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

fn cost(name: &Text, hosts: &[Host], sender: &SampleSender) -> Option<HostSample> {
    let now_ns = RealClock.now().nanos_since(sender.origin);
    let cpu_us = thread_cpu().as_micros() as u64 + hosts.iter().map(Host::threads_cpu_us).sum::<u64>();
    Some(HostSample {
        host: hosts.first()?.name.clone(),
        source: Source::Probe.into(),
        subject: name.clone(),
        began_ns: now_ns,
        ended_ns: now_ns,
        reading: Reading::Ok(Counters::from([(probe::CPU_US, cpu_us)])),
    })
}
