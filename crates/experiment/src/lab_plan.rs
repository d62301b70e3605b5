//! The plan of a case for its lab: fills in names, and shortens the load for a quick pass.

use std::net::Ipv4Addr;
use std::time::Duration;

use plimsoll_lab::{Lab, substitute_hosts};
use plimsoll_plan::{
    HostPort, LoadSpec, Plan, PlanSpec, ProfileOrder, ProfileSpec, Profiler, RateProfile, ResolveEntry,
};

use crate::ExperimentError;
use crate::lab_file::Case;

/// The longest step of a quick pass.
const QUICK_STEP: Duration = Duration::from_secs(2);

/// How long a quick pass watches a target after an overload.
const QUICK_WATCH: Duration = Duration::from_secs(6);

/// The longest time of a quick pass whose ladder finds its own end.
const QUICK_BUDGET: Duration = Duration::from_secs(20);

/// The longest warm-up of a quick pass.
const QUICK_WARM: Duration = Duration::from_secs(15);

/// The longest CPU profile of a quick pass.
const QUICK_PROFILE: Duration = Duration::from_secs(2);

/// The page that a plan requests, without its query. Another page runs other code of the server, which is not warm yet; another
/// body, header or query runs the same code.
pub(crate) fn page(plan: &Plan) -> String {
    let path = plan.target.path.split('?').next().unwrap_or_default();
    format!("{}{path}", plan.target.authority())
}

/// Freezes the plan of a case for this lab.
pub(crate) fn lab_plan(case: &Case<'_>, lab: &Lab, quick: bool) -> Result<Plan, ExperimentError> {
    let mut spec: PlanSpec = case.file.spec.clone();
    spec.name = Some(case.name.replace('/', "-"));
    let addresses = lab.addresses();
    let urls = spec.scenario.requests.iter_mut().map(|request| &mut request.url).chain([&mut spec.url]);
    for url in urls {
        *url = substitute_hosts(url, &addresses)?;
    }
    for host in &lab.hosts {
        for known in spec.hosts.iter_mut().filter(|known| known.name == host.name) {
            known.address = Some(host.address.into());
            known.capacity = host.capacity;
        }
    }
    if quick {
        quicken(&mut spec);
    }
    let mut plan = spec.freeze()?;
    plan.generator.workers = plan.generator.workers.or(Some(workers(lab)));
    plan.generator.lab_capacity = lab.generators.first().map(|host| host.capacity);
    plan.profile = profile(case, &addresses, quick)?;
    settle_target(&mut plan, &addresses)?;
    Ok(plan)
}

/// The profile that a case asks for, with hosts' names replaced by addresses.
fn profile(
    case: &Case<'_>,
    addresses: &[(String, Ipv4Addr)],
    quick: bool,
) -> Result<Option<ProfileOrder>, ExperimentError> {
    let Some(typed) = &case.file.profile else { return Ok(None) };
    let source = substitute_hosts(&typed.source, addresses)?;
    let time = if quick { typed.time.min(QUICK_PROFILE) } else { typed.time };
    let order = ProfileSpec { source, time }.freeze()?;
    match order.profiler {
        Profiler::Page(_) => Ok(Some(order)),
        Profiler::Perf(_) => Err(ExperimentError::PerfInLab(order.profiler)),
    }
}

/// Resolves the target's name to its address in the lab, without a resolver.
fn settle_target(plan: &mut Plan, hosts: &[(String, Ipv4Addr)]) -> Result<(), ExperimentError> {
    let host = &plan.target.host;
    if hosts.iter().any(|(_, address)| address.to_string() == *host) {
        return Ok(());
    }
    let Some((_, address)) = hosts.iter().find(|(name, _)| name.eq_ignore_ascii_case(host)) else {
        let names: Vec<&str> = hosts.iter().map(|(name, _)| name.as_str()).collect();
        return Err(ExperimentError::TargetNotInLab { host: host.clone(), hosts: names.join(", ") });
    };
    let host = HostPort { host: host.clone(), port: plan.target.port };
    plan.network.resolve = vec![ResolveEntry { host, addresses: vec![(*address).into()] }];
    Ok(())
}

/// The number of workers: one per core of the generator's host. Without a cap on its cores, half of the machine's cores, as for any
/// target on this machine.
fn workers(lab: &Lab) -> u32 {
    let all = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let cores = lab.generators.first().and_then(|host| host.capacity.cores);
    let given = cores.map(|cores| cores.ceil() as u32);
    given.unwrap_or(all.div_ceil(2)).clamp(1, all)
}

/// Shortens a load for a preview.
pub(crate) fn quicken(spec: &mut PlanSpec) {
    spec.warm = spec.warm.map(|warm| warm.min(QUICK_WARM));
    // An overload without a given rate needs the search.
    let finds_rate = spec.overload.as_ref().is_some_and(|overload| overload.rate_per_sec.is_none());
    spec.search = spec.search.filter(|_| finds_rate);
    if let Some(overload) = &mut spec.overload {
        (overload.hold, overload.watch) = (Some(QUICK_STEP), Some(QUICK_WATCH));
    }
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

#[cfg(test)]
mod tests {
    use plimsoll_plan::PlanFile;

    use super::*;

    fn page_of(url: &str, more: &str) -> String {
        let text = format!("[target]\nurl = \"{url}\"\n{more}\n[load]\nladder = [1]\n");
        page(&PlanFile::parse(&text).unwrap().spec.freeze().unwrap())
    }

    #[test]
    fn a_quick_pass_searches_only_for_the_rate_that_it_overloads() {
        let searches = |more: &str| {
            let text = format!("[target]\nurl = \"http://api/\"\n{more}\n");
            let mut spec = PlanFile::parse(&text).unwrap().spec;
            quicken(&mut spec);
            spec.search.is_some()
        };
        assert!(searches("[overload]\nfactors = [2]"));
        assert!(!searches("[overload]\nrate = 500") && !searches("[load]\nsearch = true"));
    }

    #[test]
    fn a_page_is_the_same_with_another_query_or_body_and_another_on_another_host_or_path() {
        let one = page_of("http://api/a", "");
        assert_eq!(one, page_of("http://api/a?id=7", "body = \"b\""));
        assert_ne!(one, page_of("http://api/b", ""));
        assert_ne!(one, page_of("http://api:8080/a", ""));
    }
}
