//! A host and all that it tells about itself.

use std::path::Path;

use plimsoll_record::HostSample;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::cpu::Cpu;
use crate::descriptors::Descriptors;
use crate::ports::Ports;
use crate::pressure::Pressure;
use crate::source::Source;
use crate::tcp::Tcp;

/// One host, with its sources.
#[derive(Debug)]
pub struct Host {
    name: String,
    sources: Vec<Box<dyn Source>>,
}

impl Host {
    /// The machine that makes the load, by the name `generator`; its file tree begins at `root` (`/` for this machine).
    pub fn generator(root: &Path) -> Self {
        Self {
            name: "generator".to_owned(),
            sources: vec![
                Box::new(Cpu::new(root)),
                Box::new(Pressure::new(root)),
                Box::new(Tcp::new(root)),
                Box::new(Ports::new(root)),
                Box::new(Descriptors::new(root)),
            ],
        }
    }

    /// Reads every source once, one after another. Times in the samples count from `origin`, when the run began.
    pub fn samples(&self, origin: Instant) -> impl Iterator<Item = HostSample> + use<'_> {
        self.sources.iter().map(move |source| {
            let began_ns = RealClock.now().nanos_since(origin);
            let reading = source.read();
            let ended_ns = RealClock.now().nanos_since(origin);
            HostSample {
                host: self.name.clone(),
                source: source.name().to_owned(),
                subject: String::new(),
                began_ns,
                ended_ns,
                reading,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::Reading;

    #[test]
    fn this_machine_tells_of_every_source_or_that_it_has_none() {
        let samples: Vec<HostSample> = Host::generator(Path::new("/")).samples(Instant::default()).collect();
        let names: Vec<&str> = samples.iter().map(|sample| sample.source.as_str()).collect();
        assert_eq!(names, ["cpu", "pressure", "tcp", "ports", "descriptors"]);
        for sample in samples {
            assert!(sample.ended_ns >= sample.began_ns && sample.host == "generator");
            assert!(!matches!(sample.reading, Reading::Failed(_)), "{sample:?}");
        }
    }

    #[test]
    fn a_host_without_any_file_has_no_counters_at_all() {
        let root = tempfile::tempdir().unwrap();
        let host = Host::generator(root.path());
        assert!(host.samples(Instant::default()).all(|sample| sample.reading == Reading::Absent));
    }
}
