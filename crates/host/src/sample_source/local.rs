//! Hosts that this process samples itself.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use std::{io, thread};

use plimsoll_record::metric::probe;
use plimsoll_record::{Counters, HostSample, Reading, Source, Subject};
use plimsoll_units::{Clock, RealClock, best_effort};

use super::channel::{Closed, RunningSource, SampleSender, SampleSource};
use crate::Host;
use crate::cost::thread_cpu_us;

/// Hosts are sampled at this interval, and when a sample is asked for.
const INTERVAL: Duration = Duration::from_secs(1);

/// Hosts that a thread of this process samples: each second, and at once when asked. The CPU time of the thread, and of the
/// threads of its collectors, is a sample too: of the first host, source `probe`, subject the name of this.
#[derive(Debug)]
pub struct LocalSource {
    name: String,
    hosts: Vec<Host>,
}

impl LocalSource {
    /// A source of these hosts.
    pub fn new(name: &str, hosts: Vec<Host>) -> Self {
        Self { name: name.to_owned(), hosts }
    }

    /// Samples until nothing can ask for samples any more, or the run is over.
    fn run(mut self, questions: &Receiver<u64>, sender: &SampleSender) -> Result<(), Closed> {
        let mut asked = None;
        loop {
            let due = RealClock.now() + INTERVAL;
            self.sample(sender)?;
            if let Some(question) = asked.take() {
                sender.answered(question)?;
            }
            match questions.recv_timeout(due.since(RealClock.now())) {
                // One sample answers all questions before it.
                Ok(question) => asked = questions.try_iter().last().or(Some(question)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn sample(&mut self, sender: &SampleSender) -> Result<(), Closed> {
        for host in &mut self.hosts {
            host.samples(sender.origin()).into_iter().try_for_each(|sample| sender.sample(sample))?;
        }
        match self.hosts.first() {
            Some(host) => sender.sample(self.cost(host, sender)),
            None => Ok(()),
        }
    }

    fn cost(&self, host: &Host, sender: &SampleSender) -> HostSample {
        let now_ns = RealClock.now().nanos_since(sender.origin());
        let cpu_us = thread_cpu_us() + self.hosts.iter().map(Host::threads_cpu_us).sum::<u64>();
        HostSample {
            host: host.name().into(),
            source: Source::Probe.into(),
            subject: Subject::Named(&self.name).into(),
            began_ns: now_ns,
            ended_ns: now_ns,
            reading: Reading::Ok(Counters::from([(probe::CPU_US, cpu_us)])),
        }
    }
}

impl SampleSource for LocalSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn start(self: Box<Self>, sender: SampleSender) -> io::Result<RunningSource> {
        let (questions, asked) = channel();
        let run = move || best_effort((*self).run(&asked, &sender), "the run is over");
        let thread = thread::Builder::new().name("probe".to_owned()).spawn(run)?;
        Ok(RunningSource { questions: Some(questions), child: None, thread: Some(thread) })
    }
}
