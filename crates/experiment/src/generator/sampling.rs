//! Samples the hosts of a lab from outside them while its generator makes the load.
//!
//! Sampling must not use the CPU of a capped host, least of all the generator's. So the process that made the lab samples its
//! hosts, and writes the samples to the generator's standard input in the format of `plimsoll probe --stream`.

use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use plimsoll_host::{Component, Host, Watched, opening_line, sample_line};
use plimsoll_lab::{Lab, LabHost, NetworkNamespace};
use plimsoll_plan::{Plan, Probe};
use plimsoll_record::HostSample;
use plimsoll_units::Instant;

const ROOT: &str = "/";

/// The interval of samples. It is shorter than elsewhere, because steps do not request samples at their ends here: counters
/// between two samples are interpolated.
const EVERY: Duration = Duration::from_millis(500);

/// Writes samples of the hosts and samples from `answers`, until the sender of `answers` is dropped or the reader is gone. Components
/// are queried from within the lab's network. Fails if the network cannot be entered, or a sample has no JSON form.
pub(super) fn write_samples(
    mut hosts: Vec<Host>,
    network: &NetworkNamespace,
    mut to: impl Write + Send,
    answers: Receiver<HostSample>,
) -> io::Result<()> {
    network.run(move || {
        let mut text = opening_line()?;
        loop {
            for sample in hosts.iter_mut().flat_map(|host| host.samples(Instant::default())) {
                text += &sample_line(&sample)?;
            }
            // The reader is gone: the generator has ended, and its own error says why.
            let gone = to.write_all(text.as_bytes()).and_then(|()| to.flush()).is_err();
            if gone {
                return Ok(());
            }
            text.clear();
            match answers.recv_timeout(EVERY) {
                Ok(sample) => text += &sample_line(&sample)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    })?
}

/// The hosts that the plan samples: the hosts that take part, except those with the probe `none`.
pub(super) fn hosts(lab: &Lab, plan: &Plan) -> Vec<Host> {
    let known = |host: &LabHost| plan.hosts.iter().find(|known| known.name == host.name);
    let taking_part = lab.hosts.iter().filter_map(|host| Some((host, known(host)?.probes.as_slice())));
    let sampled = taking_part.filter(|(_, probes)| !probes.contains(&Probe::None));
    sampled.map(|(host, probes)| watched(lab, host, probes)).collect()
}

/// One host, with the components that the plan's probes name.
fn watched(lab: &Lab, host: &LabHost, probes: &[Probe]) -> Host {
    let mut watched =
        Host::lab(&host.name, Path::new(ROOT), Some(host.pid()), host.groups(), &Watched::default());
    let addresses = lab.addresses();
    // Only the lab's own hosts have names in the lab.
    let address = |name: &str| {
        let known = addresses.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, address)| (*address).into())
    };
    let components =
        probes.iter().filter_map(|probe| Component::from_probe(&probe.settled(address), Path::new(ROOT)));
    components.for_each(|component| watched.add_component(component));
    watched
}
