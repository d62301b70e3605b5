//! The experiment that tries a verdict: what to raise, how that stands in a run, and which load came after it.

use std::fmt;

use plimsoll_plan::{Cap, Level, Load, RateProfile};
use plimsoll_record::{Counters, HostSample, Reading, Run, Source, Step};
use plimsoll_units::{bytes_text, count_text};

use crate::proof::{Foretold, LEAST_TOLD, foretold};
use crate::verdict::{bits_text, percent};
use crate::{Findings, Limit, Resource, ResourceKind};

/// The source under which a change of a host during a run is recorded.
pub const INTERVENTION: &str = "intervention";

/// A cap is raised by half.
fn raised(amount: u64) -> u64 {
    amount + amount / 2
}

/// A cap of a host, to be raised while a run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raise {
    /// The host's name.
    pub host: String,
    /// What of it.
    pub cap: Cap,
    /// How much there was, in the cap's unit.
    pub before: u64,
    /// How much there is then.
    pub after: u64,
}

impl Raise {
    /// What a run file keeps of it once it is done.
    pub fn reading(&self) -> Reading {
        let unit = self.cap.unit();
        let amounts = [("before", self.before), ("after", self.after)];
        Reading::Ok(amounts.map(|(when, amount)| (format!("{when}_{unit}"), amount)).into())
    }

    fn of(sample: &HostSample, counters: &Counters) -> Option<Self> {
        let cap = Cap::named(&sample.subject)?;
        let amount =
            |when: &str| counters.named(&format!("{when}_{}", cap.unit())).filter(|amount| *amount > 0);
        Some(Self { host: sample.host.to_string(), cap, before: amount("before")?, after: amount("after")? })
    }

    /// How many times as much there is afterwards.
    pub(crate) fn ratio(&self) -> f64 {
        self.after as f64 / self.before as f64
    }
}

impl fmt::Display for Raise {
    /// `0.75 cores instead of 0.5 for web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, cap, before, after } = self;
        let (before, after) = (*before as f64, *after as f64);
        match cap {
            Cap::Cores => write!(f, "{} cores instead of {} for {host}", after / 1000.0, before / 1000.0),
            Cap::LinkOut => write!(f, "{} out of {host} instead of {}", bits_text(after), bits_text(before)),
            Cap::LinkIn => write!(f, "{} into {host} instead of {}", bits_text(after), bits_text(before)),
            Cap::Packets => {
                write!(f, "{} packets/s for {host} instead of {}", count_text(after), count_text(before))
            }
            Cap::Memory => {
                write!(f, "{} of memory for {host} instead of {}", bytes_text(after), bytes_text(before))
            }
            Cap::Disk => {
                write!(f, "{}/s of the disk of {host} instead of {}/s", bytes_text(after), bytes_text(before))
            }
        }
    }
}

/// The step that is loaded again, if what limits it is raised.
pub(crate) fn repeated(findings: &Findings) -> Option<usize> {
    match &findings.plan.load {
        Load::Ladder { .. } => {
            let knee = findings.knee.filter(|knee| knee.reached)?;
            findings.steps.iter().position(|step| step.connections == knee.plateau_connections)
        }
        Load::Single { level: Level::Open { profile: RateProfile::Stages(_), .. }, .. } => None,
        Load::Single { .. } => findings.steps.len().checked_sub(1),
    }
}

/// What to raise in order to try the verdict, and the index of the step to be loaded again.
///
/// # Errors
/// Why it cannot be tried: a sentence for the user.
pub fn experiment(findings: &Findings) -> Result<(Raise, u32), String> {
    let (limit, place) = (findings.verdict.limit, &findings.verdict.place);
    let step = repeated(findings)
        .ok_or("there is no level that could be loaded again: growth was not seen to stop at one")?;
    let (cap, resource) = cap_of(findings, step).ok_or_else(|| match limit {
        Limit::Generator => "the load generator was the limit".to_owned(),
        Limit::None | Limit::Unknown => "no limit was named that could be raised".to_owned(),
        limit => format!("{} of {place} is nothing that a lab can raise", limit.name()),
    })?;
    let host = findings.verdict.host();
    let capacity = findings.plan.hosts.iter().find(|known| known.name == host).map(|known| known.capacity);
    let before = capacity.and_then(|capacity| cap.of(&capacity)).filter(|amount| *amount > 1);
    let before = before.ok_or_else(|| format!("{host} has no cap of {} in this lab", cap.name()))?;
    let raise = Raise { host: host.to_owned(), cap, before, after: raised(before) };
    match foretold(findings, step, &raise, resource) {
        Foretold { ratio, bound: Some(bound) } if ratio < LEAST_TOLD => Err(format!(
            "more {} for {host} would show nothing: {bound} allows only {} more",
            cap.name(),
            percent((ratio - 1.0).max(0.0))
        )),
        _ => Ok((raise, findings.steps[step].index)),
    }
}

/// The cap behind a verdict, and the resource that it caps where that is known.
pub(crate) fn cap_of(findings: &Findings, step: usize) -> Option<(Cap, Option<&Resource>)> {
    let verdict = &findings.verdict;
    // A neighbour, or the heap of one process, is nothing that more for the whole host would be the test of.
    let whole_host = verdict.place == verdict.host();
    let fullest = |kinds: &[ResourceKind]| {
        let of_host = findings.resources.iter().filter(|resource| resource.host == verdict.host());
        let shares = of_host
            .filter(|resource| kinds.contains(&resource.kind))
            .filter_map(|resource| Some((resource.utilisation(step)?, resource)));
        shares.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, resource)| resource)
    };
    match verdict.limit {
        Limit::Cpu if whole_host => Some((Cap::Cores, fullest(&[ResourceKind::Cpu]))),
        Limit::Memory if whole_host => Some((Cap::Memory, None)),
        Limit::Bandwidth => {
            let link = fullest(&[ResourceKind::BandwidthOut, ResourceKind::BandwidthIn])?;
            let outward = link.kind == ResourceKind::BandwidthOut;
            Some((if outward { Cap::LinkOut } else { Cap::LinkIn }, Some(link)))
        }
        Limit::Disk => Some((Cap::Disk, Some(fullest(&[ResourceKind::DiskRead, ResourceKind::DiskWrite])?))),
        Limit::Packets => Some((Cap::Packets, fullest(&[ResourceKind::PacketsOut, ResourceKind::PacketsIn]))),
        _ => None,
    }
}

/// A change that was asked for during a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Intervention {
    /// What was raised, or why it was not.
    pub(crate) outcome: Result<Raise, String>,
    began_ns: u64,
    ended_ns: u64,
}

impl Intervention {
    /// The first one of a run, if there is one.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let sample = run.hosts.iter().find(|sample| sample.source == Source::Intervention)?;
        let outcome = match &sample.reading {
            Reading::Ok(counters) => Ok(Raise::of(sample, counters)?),
            Reading::Failed(why) => Err(why.clone()),
            Reading::Absent => return None,
        };
        Some(Self { outcome, began_ns: sample.began_ns, ended_ns: sample.ended_ns })
    }

    /// The run as it was up to then, as if it had ended there.
    pub(crate) fn before(&self, run: &Run) -> Run {
        let mut first = with_steps(run, |step| step.began_ns < self.began_ns);
        first.hosts.retain(|sample| sample.began_ns < self.began_ns);
        first
    }

    /// The load that was made after it, by itself.
    pub(crate) fn after(&self, run: &Run) -> Run {
        let mut second = with_steps(run, |step| step.began_ns >= self.ended_ns);
        second.hosts.retain(|sample| sample.source != Source::Intervention);
        second
    }
}

/// A run with only such steps, and their frames.
pub(crate) fn with_steps(run: &Run, wanted: impl Fn(&Step) -> bool) -> Run {
    let steps: Vec<_> = run.steps.iter().filter(|step| wanted(step)).cloned().collect();
    let of_steps = |frame: &&plimsoll_record::Frame| steps.iter().any(|step| step.index == frame.head.step);
    Run {
        manifest: run.manifest.clone(),
        frames: run.frames.iter().filter(of_steps).cloned().collect(),
        hosts: run.hosts.clone(),
        events: run.events.clone(),
        profiles: run.profiles.clone(),
        steps,
    }
}
