//! The use of a host's processors by others than the target.
//!
//! Other processes may end before they are sampled, as those of a compiler do. Their use is therefore the remainder: all CPU
//! time, less that of the target and of the children it waited for, of the load generator, and of work for packets.
//! Use before the load is not by requests; without samples of that time, the steps of the lowest and the highest
//! throughput show what follows the load.

use plimsoll_record::metric::{cpu, process};
use plimsoll_record::{Source, Subject};

use crate::StepSummary;
use crate::hosts::demand::{Load, follows_load};
use crate::hosts::topology::flow::{Figures, Flow, Tier};
use crate::hosts::track::{Span, Track};
use crate::hosts::tracks::{GENERATOR, Hosts};
use crate::hosts::usage::compute::{cpu_of, cpu_of_children};
use crate::hosts::usage::sleep::sleeps;

/// Command names of load generators, for one that runs on the host itself: it follows the load without serving it.
const GENERATORS: [&str; 2] = ["plimsoll", "wrk"];
/// How many parents, one above the other, are checked for whether they serve requests.
const MAX_PARENTS: usize = 8;

/// True for the process of a load generator.
pub(crate) fn is_generator(subject: Subject<'_>) -> bool {
    GENERATORS.contains(&subject.name())
}

/// When something is observed: before the load, or in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Rest,
    Step(usize),
}

/// The processes of one host in the steps of a run.
#[derive(Clone, Copy)]
pub(crate) struct HostProcesses<'a> {
    pub(crate) host: &'a str,
    pub(crate) hosts: &'a Hosts<'a>,
    pub(crate) spans: &'a [Span],
    pub(crate) steps: &'a [StepSummary],
    pub(crate) flow: &'a Flow,
}

impl<'a> HostProcesses<'a> {
    /// Watched processes that serve requests. A process is left out, with its children, if no request is known to pass it and it does
    /// not follow the load or never sleeps.
    fn serving(self) -> impl Iterator<Item = (Subject<'a>, &'a Track<'a>)> {
        self.of(Source::Process).filter(move |(subject, track)| self.serves(*subject, track, MAX_PARENTS))
    }

    /// Cores used in a step by the processes that serve requests, with their children; `None` where none was sampled.
    pub(crate) fn served(self, step: usize) -> Option<f64> {
        let cores = |(_, track)| self.with_children(track, Moment::Step(step));
        self.serving().filter_map(cores).reduce(|a, b| a + b)
    }

    /// The watched processes that serve no requests.
    pub(crate) fn not_serving(self) -> impl Iterator<Item = (Subject<'a>, &'a Track<'a>)> {
        self.of(Source::Process).filter(move |(subject, track)| !self.serves(*subject, track, MAX_PARENTS))
    }

    /// Cores that others than the target used in each step, `None` where unknown. `used` is the use of all in each step, `at_rest` that
    /// before the load.
    pub(super) fn others(self, used: &[Option<f64>], at_rest: Option<f64>) -> Figures {
        let remainder = |moment| match moment {
            Moment::Rest => self.remainder(at_rest?, moment),
            Moment::Step(step) => self.remainder(used[step]?, moment),
        };
        let is_others = match self.follows(remainder) {
            Some(follows) => !follows,
            None => self.are_children_known(),
        };
        let steady = |moment| self.unwatched(|follows| follows == Some(false), moment);
        let neighbours = |moment| if is_others { remainder(moment) } else { Some(steady(moment)) };
        let steps = (0..used.len()).map(Moment::Step);
        steps.map(|step| Some(neighbours(step)? + self.generator(step)?)).collect()
    }

    fn of(self, source: Source) -> impl Iterator<Item = (Subject<'a>, &'a Track<'a>)> {
        self.hosts.of(self.host, source)
    }

    fn span(self, track: &Track<'_>, moment: Moment) -> Option<Span> {
        match moment {
            Moment::Rest => self.hosts.rest(track),
            Moment::Step(step) => Some(self.spans[step]),
        }
    }

    fn cores(self, track: &Track<'_>, moment: Moment) -> Option<f64> {
        cpu_of(track, self.span(track, moment)?)
    }

    /// As [`cores`](Self::cores), with the children that the process waited for.
    fn with_children(self, track: &Track<'_>, moment: Moment) -> Option<f64> {
        let span = self.span(track, moment)?;
        Some(self.cores(track, moment)? + cpu_of_children(track, span).unwrap_or(0.0))
    }

    fn are_children_known(self) -> bool {
        self.of(Source::Process).any(|(_, track)| track.last(process::CHILDREN_CPU_MS).is_some())
    }

    /// Whether a use follows the load, by its value before the load, or else at the lowest throughput, and at the highest.
    fn follows(self, used: impl Fn(Moment) -> Option<f64>) -> Option<bool> {
        let throughput = |step: usize| self.steps[step].throughput.value;
        let by_throughput = |a: &usize, b: &usize| throughput(*a).total_cmp(&throughput(*b));
        let answering = || (0..self.steps.len()).filter(|step| throughput(*step) > 0.0);
        let load = |step: usize| {
            Some(Load { throughput_per_sec: throughput(step), used: used(Moment::Step(step))? })
        };
        let at_rest = || Some(Load { throughput_per_sec: 0.0, used: used(Moment::Rest)? });
        let lowest = at_rest().or_else(|| load(answering().min_by(by_throughput)?))?;
        follows_load(lowest, load(answering().max_by(by_throughput)?)?)
    }

    /// True for a process that serves requests. If it is not known which processes requests pass, all watched processes count.
    fn serves(self, subject: Subject<'_>, track: &Track<'_>, parents: usize) -> bool {
        let here = self.flow.tiers.iter().filter(|tier| tier.is_sampled() && tier.node.host == self.host);
        let tiers: Vec<&str> = here.map(Tier::process).collect();
        if tiers.is_empty() || tiers.contains(&"") || tiers.contains(&subject.name()) {
            return true;
        }
        match self.follows(|moment| self.with_children(track, moment)) {
            Some(follows) => follows,
            None => sleeps(track, self.steps, self.spans) != Some(false) && self.is_of_server(track, parents),
        }
    }

    /// A process that is too young to be judged counts as its parent does; without a watched parent, as part of the server.
    fn is_of_server(self, track: &Track<'_>, parents: usize) -> bool {
        let Some(pid) = track.last(process::PARENT).filter(|_| parents > 0) else { return true };
        let mut watched = self.of(Source::Process);
        let parent = watched.find(|(subject, _)| subject.pid() == Some(pid as u32));
        parent.is_none_or(|(subject, track)| self.serves(subject, track, parents - 1))
    }

    /// The remainder of all that was used; `None` where the use of a load generator on the host is not known.
    fn remainder(self, used: f64, moment: Moment) -> Option<f64> {
        let served: f64 = self.serving().filter_map(|(_, track)| self.with_children(track, moment)).sum();
        let may_serve = self.unwatched(|follows| follows != Some(false), moment);
        let rest = used - served - may_serve - self.generator(moment)? - self.of_kernel(moment);
        Some(rest.max(0.0))
    }

    /// Cores used by unwatched processes, selected by whether they follow the load: a server behind a unix socket may not be found by
    /// its connections and works for the requests all the same.
    fn unwatched(self, counts: impl Fn(Option<bool>) -> bool, moment: Moment) -> f64 {
        let all = self.of(Source::OtherProcesses).filter(|(subject, _)| !is_generator(*subject));
        let counted = all.filter(|(_, track)| counts(self.follows(|moment| self.cores(track, moment))));
        counted.filter_map(|(_, track)| self.cores(track, moment)).sum()
    }

    /// Cores used by load generators on the host itself: this one by its own account, others and those of a fleet as far as they were
    /// sampled. `None` where this one runs here and nothing was measured in the step.
    fn generator(self, moment: Moment) -> Option<f64> {
        let is_made_here = self.steps.iter().all(StepSummary::is_made_here);
        let is_here = is_made_here && self.hosts.are_one_machine(self.host, GENERATOR);
        let own = match moment {
            Moment::Step(step) if is_here => self.steps[step].generator_cores()?,
            _ => 0.0,
        };
        let all = self.of(Source::OtherProcesses).filter(|(subject, _)| is_generator(*subject));
        let others = all.filter(|(subject, _)| !is_here || subject.name() != GENERATORS[0]);
        Some(own + others.filter_map(|(_, track)| self.cores(track, moment)).sum::<f64>())
    }

    /// Cores that the kernel used for packets, and that other guests of the machine took, where the host's use includes these.
    fn of_kernel(self, moment: Moment) -> f64 {
        let machine = self.hosts.track(self.host, Source::Cpu, Subject::Host);
        let whole = machine.filter(|_| self.hosts.own_group(self.host).is_none());
        let rate = |metric| whole.and_then(|track| track.per_sec(metric, self.span(track, moment)?));
        let parts = [cpu::SOFTIRQ_MS, cpu::IRQ_MS, cpu::STEAL_MS].into_iter().filter_map(rate);
        parts.sum::<f64>() / 1e3
    }
}
