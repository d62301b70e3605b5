//! The life of a lab: makes its hosts, starts their services and ends them.

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_plan::{Capacity, GeneratorSpec, LabHostSpec, PlanHost, Ready};
use plimsoll_sys::{NetworkNamespace, Sandbox, SandboxSetup};
use plimsoll_units::{Clock, RealClock, significant};
use tempfile::TempDir;

use crate::group::{Capping, LabGroups};
use crate::host::LabHost;
use crate::lease::{Lease, LeaseEntry};
use crate::readiness::NotReady;
use crate::substitution::Variables;
use crate::{HostPhase, LabError, link, naming, readiness};

/// How often a host is checked for readiness.
const POLL: Duration = Duration::from_millis(20);

/// The distance between the first process ids of two hosts.
const NUMBERS_APART: u32 = 1000;

/// The hosts of a lab.
#[derive(Debug, Clone, PartialEq)]
pub struct LabSpec {
    pub hosts: Vec<LabHostSpec>,
    pub generator: GeneratorSpec,
}

/// The options of a lab.
#[derive(Debug)]
pub struct LabOptions<'a> {
    /// The folder of the lab file, in which its commands run.
    pub folder: &'a Path,
    /// The folder of built services, if there is one.
    pub services: Option<PathBuf>,
    /// Folders to search for programs first.
    pub programs: Vec<PathBuf>,
    /// The folder of leases; see [`crate::Privileges::runtime_folder`].
    pub runtime: PathBuf,
    /// The time limit for hosts to become ready.
    pub ready_within: Duration,
    /// Set when the user interrupts.
    pub interrupted: &'a AtomicBool,
}

/// Running hosts. Dropping the lab ends all of them and leaves nothing behind.
#[derive(Debug)]
pub struct Lab {
    // Fields are dropped in this order: hosts first, then their network and groups, and last the lease, which lists them.
    /// The hosts of the file, in its order.
    pub hosts: Vec<LabHost>,
    /// The hosts that make the load, at least one.
    pub generators: Vec<LabHost>,
    /// The network from which every host can be reached.
    pub network: NetworkNamespace,
    groups: LabGroups,
    folder: TempDir,
    lease: Lease,
    /// Sentences about caps that differ from the file.
    pub remarks: Vec<String>,
}

impl Lab {
    /// Makes the hosts, starts their commands and waits until all are ready. After an error nothing is left behind; the error holds
    /// the last lines of output of a failed command.
    pub fn up(spec: &LabSpec, options: &LabOptions<'_>) -> Result<Self, LabError> {
        let count = spec.hosts.len() + spec.generator.count as usize;
        if count > naming::MAX_HOSTS {
            return Err(LabError::TooManyHosts { most: naming::MAX_HOSTS, count });
        }
        [options.folder, &std::env::temp_dir()].into_iter().try_for_each(seen_by_hosts)?;
        let mut lab = Self::without_hosts(spec, options)?;
        lab.make_hosts(spec, options)?;
        lab.mark_uncapped(spec);
        lab.hosts.iter_mut().try_for_each(LabHost::uncap)?;
        lab.start(spec, options)?;
        lab.hosts.iter_mut().try_for_each(LabHost::apply_caps)?;
        Ok(lab)
    }

    /// Mutable access to the host with this name.
    pub fn host_mut(&mut self, name: &str) -> Option<&mut LabHost> {
        self.hosts.iter_mut().find(|host| host.name == name)
    }

    /// The names and addresses of the hosts, without the generators.
    pub fn addresses(&self) -> Vec<(String, Ipv4Addr)> {
        self.hosts.iter().map(|host| (host.name.clone(), host.address)).collect()
    }

    /// How processors are capped.
    pub fn capping(&self) -> Capping {
        self.groups.capping()
    }

    /// The lab's own temporary folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The number of the lab among the running labs.
    pub fn number(&self) -> u16 {
        self.lease.number
    }

    /// Fails if a service of a host has failed; see [`LabHost::alive`].
    pub fn alive(&mut self) -> Result<(), LabError> {
        self.hosts.iter_mut().try_for_each(LabHost::alive)
    }

    /// Notes which hosts start uncapped. With affinity none does, because a running process cannot be bound to other processors.
    fn mark_uncapped(&mut self, spec: &LabSpec) {
        if self.capping() == Capping::Affinity {
            return;
        }
        for (host, own) in self.hosts.iter_mut().zip(&spec.hosts).filter(|(_, own)| own.starts_free) {
            host.cores_later = own.capacity.cores;
        }
    }

    /// Creates the lab's network, control groups and folder.
    fn without_hosts(spec: &LabSpec, options: &LabOptions<'_>) -> Result<Self, LabError> {
        let mut lease = Lease::take(&options.runtime)?;
        let groups = LabGroups::new(&lease.name());
        for folder in groups.folders() {
            lease.note(&LeaseEntry::Group(folder))?;
        }
        let folder = own_folder(&mut lease)?;
        groups.make()?;
        let named = spec.hosts.iter().map(|host| host.name.clone()).chain(spec.generator.names());
        let hosts =
            hosts_text(named.enumerate().map(|(index, name)| (name, naming::host(lease.number, index))));
        let path = folder.path().join("hosts");
        fs::write(&path, hosts).map_err(LabError::file("write", &path))?;
        let network = NetworkNamespace::create().map_err(LabError::namespaces("bridge"))?;
        let lines = link::bridge_lines(naming::bridge(lease.number), link::has_ipv6(&network)?);
        link::batch("ip", &lines, &network, "the bridge")?;
        let (hosts, generators, remarks) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { hosts, generators, network, groups, folder, lease, remarks })
    }

    fn make_hosts(&mut self, spec: &LabSpec, options: &LabOptions<'_>) -> Result<(), LabError> {
        let own = spec.hosts.iter().map(|host| (host.name.clone(), &host.capacity));
        let all: Vec<(String, &Capacity)> =
            own.chain(spec.generator.names().map(|name| (name, &spec.generator.capacity))).collect();
        let single_packets = all.iter().any(|(_, capacity)| link::is_capped(capacity));
        let there = cores_there();
        let caps: Vec<f64> = all.iter().filter_map(|(_, capacity)| capacity.cores).collect();
        for (index, (name, capacity)) in all.into_iter().enumerate() {
            let host = self.host(index, &name, capacity, options)?;
            self.connect(index, &host, single_packets)?;
            self.remarks.extend(remark(&host, capacity, there));
            self.hosts.push(host);
        }
        self.remarks.extend(remark_on_all(&caps, there));
        let caps_memory = self.hosts.iter().any(|host| host.capacity.memory_bytes.is_some());
        if caps_memory && is_in_memory(self.folder()) {
            self.remarks.push(IN_MEMORY.to_owned());
        }
        self.generators = self.hosts.split_off(spec.hosts.len());
        if let Some(ports) = spec.generator.ports {
            self.generators.iter().try_for_each(|host| link::limit_ports(&host.network()?, ports))?;
        }
        Ok(())
    }

    fn host(
        &self,
        index: usize,
        name: &str,
        capacity: &Capacity,
        options: &LabOptions<'_>,
    ) -> Result<LabHost, LabError> {
        let folder = self.folder.path().join(format!("{index}-{name}"));
        open_folder(&folder, 0o1777)?;
        let setup = SandboxSetup {
            name: name.to_owned(),
            files: vec![(self.folder.path().join("hosts"), PathBuf::from("/etc/hosts"))],
            // The user may want the generator's files in a place that a host would have for itself.
            own_runtime: !PlanHost::is_generator(name),
            last_pid: (index as u32 + 1) * NUMBERS_APART,
        };
        let sandbox = Sandbox::create(&setup).map_err(LabError::namespaces(name))?;
        let (groups, granted) = self.groups.host(name, &folder, capacity)?;
        Ok(LabHost {
            name: name.to_owned(),
            address: naming::host(self.lease.number, index),
            port: link::port(index),
            hub: self.network.try_clone().map_err(LabError::namespaces(name))?,
            capacity: granted,
            cores_later: None,
            phase: HostPhase::Starting,
            services: Vec::new(),
            sandbox,
            groups,
            folder,
            programs: options.programs.clone(),
        })
    }

    fn connect(&self, index: usize, host: &LabHost, single_packets: bool) -> Result<(), LabError> {
        let cable = link::cable_lines(index, host.pid(), link::has_ipv6(&self.network)?);
        link::batch("ip", &cable, &self.network, &host.name)?;
        let own = host.network()?;
        let lines = link::host_lines(host.address, single_packets, link::has_ipv6(&own)?);
        link::batch("ip", &lines, &own, &host.name)?;
        host.cap_link()
    }

    fn start(&mut self, spec: &LabSpec, options: &LabOptions<'_>) -> Result<(), LabError> {
        let addresses = self.addresses();
        for (index, host) in spec.hosts.iter().enumerate() {
            for text in &host.run {
                let own = &self.hosts[index].folder;
                let (hosts, services) = (addresses.as_slice(), options.services.as_ref());
                let text = Variables { hosts, folder: options.folder, services, own }.substitute(text)?;
                self.hosts[index].serve(text, options.folder)?;
            }
            if let Some(sign) = &host.ready {
                match self.wait(index, sign, |last| next_after(last).min(options.ready_within), options) {
                    // A host that is not ready yet is waited for again below.
                    Ok(()) | Err(LabError::NotReady { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let signs =
            spec.hosts.iter().enumerate().filter_map(|(index, host)| Some((index, host.ready.as_ref()?)));
        for (index, sign) in signs {
            self.wait(index, sign, |_| options.ready_within, options)?;
        }
        self.alive()?;
        for (host, own) in self.hosts.iter_mut().zip(&spec.hosts) {
            host.phase = if own.ready.is_some() { HostPhase::Serving } else { HostPhase::Up };
        }
        Ok(())
    }

    fn wait(
        &mut self,
        index: usize,
        sign: &Ready,
        within: impl Fn(&NotReady) -> Duration,
        options: &LabOptions<'_>,
    ) -> Result<(), LabError> {
        let begun = RealClock.now();
        loop {
            let host = &self.hosts[index];
            let checked = self.network.run(|| readiness::check_ready(sign, host.address.into(), &host.name));
            let lost = |error| Err(NotReady::Silent(format!("could not be checked: {error}")));
            let Err(last) = checked.unwrap_or_else(lost) else { return Ok(()) };
            let within = within(&last);
            self.alive()?;
            self.hosts[index].is_served()?;
            if options.interrupted.load(Ordering::Relaxed) {
                return Err(LabError::Interrupted);
            }
            if RealClock.now().since(begun) >= within {
                let host = &self.hosts[index];
                let (name, output, last) = (host.name.clone(), host.output(), last.text());
                return Err(LabError::NotReady { host: name, sign: sign.clone(), within, last, output });
            }
            thread::sleep(POLL);
        }
    }
}

/// How long the start of the next hosts waits for this one, so that hosts that need it find it. A host that answers without success,
/// such as a proxy, may itself need the next ones.
fn next_after(last: &NotReady) -> Duration {
    match last {
        NotReady::Silent(_) => Duration::from_secs(10),
        NotReady::Failing(_) => Duration::from_millis(500),
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // Kill all at once first: dropping a host waits for its processes.
        self.hosts.iter().chain(&self.generators).for_each(|host| host.sandbox.kill());
    }
}

/// Fails for a folder that hosts do not see. A missing folder becomes an error where it is used.
fn seen_by_hosts(folder: &Path) -> Result<(), LabError> {
    let Ok(folder) = folder.canonicalize() else { return Ok(()) };
    match SandboxSetup::FRESH.into_iter().find(|place| folder.starts_with(place)) {
        Some(place) => Err(LabError::Hidden { folder, place }),
        None => Ok(()),
    }
}

/// Creates the lab's own folder, after noting it in the lease. Programs that drop root privileges must be able to read it.
fn own_folder(lease: &mut Lease) -> Result<TempDir, LabError> {
    let name = format!("{}-{}", lease.name(), std::process::id());
    // The path must be absolute, because commands run in other folders.
    let within = std::path::absolute(std::env::temp_dir());
    let within = within.map_err(LabError::file("find the folder of", "TMPDIR"))?;
    let path = within.join(&name);
    lease.note(&LeaseEntry::Folder(path.clone()))?;
    let folder = tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(within);
    let folder = folder.map_err(LabError::file("make the folder", path))?;
    open_folder(folder.path(), 0o755)?;
    Ok(folder)
}

fn open_folder(folder: &Path, mode: u32) -> Result<(), LabError> {
    let made = fs::create_dir_all(folder)
        .and_then(|()| fs::set_permissions(folder, fs::Permissions::from_mode(mode)));
    made.map_err(LabError::file("make the folder", folder))
}

/// The content of `/etc/hosts` on every host.
fn hosts_text(hosts: impl Iterator<Item = (String, Ipv4Addr)>) -> String {
    let lines = hosts.map(|(name, address)| format!("{address} {name}\n"));
    "127.0.0.1 localhost\n::1 localhost\n".to_owned() + &lines.collect::<String>()
}

/// The remark if the lab's folder is in memory and a host has a cap on memory.
const IN_MEMORY: &str = "the hosts' own folders are in memory, so that the files they write there count towards their caps of memory; set \
                         TMPDIR to a folder on a disk";

/// True if a folder is on a tmpfs, whose files stay in memory.
fn is_in_memory(folder: &Path) -> bool {
    // include/uapi/linux/magic.h
    const TMPFS_MAGIC: rustix::fs::FsWord = 0x0102_1994;
    rustix::fs::statfs(folder).is_ok_and(|found| found.f_type == TMPFS_MAGIC)
}

/// The cores that this process may use, by its affinity and by the quotas of its control groups, which contain the lab's groups. `None`
/// if unknown.
fn cores_there() -> Option<f64> {
    thread::available_parallelism().ok().map(|count| count.get() as f64)
}

/// A sentence about how a host's caps differ from the file; `None` if they do not.
fn remark(host: &LabHost, asked: &Capacity, there: Option<f64>) -> Option<String> {
    let (asked, granted) = (asked.cores?, host.capacity.cores?);
    if (asked - granted).abs() > f64::EPSILON {
        return Some(format!("{}: the file asks for {asked} cores, and affinity gives {granted}", host.name));
    }
    let there = there.filter(|there| asked > *there)?;
    Some(format!("{}: the file asks for {asked} cores, and {there} may be used here", host.name))
}

/// A sentence if the hosts together have caps of more cores than may be used, unless a single host already exceeds that.
fn remark_on_all(caps: &[f64], there: Option<f64>) -> Option<String> {
    let together: f64 = caps.iter().sum();
    let there =
        there.filter(|there| together > there * (1.0 + 1e-9) && caps.iter().all(|own| own <= there))?;
    Some(format!(
        "the hosts have caps of {} cores together, and {there} may be used here: under load they can have less than their caps",
        significant(together)
    ))
}

#[cfg(test)]
mod tests {
    use plimsoll_sys::Cores;

    use super::*;

    #[test]
    fn hosts_that_have_more_cores_together_than_there_are_are_remarked_on() {
        let text = remark_on_all(&[1.5, 1.0], Some(2.0)).unwrap();
        assert!(text.contains("2.5") && text.contains("and 2 may be used here"), "{text}");
        assert_eq!(remark_on_all(&[0.7, 0.7, 0.6], Some(2.0)), None);
        assert_eq!(remark_on_all(&[3.0, 1.0], Some(2.0)), None, "one alone has a remark of its own");
        assert_eq!(remark_on_all(&[3.0, 1.0], None), None);
    }

    #[test]
    fn a_folder_in_memory_is_no_folder_on_a_disk() {
        assert!(!is_in_memory(Path::new("/proc/self")));
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let tmpfs = mounts.lines().find_map(|line| {
            let mut fields = line.split(' ').skip(1);
            fields.next().filter(|place| fields.next() == Some("tmpfs") && Path::new(place).is_dir())
        });
        assert!(tmpfs.is_none_or(|place| is_in_memory(Path::new(place))), "{tmpfs:?}");
    }

    #[test]
    fn no_more_cores_are_there_than_a_quota_gives() {
        let there = cores_there().unwrap();
        assert!(there >= 1.0 && there <= Cores::allowed().unwrap().numbers().len() as f64, "{there}");
    }
}
