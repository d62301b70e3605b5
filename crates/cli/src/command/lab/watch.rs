//! The hosts of a lab, looked at from outside them while its generator makes the load.
//!
//! Whoever looks must not use the CPU that a host is capped to, the generator's least of all. So it is this process that
//! samples them and writes to the generator's standard input what it sees, in the form of `plimsoll probe --stream`.

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use plimsoll_host::{Component, Host, Watched, opening_line, sample_line};
use plimsoll_lab::{Lab, LabHost, NetworkNamespace};
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

/// The hosts that the plan looks at: those that take part, but for what it says not to look at.
pub(super) fn hosts(lab: &Lab, plan: &Plan) -> Vec<Host> {
    let known = |host: &LabHost| plan.hosts.iter().find(|known| known.name == host.name());
    let taking_part = lab.hosts().iter().filter_map(|host| Some((host, known(host)?.probes.as_slice())));
    let looked_at = taking_part.filter(|(_, probes)| !probes.contains(&Probe::None));
    looked_at.map(|(host, probes)| watched(lab, host, probes)).collect()
}

/// One host, with the components that the plan names beside it.
fn watched(lab: &Lab, host: &LabHost, probes: &[Probe]) -> Host {
    let mut watched =
        Host::lab(host.name(), Path::new(ROOT), Some(host.pid()), host.groups(), &Watched::default());
    let addresses = lab.addresses();
    // Only the lab's hosts know each other by name.
    let address = |name: &str| {
        let known = addresses.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, address)| (*address).into())
    };
    let components =
        probes.iter().filter_map(|probe| Component::of(&probe.settled(address), Path::new(ROOT)));
    components.for_each(|component| watched.add_component(component));
    watched
}
