//! Changes caps during a run: the generator sends a request on its standard output, and the process that made the lab changes the
//! cap. It confirms a raised cap with a sample among those of the hosts.

use std::io;

use plimsoll_analyze::Raise;
use plimsoll_conductor::CapController;
use plimsoll_conductor::peers::{CapChange, Message, send_line};
use plimsoll_lab::{Capping, LabError, LabHost};
use plimsoll_plan::Cap;
use plimsoll_record::{HostSample, Reading, Source};
use plimsoll_units::{Clock, Instant, RealClock};

/// The generator's side: messages on its standard output.
#[derive(Debug)]
pub(super) struct RemoteCaps;

impl CapController for RemoteCaps {
    fn apply(&mut self) -> io::Result<()> {
        send(CapChange::Apply)
    }

    fn raise(&mut self, raise: &Raise) -> io::Result<()> {
        send(CapChange::Raise(raise.clone()))
    }
}

fn send(change: CapChange) -> io::Result<()> {
    send_line(&mut io::stdout().lock(), &Message::Caps(change))
}

/// The caps of the lab's hosts.
#[derive(Debug)]
pub(super) struct LabCaps<'a> {
    pub(super) hosts: &'a mut [LabHost],
    pub(super) capping: Capping,
}

impl LabCaps<'_> {
    pub(super) fn apply(&mut self) -> Result<(), LabError> {
        self.hosts.iter_mut().try_for_each(LabHost::apply_caps)
    }

    /// Raises a cap. The returned sample holds the new amount, or the reason for the failure.
    pub(super) fn raise(&mut self, raise: &Raise) -> HostSample {
        let now_ns = || RealClock.now().nanos_since(Instant::default());
        let began_ns = now_ns();
        let reading = match self.altered(raise) {
            Ok(after) => Raise { after, ..raise.clone() }.reading(),
            Err(why) => Reading::Failed(why),
        };
        HostSample {
            host: raise.host.as_str().into(),
            source: Source::Intervention.into(),
            subject: raise.cap.name().into(),
            began_ns,
            ended_ns: now_ns(),
            reading,
        }
    }

    fn altered(&mut self, raise: &Raise) -> Result<u64, String> {
        let named = |host: &&mut LabHost| host.name == raise.host;
        let host =
            self.hosts.iter_mut().find(named).ok_or_else(|| format!("there is no host {}", raise.host))?;
        if raise.cap == Cap::Cores {
            within_machine(raise.after, self.capping)?;
        }
        host.change_caps(&raise.cap.alone(raise.after)).map_err(|error| error.to_string())?;
        Ok(raise.cap.of(&host.capacity).unwrap_or(raise.after))
    }
}

/// Fails for more cores than the machine has, and without control groups: running processes stay bound to their cores.
fn within_machine(cores_milli: u64, capping: Capping) -> Result<(), String> {
    if capping == Capping::Affinity {
        return Err("without control groups the cores of a running host cannot be raised".to_owned());
    }
    let there = std::thread::available_parallelism().map_or(u64::MAX, |count| count.get() as u64);
    match cores_milli <= there.saturating_mul(1000) {
        true => Ok(()),
        false => Err(format!("this machine has no more than its {there} cores")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_cores_are_given_than_there_are() {
        assert!(within_machine(1_000, Capping::GroupsV2).is_ok());
        assert!(within_machine(1_000_000_000, Capping::GroupsV2).unwrap_err().contains("cores"));
        assert!(within_machine(1_000, Capping::Affinity).is_err());
    }
}
