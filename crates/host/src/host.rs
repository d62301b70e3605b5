//! A host and its collectors.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use plimsoll_plan::PlanHost;
use plimsoll_record::{HostSample, Text};
use plimsoll_sys::CgroupPaths;
use plimsoll_units::{Clock, Instant, RealClock};

use crate::collector::{Collector, Read};
use crate::component::Component;
use crate::net::{interface, sockets, tcp};
use crate::process::tracker::{ProcessTracker, SharedTracker, Watched};
use crate::process::{descriptors, listener, others, peers, thread, usage, waiting};
use crate::round::Round;
use crate::system::{cgroup, cpu, disk, memory, pressure};

/// A host and its collectors.
#[derive(Debug)]
pub struct Host {
    /// The host's name in samples.
    pub(crate) name: Text,
    round: Round,
    collectors: Vec<Collector>,
}

impl Host {
    /// Creates the host that generates the load, named `generator`. Its file tree begins at `root` (`/` for this machine).
    pub fn generator(root: &Path) -> Self {
        Self::generator_with(root, Some(root.join("sys/class/net")))
    }

    /// Creates the lab host from which this process generates the load, named `generator`. The machine's network devices are not its
    /// own, even if they have the same names.
    pub fn lab_generator(root: &Path) -> Self {
        Self::generator_with(root, None)
    }

    fn generator_with(root: &Path, devices: Option<PathBuf>) -> Self {
        let mut host = Self::elsewhere(PlanHost::GENERATOR);
        let net = root.join("proc/net");
        host.collectors.extend([
            cpu::machine(&cpu::stat_file(root, &host.round)),
            cgroup::capping(root),
            pressure::machine(root),
            interface::collector(&net, devices),
            tcp::collector(&net),
            sockets::ports(root),
            descriptors::collector(root),
        ]);
        host
    }

    /// Creates a host that is a whole machine, with the processes `watched` on it.
    pub fn local(name: &str, root: &Path, watched: &Watched) -> Self {
        let mut host = Self::elsewhere(name);
        let stat = cpu::stat_file(root, &host.round);
        host.collectors.extend([
            cpu::machine(&stat),
            cpu::cores(&stat),
            cpu::scheduler(&stat),
            pressure::machine(root),
            memory::collector(root),
            disk::collector(root),
            sockets::conntrack(root),
        ]);
        host.add_network(&root.join("proc/net"), Some(root.join("sys/class/net")));
        let tracker = SharedTracker::new(ProcessTracker::new(root, None, watched, &host.round));
        host.collectors.extend([cgroup::machine(root, tracker.clone()), others::collector(tracker.clone())]);
        if !watched.is_empty() {
            host.add_processes(root, &tracker);
        }
        host
    }

    /// Creates a host without collectors, to which only components are added.
    pub fn elsewhere(name: &str) -> Self {
        Self { name: name.into(), round: Round::default(), collectors: Vec::new() }
    }

    /// Adds a component that runs on this host.
    pub fn add_component(&mut self, component: Component) {
        self.collectors.push(component.0);
    }

    /// Creates a lab host on this machine. Its network is that of the process `net_pid`, and its processes are all in that network
    /// namespace; without `net_pid`, its processes are those `watched`. Its CPU and memory are those of its control group.
    pub fn lab(
        name: &str,
        root: &Path,
        net_pid: Option<u32>,
        cgroups: &CgroupPaths,
        watched: &Watched,
    ) -> Self {
        let mut host = Self::elsewhere(name);
        host.collectors.push(cgroup::lab(root, cgroups));
        host.collectors.extend(cgroup::below(cgroups, root).unified.as_deref().map(pressure::group));
        if let Some(pid) = net_pid {
            host.add_network(&root.join(format!("proc/{pid}/net")), None);
        }
        let tracker = ProcessTracker::new(root, net_pid, watched, &host.round);
        host.add_processes(root, &SharedTracker::new(tracker));
        host
    }

    /// Adds the collectors of processes.
    fn add_processes(&mut self, root: &Path, tracker: &SharedTracker) {
        self.collectors.push(usage::collector(root, tracker.clone()));
        let others = [thread::collector, waiting::collector, listener::collector, peers::collector];
        self.collectors.extend(others.map(|collector| collector(tracker.clone())));
    }

    /// Adds the collectors of the network namespace whose files are in the folder `net`. `devices` is the folder of its hardware.
    fn add_network(&mut self, net: &Path, devices: Option<PathBuf>) {
        self.collectors.extend([
            interface::collector(net, devices),
            tcp::collector(net),
            sockets::sockets(net),
        ]);
    }

    /// Returns the CPU time that threads of its collectors have used so far, in microseconds.
    pub(crate) fn threads_cpu_us(&self) -> u64 {
        self.collectors.iter().map(|collector| collector.thread_cpu_us.load(Ordering::Relaxed)).sum()
    }

    /// Reads every collector once, in the order in which they were added. Times in the samples count from `origin`, the beginning of
    /// the run.
    pub fn samples(&mut self, origin: Instant) -> Vec<HostSample> {
        self.round.begin();
        let now_ns = || RealClock.now().nanos_since(origin);
        let mut samples = Vec::new();
        for collector in &mut self.collectors {
            let began_ns = now_ns();
            let reads = (collector.read)();
            let ended_ns = now_ns();
            samples.extend(reads.into_iter().map(|Read { source, subject, reading }| HostSample {
                host: self.name.clone(),
                source: source.into(),
                subject,
                began_ns,
                ended_ns,
                reading,
            }));
        }
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::tests::tree;
    use plimsoll_record::metric::interface;
    use plimsoll_record::{Reading, Source};

    #[test]
    fn this_machine_reports_every_source_or_that_it_has_none() {
        let samples = Host::generator(Path::new("/")).samples(Instant::default());
        let mut sources: Vec<Option<Source>> = samples.iter().map(|sample| sample.source.known()).collect();
        // There may be several interfaces.
        sources.dedup();
        let expected = [
            Source::Cpu,
            Source::Cgroup,
            Source::Pressure,
            Source::Interface,
            Source::Tcp,
            Source::Ports,
            Source::Descriptors,
        ];
        assert_eq!(sources, expected.map(Some));
        for sample in samples {
            assert!(sample.ended_ns >= sample.began_ns && sample.host == "generator");
            assert!(!matches!(sample.reading, Reading::Failed(_)), "{sample:?}");
        }
    }

    #[test]
    fn a_generator_in_a_lab_has_none_of_the_machines_devices() {
        let root = tree(&[
            ("proc/net/dev", "  eth0: 1 1 0 0 0 0 0 0 2 2 0 0 0 0 0 0\n"),
            ("sys/class/net/eth0/device/vendor", ""),
            ("sys/class/net/eth0/speed", "1000\n"),
        ]);
        let speed = |mut host: Host| {
            let samples = host.samples(Instant::default());
            let link = samples.into_iter().find(|sample| sample.source == Source::Interface).unwrap();
            let Reading::Ok(counters) = link.reading else { panic!("not read") };
            counters.get(interface::SPEED_BITS_PER_SEC)
        };
        assert_eq!(speed(Host::generator(root.path())), Some(1_000_000_000));
        assert_eq!(speed(Host::lab_generator(root.path())), None);
    }

    #[test]
    fn a_whole_machine_reports_each_of_its_parts() {
        let samples = Host::local("local", Path::new("/"), &Watched::default()).samples(Instant::default());
        let count = |source: Source| samples.iter().filter(|sample| sample.source == source).count();
        let of_host = [Source::Cpu, Source::Scheduler, Source::Pressure, Source::Memory, Source::Conntrack];
        for source in of_host.into_iter().chain([Source::Tcp, Source::Sockets]) {
            assert_eq!(count(source), 1, "{source}");
        }
        for source in [Source::Core, Source::Disk, Source::Interface] {
            assert!(count(source) >= 1, "{source}");
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
