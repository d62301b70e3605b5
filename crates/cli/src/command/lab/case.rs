//! One case: its lab is made, loaded and taken down, and the run is judged.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, bail};
use plimsoll_lab::{Lab, LabError, LabHost, LabOptions, Standing, fill_hosts};
use plimsoll_plan::{
    HostPort, LoadSpec, Plan, PlanSpec, ProfileOrder, ProfileSpec, Profiler, RateProfile, ResolveEntry,
};

use super::file::Case;
use super::found::Judged;
use super::generator;
use crate::args::CaseArgs;
use crate::command::recorded;
use crate::terminal::{remark, tell_error};

/// How long hosts may take to become ready.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// The longest step of a quick run.
const QUICK_STEP: Duration = Duration::from_secs(2);

/// The longest time of a quick run that searches for its own end.
const QUICK_BUDGET: Duration = Duration::from_secs(20);

/// The longest warm-up of a quick pass.
const QUICK_WARM: Duration = Duration::from_secs(15);

/// How long a profile takes in a quick pass.
const QUICK_PROFILE: Duration = Duration::from_secs(2);

/// A file whose target is none of its hosts.
#[derive(Debug, thiserror::Error)]
#[error(
    "the target's host `{host}` is none of this lab's, and no traffic leaves a lab; its hosts are {hosts}"
)]
pub(crate) struct NotInLab {
    host: String,
    hosts: String,
}

/// A profile that no lab can take.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` cannot be the source of a profile in a lab: perf is started beside the generator and sees no process of another \
     host; name a page such as http://${{host:NAME}}:PORT/debug/pprof/profile"
)]
pub(crate) struct PerfInLab(Profiler);

/// Makes the lab of a case. What a user should know of its caps is remarked.
pub(super) fn up(
    case: &Case<'_>,
    standing: Standing,
    interrupted: &AtomicBool,
    quiet: bool,
) -> anyhow::Result<Lab> {
    if case.file.lab_hosts.is_empty() {
        bail!(
            "{} has no host to make; if its hosts exist already, call `plimsoll run -f` with the file",
            case.name
        );
    }
    let own = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    let options = LabOptions {
        folder: case.folder,
        services: case.services(),
        programs: own.into_iter().collect(),
        runtime: standing.runtime_folder(),
        ready_within: READY_WITHIN,
        interrupted,
    };
    let lab = Lab::up(&case.lab(), &options).with_context(|| case.name.clone())?;
    for text in lab.remarks().iter().filter(|_| !quiet) {
        remark(&format!("plimsoll: {text}"));
    }
    Ok(lab)
}

/// Runs a case in a lab of its own.
pub(super) fn run(
    case: &Case<'_>,
    standing: Standing,
    how: &CaseArgs,
    interrupted: &AtomicBool,
) -> anyhow::Result<Judged> {
    let mut lab = LoadedLab::up(case, standing, how, interrupted)?;
    let file = lab.load(case, how, interrupted)?;
    lab.tell_ended();
    drop(lab);
    let (run, findings) = recorded::read(&file)?;
    Judged::of(case, file, &run, &findings)
}

/// A lab that is up and loaded by one plan after another.
pub(crate) struct LoadedLab {
    lab: Lab,
    /// The pages in it that were warmed up, which are not again.
    warmed: BTreeSet<String>,
}

impl LoadedLab {
    /// Makes the hosts of a case.
    pub(super) fn up(
        case: &Case<'_>,
        standing: Standing,
        how: &CaseArgs,
        interrupted: &AtomicBool,
    ) -> anyhow::Result<Self> {
        Ok(Self { lab: up(case, standing, interrupted, how.quiet)?, warmed: BTreeSet::new() })
    }

    /// Loads them by the plan of a case; gives the run file.
    pub(super) fn load(
        &mut self,
        case: &Case<'_>,
        how: &CaseArgs,
        interrupted: &AtomicBool,
    ) -> anyhow::Result<PathBuf> {
        let mut plan = plan(case, &self.lab, how.quick)?;
        let page = page(&plan);
        if self.warmed.contains(&page) {
            plan.warm = None;
        }
        let file = generator::run(&mut self.lab, &plan, how, interrupted)?;
        if plan.warm.is_some() {
            self.warmed.insert(page);
        }
        Ok(file)
    }

    /// Its hosts.
    pub(super) fn hosts(&self) -> &[LabHost] {
        self.lab.hosts()
    }

    /// Whether all services still run.
    pub(super) fn alive(&mut self) -> Result<(), LabError> {
        self.lab.alive()
    }

    /// Tells of a service that ended during a run; true if one did.
    pub(super) fn tell_ended(&mut self) -> bool {
        let Err(error) = self.alive() else { return false };
        tell_error(&anyhow::Error::new(error).context("a service ended during the run"));
        true
    }
}

/// The page that a plan asks for. Another page is other code of the server; another body, header or query goes through the same,
/// and a compiler that has seen it is quick to follow.
fn page(plan: &Plan) -> String {
    let path = plan.target.path.split('?').next().unwrap_or_default();
    format!("{}{path}", plan.target.authority())
}

/// The plan of a case as it is run in this lab.
fn plan(case: &Case<'_>, lab: &Lab, quick: bool) -> anyhow::Result<Plan> {
    let mut spec: PlanSpec = case.file.spec.clone();
    spec.name = Some(case.name.replace('/', "-"));
    let addresses = lab.addresses();
    let urls = spec.scenario.requests.iter_mut().map(|request| &mut request.url).chain([&mut spec.url]);
    for url in urls {
        *url = fill_hosts(url, &addresses)?;
    }
    for host in lab.hosts() {
        for known in spec.hosts.iter_mut().filter(|known| known.name == host.name()) {
            known.address = Some(host.address().into());
            known.capacity = *host.capacity();
        }
    }
    if quick {
        quicken(&mut spec);
    }
    let mut plan = spec.freeze().with_context(|| case.name.clone())?;
    plan.generator.workers = plan.generator.workers.or(Some(workers(lab)));
    plan.generator.lab_capacity = lab.generators().first().map(|host| *host.capacity());
    plan.profile = profile(case, &addresses, quick)?;
    settle_target(&mut plan, &addresses)?;
    Ok(plan)
}

/// The profile that a case asks for, of hosts by their addresses.
fn profile(
    case: &Case<'_>,
    addresses: &[(String, Ipv4Addr)],
    quick: bool,
) -> anyhow::Result<Option<ProfileOrder>> {
    let Some(typed) = &case.file.profile else { return Ok(None) };
    let source = fill_hosts(&typed.source, addresses)?;
    let time = if quick { typed.time.min(QUICK_PROFILE) } else { typed.time };
    let order = ProfileSpec { source, time }.freeze().with_context(|| case.name.clone())?;
    match order.profiler {
        Profiler::Page(_) => Ok(Some(order)),
        Profiler::Perf(_) => Err(PerfInLab(order.profiler).into()),
    }
}

/// The target's name stands for its address, whatever a resolver would say.
fn settle_target(plan: &mut Plan, hosts: &[(String, Ipv4Addr)]) -> Result<(), NotInLab> {
    let host = &plan.target.host;
    if hosts.iter().any(|(_, address)| address.to_string() == *host) {
        return Ok(());
    }
    let Some((_, address)) = hosts.iter().find(|(name, _)| name.eq_ignore_ascii_case(host)) else {
        let names: Vec<&str> = hosts.iter().map(|(name, _)| name.as_str()).collect();
        return Err(NotInLab { host: host.clone(), hosts: names.join(", ") });
    };
    let host = HostPort { host: host.clone(), port: plan.target.port };
    plan.network.resolve = vec![ResolveEntry { host, addresses: vec![(*address).into()] }];
    Ok(())
}

/// As many workers as the generator's host has cores. Where it may use the whole machine half of it is left to the
/// others, as for any target on this machine.
fn workers(lab: &Lab) -> u32 {
    let all = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let cores = lab.generators().first().and_then(|host| host.capacity().cores);
    let given = cores.map(|cores| cores.ceil() as u32);
    given.unwrap_or(all.div_ceil(2)).clamp(1, all)
}

/// Shortens a load to a first look.
pub(super) fn quicken(spec: &mut PlanSpec) {
    spec.warm = spec.warm.map(|warm| warm.min(QUICK_WARM));
    match &mut spec.load {
        LoadSpec::Ladder { step_limit, budget, .. } => {
            *step_limit = step_limit.map(|limit| limit.min(QUICK_STEP));
            *budget = budget.map(|budget| budget.min(QUICK_BUDGET));
        }
        LoadSpec::Single { duration, profile, .. } => {
            *duration = duration.map(|duration| duration.min(QUICK_STEP));
            if let Some(RateProfile::Stages(stages)) = profile {
                stages.iter_mut().for_each(|stage| stage.duration = stage.duration.min(QUICK_STEP));
            }
        }
    }
}

/// The folder of run files as it is seen from anywhere.
pub(super) fn whole(folder: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(folder).with_context(|| format!("could not find the folder {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::PlanFile;

    use super::*;

    fn page_of(url: &str, more: &str) -> String {
        let text = format!("[target]\nurl = \"{url}\"\n{more}\n[load]\nladder = [1]\n");
        page(&PlanFile::parse(&text).unwrap().spec.freeze().unwrap())
    }

    #[test]
    fn a_page_is_the_same_with_another_query_or_body_and_another_on_another_host_or_path() {
        let one = page_of("http://api/a", "");
        assert_eq!(one, page_of("http://api/a?id=7", "body = \"b\""));
        assert_ne!(one, page_of("http://api/b", ""));
        assert_ne!(one, page_of("http://api:8080/a", ""));
    }
}
