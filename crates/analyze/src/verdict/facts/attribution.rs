//! Whether requests use a resource.

use plimsoll_record::Source;
use plimsoll_record::metric::process;

use crate::hosts::demand::{Demand, Law, Load, follows_load};
use crate::hosts::resource::{Resource, ResourceKind};
use crate::hosts::track::Track;
use crate::hosts::usage::compute::cpu_of;
use crate::hosts::usage::sleep::{MIN_SLEEPS, fewest, sleeps, sleeps_per_sec};
use crate::hosts::utilisation::FREE;
use crate::verdict::bounds;
use crate::verdict::context::RuleContext;

/// The share of a use that the sampled threads must account for to stand for all of it.
const MIN_SAMPLED: f64 = 0.5;

impl RuleContext<'_> {
    /// True if the load was measured for long enough to say something about hosts; always true for a table.
    pub(crate) fn is_long_enough(&self) -> bool {
        self.step().is_none_or(|step| step.measured_sec >= bounds::MIN_WINDOW_SEC)
    }

    /// The index of the step with the lowest throughput above 0, and that throughput.
    fn lowest(&self) -> Option<(usize, f64)> {
        let steps = self.steps().iter().map(|step| step.throughput.value).enumerate();
        steps.filter(|(_, throughput)| *throughput > 0.0).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Whether the CPU use of a process follows the load, compared with its use before the load, or else at the lowest throughput;
    /// `None` where the comparison does not show it.
    pub(crate) fn follows_load(&self, track: &Track<'_>) -> Option<bool> {
        let at_rest = || {
            let used = cpu_of(track, self.obs.hosts.rest(track)?)?;
            Some(Load { throughput_per_sec: 0.0, used })
        };
        let at_lowest = || {
            let (lowest, throughput_per_sec) = self.lowest()?;
            Some(Load { throughput_per_sec, used: cpu_of(track, self.obs.spans[lowest])? })
        };
        let then = at_rest().or_else(at_lowest)?;
        let now = Load { throughput_per_sec: self.throughput(), used: cpu_of(track, self.span())? };
        follows_load(then, now)
    }

    /// Whether a process slept while it waited for requests, at the step with the fewest under way; `None` if that was not counted.
    pub(crate) fn sleeps(&self, track: &Track<'_>) -> Option<bool> {
        sleeps(track, self.steps(), self.obs.spans)
    }

    /// The threads that use a resource, and processes of one thread whose threads were not sampled.
    fn threads_of(&self, resource: &Resource) -> Vec<&Track<'_>> {
        let hosts = self.obs.hosts;
        let host = resource.host.as_str();
        let sampled = |pid| hosts.of(host, Source::Thread).any(|(subject, _)| subject.pid() == pid);
        let alone = hosts.of(host, Source::Process).filter(move |(subject, track)| {
            track.last(process::THREADS) == Some(1.0) && !sampled(subject.pid())
        });
        let all = hosts.of(host, Source::Thread).chain(alone);
        let meant = |subject| resource.kind != ResourceKind::Thread || Some(subject) == resource.subject();
        all.filter(|(subject, _)| meant(*subject)).map(|(_, track)| track).collect()
    }

    /// True if the threads that use a resource sleep between requests where few are under way: their use is then by requests.
    fn is_slept_between(&self, resource: &Resource) -> bool {
        let Some((step, span, throughput)) = fewest(self.steps(), self.obs.spans) else { return false };
        let Some(used) = resource.used[step].filter(|used| *used > 0.0) else { return false };
        let load = |track: &&Track<'_>| Some((cpu_of(track, span)?, sleeps_per_sec(track, span)?));
        let threads = self.threads_of(resource);
        let threads: Vec<(f64, f64)> = threads.iter().filter_map(load).collect();
        let all: f64 = threads.iter().map(|(cores, _)| cores).sum();
        // Each thread is taken to serve a share of the requests equal to its share of the use.
        let awake = |(cores, sleeps): &&(f64, f64)| *sleeps < MIN_SLEEPS * throughput * cores / all;
        let awake: f64 = threads.iter().filter(awake).map(|(cores, _)| cores).sum();
        all >= MIN_SAMPLED * used && awake <= (1.0 - bounds::PASSED_ON) * used
    }

    /// True if requests use a resource: its use grew with them to more than would be free, or it was observed
    /// with room left at a lower load, or its threads sleep between requests. Threads that poll without pause fill a
    /// core at any load, and give it up for work.
    pub(crate) fn is_used_by_requests(&self, resource: &Resource) -> bool {
        let shares = (0..self.obs.loads.len()).filter_map(|load| resource.utilisation(load));
        let least = shares.reduce(f64::min).unwrap_or(1.0);
        let by_requests = |demand: Demand| {
            let (used, capacity) = (resource.used[self.load]?, resource.capacity?);
            Some((used - demand.idle) / capacity)
        };
        let grew = |demand: Demand| match demand.law {
            Law::Holds => by_requests(demand).is_some_and(|share| share >= FREE),
            Law::Untested => least < FREE,
            Law::Broken => false,
        };
        let unbroken = resource.demand.filter(|demand| demand.law != Law::Broken);
        unbroken.is_some_and(|demand| grew(demand) || self.is_slept_between(resource))
    }
}
