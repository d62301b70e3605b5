//! A host and all that it tells about itself.

use std::path::{Path, PathBuf};

use plimsoll_record::HostSample;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::component::{Component, Kind, Prometheus, Told};
use crate::conntrack::Conntrack;
use crate::cpu::{Cores, Cpu, stat_file};
use crate::descriptors::Descriptors;
use crate::disk::Disk;
use crate::interface::Interface;
use crate::memory::Memory;
use crate::ports::Ports;
use crate::pressure::Pressure;
use crate::scheduler::Scheduler;
use crate::sockets::Sockets;
use crate::source::Source;
use crate::tcp::Tcp;

/// One host, with its sources.
#[derive(Debug)]
pub struct Host {
    name: String,
    sources: Vec<Box<dyn Source>>,
    /// Pages, each of which makes several sources.
    pages: Vec<Prometheus>,
}

impl Host {
    /// The machine that makes the load, by the name `generator`; its file tree begins at `root` (`/` for this machine).
    pub fn generator(root: &Path) -> Self {
        let mut host = Self::elsewhere("generator");
        host.add(Box::new(Cpu::new(&stat_file(root))));
        host.add(Box::new(Pressure::new(root)));
        host.add(Box::new(Tcp::new(&root.join("proc/net"))));
        host.add(Box::new(Ports::new(root)));
        host.add(Box::new(Descriptors::new(root)));
        host
    }

    /// A whole machine.
    pub fn local(name: &str, root: &Path) -> Self {
        let mut host = Self::elsewhere(name);
        let stat = stat_file(root);
        host.add(Box::new(Cpu::new(&stat)));
        host.add(Box::new(Cores::new(&stat)));
        host.add(Box::new(Scheduler::new(&stat)));
        host.add(Box::new(Pressure::new(root)));
        host.add(Box::new(Memory::new(root)));
        host.add(Box::new(Disk::new(root)));
        host.add(Box::new(Conntrack::new(root)));
        host.add_network(&root.join("proc/net"), Some(root.join("sys/class/net")));
        host
    }

    /// A host of which only its components are asked.
    pub fn elsewhere(name: &str) -> Self {
        Self { name: name.to_owned(), sources: Vec::new(), pages: Vec::new() }
    }

    /// A component on this host more.
    pub fn add_component(&mut self, component: Component) {
        match component.0 {
            Kind::Source(source) => self.add(source),
            Kind::Page(page) => self.pages.push(page),
        }
    }

    /// The sources of the network namespace whose files are in the folder `net`, and of `devices`, its hardware.
    fn add_network(&mut self, net: &Path, devices: Option<PathBuf>) {
        self.add(Box::new(Interface::new(net, devices)));
        self.add(Box::new(Tcp::new(net)));
        self.add(Box::new(Sockets::new(net)));
    }

    /// One source more; sources are read in the order in which they were added.
    pub(crate) fn add(&mut self, source: Box<dyn Source>) {
        self.sources.push(source);
    }

    /// Reads every source once, one after another. Times in the samples count from `origin`, when the run began.
    pub fn samples(&mut self, origin: Instant) -> Vec<HostSample> {
        let Self { name, sources, pages } = self;
        let mut samples = Vec::new();
        let mut keep = |read: &mut dyn FnMut() -> Told| {
            let began_ns = RealClock.now().nanos_since(origin);
            let told = read();
            let ended_ns = RealClock.now().nanos_since(origin);
            samples.extend(told.into_iter().map(|(source, subject, reading)| HostSample {
                host: name.clone(),
                source: source.to_owned(),
                subject,
                began_ns,
                ended_ns,
                reading,
            }));
        };
        for source in sources {
            let name = source.name();
            keep(&mut || {
                source.read().into_iter().map(|(subject, reading)| (name, subject, reading)).collect()
            });
        }
        for page in pages {
            keep(&mut || page.read());
        }
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_record::Reading;

    #[test]
    fn this_machine_tells_of_every_source_or_that_it_has_none() {
        let samples = Host::generator(Path::new("/")).samples(Instant::default());
        let names: Vec<&str> = samples.iter().map(|sample| sample.source.as_str()).collect();
        assert_eq!(names, ["cpu", "pressure", "tcp", "ports", "descriptors"]);
        for sample in samples {
            assert!(sample.ended_ns >= sample.began_ns && sample.host == "generator");
            assert!(!matches!(sample.reading, Reading::Failed(_)), "{sample:?}");
        }
    }

    #[test]
    fn a_whole_machine_tells_of_each_of_its_parts() {
        let samples = Host::local("local", Path::new("/")).samples(Instant::default());
        let of = |source: &str| samples.iter().filter(|sample| sample.source == source).count();
        for source in ["cpu", "scheduler", "pressure", "memory", "conntrack", "tcp", "sockets"] {
            assert_eq!(of(source), 1, "{source}");
        }
        for source in ["core", "disk", "interface"] {
            assert!(of(source) >= 1, "{source}");
        }
        for sample in samples {
            assert!(!matches!(sample.reading, Reading::Failed(_)), "{sample:?}");
        }
    }

    #[test]
    fn a_host_without_any_file_has_no_counters_at_all() {
        let root = tempfile::tempdir().unwrap();
        let mut host = Host::generator(root.path());
        assert!(host.samples(Instant::default()).iter().all(|sample| sample.reading == Reading::Absent));
    }
}
