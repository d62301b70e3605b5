//! Real servers as components: each is started here and used a little, and must report exactly that.
#![expect(clippy::unwrap_used, clippy::panic, reason = "in tests, a failed step is the failure")]

mod databases;
mod pages;
mod runtimes;
mod troubles;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use plimsoll_host::{Component, Host};
use plimsoll_plan::Probe;
use plimsoll_record::{Counters, HostSample, Metric, Reading, Source};
use plimsoll_units::Instant;

/// A host with one component.
struct Probed {
    host: Host,
    /// How often the component has not answered in time, as on a machine that stalls. It may count such a reading, and the
    /// next one comes over another connection.
    missed: u64,
}

impl Probed {
    fn new(probe: &Probe) -> Self {
        let mut host = Host::elsewhere("web");
        host.add_component(Component::from_probe(probe, Path::new("/")).unwrap());
        Self { host, missed: 0 }
    }

    fn samples(&mut self) -> Vec<HostSample> {
        self.host.samples(Instant::default())
    }

    /// Samples of a component that has answered in time.
    fn samples_in_time(&mut self) -> Vec<HostSample> {
        let until = std::time::Instant::now() + Duration::from_secs(20);
        loop {
            let samples = self.samples();
            let failed = samples.iter().any(|sample| matches!(sample.reading, Reading::Failed(_)));
            if !failed || std::time::Instant::now() > until {
                return samples;
            }
            self.missed += 1;
        }
    }

    /// The counters of a source that has one subject, which must be this one.
    fn counters(&mut self, source: Source, subject: &str) -> Counters {
        match self.reading(source, subject) {
            Reading::Ok(counters) => counters,
            other => panic!("{source}: {other:?}"),
        }
    }

    fn reading(&mut self, source: Source, subject: &str) -> Reading {
        let mut samples = self.samples_in_time();
        samples.retain(|sample| sample.source == source);
        assert_eq!(samples.len(), 1, "{samples:?}");
        let sample = samples.remove(0);
        assert_eq!((sample.host.as_str(), sample.subject.as_str()), ("web", subject));
        sample.reading
    }

    /// The counters once these have these values: a server takes its time to count a connection that was opened and closed,
    /// such as the one that waited for its start, or to close one.
    fn counters_once(&mut self, source: Source, subject: &str, expected: &[(Metric, u64)]) -> Counters {
        let until = std::time::Instant::now() + Duration::from_secs(20);
        loop {
            match self.reading(source, subject) {
                Reading::Ok(counters)
                    if expected.iter().all(|(metric, value)| counters[*metric] == *value) =>
                {
                    return counters;
                }
                other => {
                    assert!(std::time::Instant::now() < until, "{expected:?} does not come: {other:?}");
                }
            }
        }
    }

    /// Why the component could not be read.
    fn failure(&mut self) -> String {
        let samples = self.samples();
        assert_eq!(samples.len(), 1, "{samples:?}");
        match &samples[0].reading {
            Reading::Failed(why) => why.clone(),
            other => panic!("{other:?}"),
        }
    }
}

/// A user's own connection to a server.
fn connect(address: SocketAddr) -> TcpStream {
    let connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    connection
}

/// Sends a line and reads until an answer ends with this.
fn say(connection: &mut TcpStream, line: &str, end: &str) -> String {
    connection.write_all(line.as_bytes()).unwrap();
    let mut answer = String::new();
    let mut buffer = [0; 1024];
    while !answer.ends_with(end) {
        let read = connection.read(&mut buffer).unwrap();
        assert!(read > 0, "closed after {answer}");
        answer.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    answer
}
