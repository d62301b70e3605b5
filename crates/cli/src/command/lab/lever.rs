//! Changing caps while the generator makes the run: it asks with a line on its standard output, and whoever made the lab
//! does it. That a cap was raised is answered with a sample among those of the hosts.

use std::io::{self, Write};

use plimsoll_analyze::{INTERVENTION, Raise};
use plimsoll_conductor::{Caps, Lever};
use plimsoll_lab::{Capping, LabError, LabHost};
use plimsoll_plan::Cap;
use plimsoll_record::{HostSample, Reading};
use plimsoll_units::{Clock, Instant, RealClock};

/// The first word of a line that asks for a cap to be raised.
const RAISE: &str = "raise";

/// The line that asks for hosts that are free until they are warm to be held to their caps.
const HOLD: &str = "hold";

/// The generator's end.
#[derive(Debug)]
pub(super) struct Asking;

impl Lever for Asking {
    fn pull(&mut self, raise: &Raise) -> io::Result<()> {
        ask(&asking_line(raise))
    }
}

impl Caps for Asking {
    fn hold(&mut self) -> io::Result<()> {
        ask(&format!("{HOLD}\n"))
    }
}

fn ask(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}

/// Names of hosts have no blanks.
fn asking_line(raise: &Raise) -> String {
    let Raise { host, cap, before, after } = raise;
    format!("{RAISE} {host} {} {before} {after}\n", cap.name())
}

/// What a line can ask for.
#[derive(Debug, PartialEq)]
pub(super) enum Asked {
    /// One cap to be raised.
    Raise(Raise),
    /// Hosts to be held to their caps.
    Hold,
}

/// What a line asks for; `None` for any other line.
pub(super) fn asked(line: &str) -> Option<Asked> {
    match line.split(' ').collect::<Vec<_>>().as_slice() {
        [HOLD] => Some(Asked::Hold),
        [RAISE, host, cap, before, after] => Some(Asked::Raise(Raise {
            host: (*host).to_owned(),
            cap: Cap::named(cap)?,
            before: before.parse().ok()?,
            after: after.parse().ok()?,
        })),
        _ => None,
    }
}

/// The hosts, to be changed.
#[derive(Debug)]
pub(super) struct Levers<'a> {
    pub(super) hosts: &'a mut [LabHost],
    pub(super) capping: Capping,
}

impl Levers<'_> {
    /// Holds hosts that are free until they are warm to their caps.
    pub(super) fn hold(&mut self) -> Result<(), LabError> {
        self.hosts.iter_mut().try_for_each(LabHost::hold)
    }

    /// Raises a cap. The sample says what there is then, or why that could not be done.
    pub(super) fn raise(&mut self, asked: &Raise) -> HostSample {
        let now_ns = || RealClock.now().nanos_since(Instant::default());
        let began_ns = now_ns();
        let reading = match self.altered(asked) {
            Ok(after) => Raise { after, ..asked.clone() }.reading(),
            Err(why) => Reading::Failed(why),
        };
        let (host, subject) = (asked.host.as_str().into(), asked.cap.name().into());
        HostSample { host, source: INTERVENTION.into(), subject, began_ns, ended_ns: now_ns(), reading }
    }

    fn altered(&mut self, asked: &Raise) -> Result<u64, String> {
        let named = |host: &&mut LabHost| host.name() == asked.host;
        let host =
            self.hosts.iter_mut().find(named).ok_or_else(|| format!("there is no host {}", asked.host))?;
        if asked.cap == Cap::Cores {
            within_machine(asked.after, self.capping)?;
        }
        host.alter(&asked.cap.alone(asked.after)).map_err(|error| error.to_string())?;
        Ok(asked.cap.of(host.capacity()).unwrap_or(asked.after))
    }
}

/// Processes that run stay on the cores they were bound to, and a quota beyond the machine is none.
fn within_machine(cores_milli: u64, capping: Capping) -> Result<(), String> {
    if capping == Capping::Affinity {
        return Err("without control groups the cores of what runs already cannot be raised".to_owned());
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
    fn what_is_asked_arrives_as_it_was_meant() {
        let raise = Raise { host: "web-1.a".to_owned(), cap: Cap::LinkIn, before: 100, after: 150 };
        assert_eq!(asked(asking_line(&raise).trim_end()), Some(Asked::Raise(raise)));
        assert_eq!(asked(HOLD), Some(Asked::Hold));
        assert_eq!(asked("/runs/raise web cores 1 2.plimsoll"), None);
        assert_eq!(asked("raise web threads 1 2"), None);
    }

    #[test]
    fn no_more_cores_are_given_than_there_are() {
        assert!(within_machine(1_000, Capping::GroupsV2).is_ok());
        assert!(within_machine(1_000_000_000, Capping::GroupsV2).unwrap_err().contains("cores"));
        assert!(within_machine(1_000, Capping::Affinity).is_err());
    }
}
