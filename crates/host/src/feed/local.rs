//! Hosts that this process looks at itself.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use std::{io, thread};

use plimsoll_record::{HostSample, Reading};
use plimsoll_units::{Clock, RealClock};

use super::{Closed, Feed, Line, Outlet};
use crate::Host;
use crate::own_time::thread_cpu_us;

/// Hosts are sampled this often, and whenever that is asked for.
const EVERY: Duration = Duration::from_secs(1);

/// Hosts that are sampled by a thread of this process: each second, and at once when asked. What the thread itself costs,
/// and those of its sources, is a sample too, of the first of the hosts: source `probe`, subject the feed's name, `cpu_us`
/// since they began.
#[derive(Debug)]
pub struct LocalFeed {
    name: String,
    hosts: Vec<Host>,
}

impl LocalFeed {
    /// A feed of these hosts.
    pub fn new(name: &str, hosts: Vec<Host>) -> Self {
        Self { name: name.to_owned(), hosts }
    }

    fn watch(mut self, questions: &Receiver<u64>, outlet: &Outlet) -> Result<(), Closed> {
        let mut asked = None;
        loop {
            let due = RealClock.now() + EVERY;
            self.sample(outlet)?;
            if let Some(question) = asked.take() {
                outlet.answered(question)?;
            }
            match questions.recv_timeout(due.since(RealClock.now())) {
                // One sample answers everything that was asked before it.
                Ok(question) => asked = questions.try_iter().last().or(Some(question)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn sample(&mut self, outlet: &Outlet) -> Result<(), Closed> {
        for host in &mut self.hosts {
            host.samples(outlet.origin()).into_iter().try_for_each(|sample| outlet.sample(sample))?;
        }
        match self.hosts.first() {
            Some(host) => outlet.sample(self.cost(host, outlet)),
            None => Ok(()),
        }
    }

    fn cost(&self, host: &Host, outlet: &Outlet) -> HostSample {
        let now_ns = RealClock.now().nanos_since(outlet.origin());
        let cpu_us = thread_cpu_us() + self.hosts.iter().map(Host::threads_cpu_us).sum::<u64>();
        HostSample {
            host: host.name().into(),
            source: "probe".into(),
            subject: self.name.as_str().into(),
            began_ns: now_ns,
            ended_ns: now_ns,
            reading: Reading::Ok([("cpu_us".to_owned(), cpu_us)].into()),
        }
    }
}

impl Feed for LocalFeed {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn start(self: Box<Self>, outlet: Outlet) -> io::Result<Line> {
        let (sender, questions) = channel();
        let thread = thread::Builder::new().name("probe".to_owned()).spawn(move || {
            if (*self).watch(&questions, &outlet).is_err() {
                // The run is over.
            }
        })?;
        Ok(Line { questions: Some(sender), ender: None, thread: Some(thread) })
    }
}
