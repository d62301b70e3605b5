//! The hosts of a lab, looked at from outside them while its generator makes the load.
//!
//! Whoever looks must not use the CPU that a host is capped to, the generator's least of all. So it is this process that
//! samples them and writes to the generator's standard input what it sees, in the form of `plimsoll probe --stream`.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use plimsoll_host::{CgroupPaths, Component, Host, Watched, opening_line, sample_line};
use plimsoll_lab::{GroupPaths, Lab, LabHost, NetworkNamespace};
use plimsoll_plan::{Plan, Probe};
use plimsoll_record::HostSample;
use plimsoll_units::Instant;

/// The file tree of this machine, of which lab hosts are a part.
const ROOT: &str = "/";

/// Nobody asks for a sample at the ends of a step here, so that they come more often than elsewhere: counters between two
/// of them are interpolated.
const EVERY: Duration = Duration::from_millis(500);

/// Writes samples of the hosts, and those it is given, until the sender of these is dropped or nobody reads them any more.
///
/// # Errors
/// When the lab's network, from within which components are asked, cannot be entered.
pub(super) fn write_samples(
    mut hosts: Vec<Host>,
    network: &NetworkNamespace,
    mut to: impl Write + Send,
    told: Receiver<HostSample>,
) -> io::Result<()> {
    network.run(move || {
        let mut text = opening_line();
        loop {
            let samples = hosts.iter_mut().flat_map(|host| host.samples(Instant::default()));
            text.extend(samples.map(|sample| sample_line(&sample)));
            // A reader that is gone is a generator that has ended, which says all there is to say.
            let gone = to.write_all(text.as_bytes()).and_then(|()| to.flush()).is_err();
            if gone {
                return;
            }
            text.clear();
            match told.recv_timeout(EVERY) {
                Ok(sample) => text += &sample_line(&sample),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    })
}

/// The hosts that the plan looks at.
pub(super) fn hosts(lab: &Lab, plan: &Plan) -> Vec<Host> {
    let probes_of = |name: &str| {
        plan.hosts.iter().find(|known| known.name == name).map_or(&[][..], |known| known.probes.as_slice())
    };
    let looked_at = lab.hosts().iter().filter(|host| !probes_of(host.name()).contains(&Probe::None));
    looked_at.map(|host| watched(lab, host, probes_of(host.name()))).collect()
}

/// One host, with the components that the plan names beside it.
fn watched(lab: &Lab, host: &LabHost, probes: &[Probe]) -> Host {
    let mut watched = Host::lab(
        host.name(),
        Path::new(ROOT),
        Some(host.pid()),
        &cgroup_paths(host.groups()),
        &Watched::default(),
    );
    let addresses = lab.addresses();
    let settled = probes.iter().filter_map(|probe| at_address(probe, &addresses));
    let components = settled.filter_map(|probe| Component::of(&probe, Path::new(ROOT)));
    components.for_each(|component| watched.add_component(component));
    watched
}

/// A probe whose host goes by its address: only the lab's hosts know each other by name.
fn at_address(probe: &Probe, hosts: &[(String, Ipv4Addr)]) -> Option<Probe> {
    let settled = hosts.iter().fold(probe.to_string(), |text, (name, address)| {
        ["//", "@"].iter().fold(text, |text, before| {
            [":", "/"].iter().fold(text, |text, after| {
                text.replace(&format!("{before}{name}{after}"), &format!("{before}{address}{after}"))
            })
        })
    });
    settled.parse().ok()
}

fn cgroup_paths(groups: &GroupPaths) -> CgroupPaths {
    CgroupPaths {
        unified: groups.unified.clone(),
        cpu: groups.cpu.clone(),
        cpuacct: groups.cpuacct.clone(),
        memory: groups.memory.clone(),
        pids: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_the_lab_in_a_probe_becomes_its_address() {
        let hosts = [("web".to_owned(), Ipv4Addr::new(198, 18, 0, 2))];
        let settled = |text: &str| at_address(&text.parse().unwrap(), &hosts).unwrap().to_string();
        assert_eq!(settled("nginx+http://web/stub"), "nginx+http://198.18.0.2/stub");
        assert_eq!(settled("redis://web:6379"), "redis://198.18.0.2:6379");
        assert_eq!(settled("nginx+http://webs/web"), "nginx+http://webs/web");
    }
}
