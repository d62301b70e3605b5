//! A host and all that it tells about itself.

use std::path::{Path, PathBuf};

use plimsoll_plan::PlanHost;
use plimsoll_record::{HostSample, Text};
use plimsoll_sys::CgroupPaths;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::cgroup::{self, Cgroup};
use crate::component::{Component, Kind, Prometheus, Told};
use crate::conntrack::Conntrack;
use crate::cpu::{Cores, Cpu, stat_file};
use crate::descriptors::Descriptors;
use crate::disk::Disk;
use crate::interface::Interface;
use crate::listener::Listener;
use crate::lookout::{Lookout, SharedLookout};
use crate::memory::Memory;
use crate::neighbours::Neighbours;
use crate::peers::Peers;
use crate::ports::Ports;
use crate::pressure::Pressure;
use crate::process::Process;
use crate::round::Round;
use crate::scheduler::Scheduler;
use crate::sockets::Sockets;
use crate::source::Source;
use crate::tcp::Tcp;
use crate::thread::BusyThreads;
use crate::waiting::Waiting;
use crate::watched::Watched;

/// One host, with its sources.
#[derive(Debug)]
pub struct Host {
    name: Text,
    round: Round,
    sources: Vec<Box<dyn Source>>,
    /// Pages, each of which makes several sources.
    pages: Vec<Prometheus>,
}

impl Host {
    /// The machine that makes the load, by the name `generator`; its file tree begins at `root` (`/` for this machine).
    pub fn generator(root: &Path) -> Self {
        Self::generator_with(root, Some(root.join("sys/class/net")))
    }

    /// The host of a lab that this process makes the load on, by the name `generator`. The interfaces among the machine's
    /// devices are not its own, even if they are called the same.
    pub fn lab_generator(root: &Path) -> Self {
        Self::generator_with(root, None)
    }

    fn generator_with(root: &Path, devices: Option<PathBuf>) -> Self {
        let mut host = Self::elsewhere(PlanHost::GENERATOR);
        let net = root.join("proc/net");
        host.add(Box::new(Cpu::new(&stat_file(root, &host.round))));
        host.add(Box::new(Cgroup::capping(root)));
        host.add(Box::new(Pressure::new(root)));
        host.add(Box::new(Interface::new(&net, devices)));
        host.add(Box::new(Tcp::new(&net)));
        host.add(Box::new(Ports::new(root)));
        host.add(Box::new(Descriptors::new(root)));
        host
    }

    /// A whole machine, with the processes `watched` on it.
    pub fn local(name: &str, root: &Path, watched: &Watched) -> Self {
        let mut host = Self::elsewhere(name);
        let stat = stat_file(root, &host.round);
        host.add(Box::new(Cpu::new(&stat)));
        host.add(Box::new(Cores::new(&stat)));
        host.add(Box::new(Scheduler::new(&stat)));
        host.add(Box::new(Pressure::new(root)));
        host.add(Box::new(Memory::new(root)));
        host.add(Box::new(Disk::new(root)));
        host.add(Box::new(Conntrack::new(root)));
        host.add_network(&root.join("proc/net"), Some(root.join("sys/class/net")));
        let lookout = SharedLookout::new(Lookout::machine(root, watched, &host.round));
        host.add(Box::new(Cgroup::machine(root, lookout.clone())));
        host.add(Box::new(Neighbours::new(lookout.clone())));
        if !watched.is_empty() {
            host.add_processes(root, &lookout);
        }
        host
    }

    /// A host of which only its components are asked.
    pub fn elsewhere(name: &str) -> Self {
        Self { name: name.into(), round: Round::default(), sources: Vec::new(), pages: Vec::new() }
    }

    /// A component on this host more.
    pub fn add_component(&mut self, component: Component) {
        match component.0 {
            Kind::Source(source) => self.add(source),
            Kind::Page(page) => self.pages.push(page),
        }
    }

    /// A lab host on this machine: its network is that of the process `net_pid`, its processes are all that are in the
    /// same network namespace, and those `watched` where it has none of its own; its CPU and memory are those of its
    /// control group.
    pub fn lab(
        name: &str,
        root: &Path,
        net_pid: Option<u32>,
        cgroups: &CgroupPaths,
        watched: &Watched,
    ) -> Self {
        let mut host = Self::elsewhere(name);
        host.add(Box::new(Cgroup::lab(root, cgroups)));
        if let Some(folder) = &cgroup::below(cgroups, root).unified {
            host.add(Box::new(Pressure::of_group(folder)));
        }
        let lookout = match net_pid {
            Some(pid) => {
                host.add_network(&root.join(format!("proc/{pid}/net")), None);
                Lookout::namespace(root, pid, &host.round)
            }
            None => Lookout::machine(root, watched, &host.round),
        };
        host.add_processes(root, &SharedLookout::new(lookout));
        host
    }

    /// The sources that look into processes.
    fn add_processes(&mut self, root: &Path, lookout: &SharedLookout) {
        self.add(Box::new(Process::new(root, lookout.clone())));
        self.add(Box::new(BusyThreads::new(lookout.clone())));
        self.add(Box::new(Waiting::new(lookout.clone())));
        self.add(Box::new(Listener::new(lookout.clone())));
        self.add(Box::new(Peers::new(lookout.clone())));
    }

    /// The sources of the network namespace whose files are in the folder `net`, and of `devices`, its hardware.
    fn add_network(&mut self, net: &Path, devices: Option<PathBuf>) {
        self.add(Box::new(Interface::new(net, devices)));
        self.add(Box::new(Tcp::new(net)));
        self.add(Box::new(Sockets::new(net)));
    }

    /// Its name in samples.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What threads of its sources have cost so far, in microseconds of CPU time.
    pub(crate) fn threads_cpu_us(&self) -> u64 {
        self.sources.iter().map(|source| source.threads_cpu_us()).sum()
    }

    /// One source more; sources are read in the order in which they were added.
    pub(crate) fn add(&mut self, source: Box<dyn Source>) {
        self.sources.push(source);
    }

    /// Reads every source once, one after another. Times in the samples count from `origin`, when the run began.
    pub fn samples(&mut self, origin: Instant) -> Vec<HostSample> {
        self.round.begin();
        let Self { name, sources, pages, .. } = self;
        let mut samples = Vec::new();
        let mut keep = |read: &mut dyn FnMut() -> Told| {
            let began_ns = RealClock.now().nanos_since(origin);
            let told = read();
            let ended_ns = RealClock.now().nanos_since(origin);
            samples.extend(told.into_iter().map(|(source, subject, reading)| HostSample {
                host: name.clone(),
                source: source.into(),
                subject: subject.into(),
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
    use crate::source::tests::tree;
    use plimsoll_record::Reading;

    #[test]
    fn this_machine_tells_of_every_source_or_that_it_has_none() {
        let samples = Host::generator(Path::new("/")).samples(Instant::default());
        let mut names: Vec<&str> = samples.iter().map(|sample| sample.source.as_str()).collect();
        // There are as many interfaces as the machine has.
        names.dedup();
        assert_eq!(names, ["cpu", "cgroup", "pressure", "interface", "tcp", "ports", "descriptors"]);
        for sample in samples {
            assert!(sample.ended_ns >= sample.began_ns && sample.host == "generator");
            assert!(!matches!(sample.reading, Reading::Failed(_)), "{sample:?}");
        }
    }

    #[test]
    fn a_generator_in_a_lab_takes_no_device_of_the_machine_for_its_own() {
        let root = tree(&[
            ("proc/net/dev", "  eth0: 1 1 0 0 0 0 0 0 2 2 0 0 0 0 0 0\n"),
            ("sys/class/net/eth0/device/vendor", ""),
            ("sys/class/net/eth0/speed", "1000\n"),
        ]);
        let speed = |mut host: Host| {
            let samples = host.samples(Instant::default());
            let link = samples.into_iter().find(|sample| sample.source == "interface").unwrap();
            let Reading::Ok(counters) = link.reading else { panic!("not read") };
            counters.get("speed_bits_per_sec").copied()
        };
        assert_eq!(speed(Host::generator(root.path())), Some(1_000_000_000));
        assert_eq!(speed(Host::lab_generator(root.path())), None);
    }

    #[test]
    fn a_whole_machine_tells_of_each_of_its_parts() {
        let samples = Host::local("local", Path::new("/"), &Watched::default()).samples(Instant::default());
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
