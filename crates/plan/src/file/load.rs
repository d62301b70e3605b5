//! The parts of a plan file about the load and the conditions.

use std::time::Duration;

use super::entry::Entry;
use super::error::{PlanFileError, Problem, Result};
use super::section::Section;
use crate::{
    ArrivalProcess, Condition, LatencyLimit, LoadSpec, ProfileSpec, RateProfile, RateSearchOrder, Slo, Stage,
};

/// The default time of a rate, and the default longest time of a step.
const STEP: Duration = Duration::from_secs(10);

/// The default budget of a ladder that finds its own end, if no step time is given: the same as for `plimsoll URL`.
pub(super) const BUDGET: Duration = Duration::from_secs(90);

const KEYS: [&str; 8] = ["ladder", "rate", "arrivals", "search", "step", "warm", "budget", "within"];

/// The keys that choose the kind of load; at most one may be given.
const KINDS: [&str; 3] = ["ladder", "rate", "search"];

/// Keys that only one kind of load uses, with that kind and their meaning.
const PARTS: [(&str, &str, &str); 2] = [
    ("within", "search", "`within` is the width of its interval"),
    ("arrivals", "rate", "`arrivals` says how its requests are spread over time"),
];

/// Reads the load (a ladder, rates, or a ladder that finds its own end, within `budget` unless the file gives one) and the longest
/// warm-up before the first step.
pub(super) fn load(file: &Section<'_>, budget: Duration) -> Result<(LoadSpec, Option<Duration>)> {
    let Some(section) = file.section("load", &KEYS)? else { return Ok((doubling(None, budget), None)) };
    section.at_most_one(&KINDS)?;
    refuse_idle_keys(&section)?;
    let load = held(&section, budget)?;
    // A variant turns off the file's warm-up with a duration of 0.
    let warm = section.get("warm").filter(|warm| !warm.is_zero());
    Ok((load, warm.map(|warm| warm.duration()).transpose()?))
}

/// Refuses keys without effect on this load: they were meant for another kind.
fn refuse_idle_keys(section: &Section<'_>) -> Result<()> {
    let [ladder, rate, search] = KINDS.map(|key| section.get(key));
    for (key, kind, why) in PARTS {
        let Some(part) = section.get(key).filter(|_| section.get(kind).is_none()) else { continue };
        let other = [&ladder, &rate, &search].into_iter().flatten().next();
        return Err(other.map_or_else(|| section.missing(kind, why), |other| other.conflicting(&part)));
    }
    if let Some((load, budget)) = ladder.or_else(|| rate.clone()).zip(section.get("budget")) {
        return Err(load.conflicting(&budget));
    }
    match rate.filter(|rate| typed_stages(rate).is_some()).zip(section.get("step")) {
        Some((stages, step)) => Err(stages.conflicting(&step)),
        None => Ok(()),
    }
}

/// Returns a rate that is typed as stages, as on the command line.
fn typed_stages(rate: &Entry<'_>) -> Option<String> {
    rate.string().ok().filter(|text| text.contains('('))
}

fn held(section: &Section<'_>, budget: Duration) -> Result<LoadSpec> {
    let step = section.read("step", Entry::duration)?;
    if let Some(rate) = section.get("rate") {
        return rates(&rate, step.unwrap_or(STEP), section.read("arrivals", arrivals)?);
    }
    if let Some(ladder) = section.get("ladder") {
        let steps = ladder.one_or_more()?.iter().map(Entry::count).collect::<Result<_>>()?;
        return Ok(LoadSpec::Ladder { steps: Some(steps), step_limit: step.or(Some(STEP)), budget: None });
    }
    match section.get("search") {
        Some(asked) if !asked.boolean()? => {
            Err(asked.wrong("true, or left out with a ladder or a rate in its place"))
        }
        _ => Ok(match section.read("budget", Entry::duration)? {
            None => doubling(step, budget),
            budget => LoadSpec::Ladder { steps: None, step_limit: step, budget },
        }),
    }
}

/// A ladder that finds its own end, within `budget` unless its steps have a time.
pub(super) fn doubling(step: Option<Duration>, budget: Duration) -> LoadSpec {
    LoadSpec::Ladder { steps: None, step_limit: step, budget: step.is_none().then_some(budget) }
}

/// Reads the search for the highest rate of arrivals after the ladder; `None` without one.
pub(super) fn search(file: &Section<'_>, load: &LoadSpec) -> Result<Option<RateSearchOrder>> {
    let Some(section) = file.section("load", &KEYS)?.filter(|section| section.get("search").is_some()) else {
        return Ok(None);
    };
    let LoadSpec::Ladder { budget, .. } = load else { return Ok(None) };
    let within = section.read("within", Entry::ratio)?.map(|tolerance| RateSearchOrder { tolerance });
    Ok(Some(within.unwrap_or_else(|| RateSearchOrder::within(budget.unwrap_or(BUDGET)))))
}

/// Reads the arrival process of a rate.
fn arrivals(entry: &Entry<'_>) -> Result<ArrivalProcess> {
    Ok(match entry.one_of(&["constant", "poisson"], "constant or poisson")?.as_str() {
        "poisson" => ArrivalProcess::Poisson,
        _ => ArrivalProcess::Constant,
    })
}

/// Reads one rate, a list of successive rates, or stages as on the command line.
fn rates(entry: &Entry<'_>, duration: Duration, arrivals: Option<ArrivalProcess>) -> Result<LoadSpec> {
    let profile = match typed_stages(entry) {
        Some(text) => {
            text.parse().map_err(|_| entry.wrong("stages such as \"ramp(100,5k,30s) const(5k,1m)\""))?
        }
        None => {
            let stage = |rate| Stage { from_per_sec: rate, to_per_sec: rate, duration };
            let rates = entry.one_or_more()?.iter().map(Entry::rate_per_sec).collect::<Result<Vec<_>>>()?;
            match rates.as_slice() {
                [] => return Err(entry.wrong("a rate, or a list of at least one")),
                [rate] => RateProfile::Constant(*rate),
                rates => RateProfile::Stages(rates.iter().copied().map(stage).collect()),
            }
        }
    };
    let duration = matches!(profile, RateProfile::Constant(_)).then_some(duration);
    let arrivals = arrivals.unwrap_or(ArrivalProcess::Constant);
    Ok(LoadSpec::Single { connections: None, profile: Some(profile), arrivals, duration, requests_max: None })
}

/// Reads the profile at the plateau. Its source is checked once the names of hosts in it are filled in.
pub(super) fn profile(file: &Section<'_>) -> Result<Option<ProfileSpec>> {
    let Some(section) = file.section("profile", &["source", "time"])? else { return Ok(None) };
    let time = section.read("time", Entry::duration)?.unwrap_or(ProfileSpec::DEFAULT_TIME);
    Ok(Some(ProfileSpec { source: section.needed("source")?.string()?, time }))
}

/// Reads the conditions; conditions that are not given are not judged.
pub(super) fn slo(file: &Section<'_>) -> Result<Slo> {
    let Some(section) = file.section("slo", &["p99", "success", "qps", "conditions"])? else {
        return Ok(Slo::default());
    };
    let mut conditions = section.read("conditions", Entry::conditions)?.unwrap_or_default();
    let p99 = section.read("p99", Entry::duration_with_unit)?.map(|limit| limit.as_secs_f64() * 1e3);
    conditions.extend(p99.map(|limit_ms| Condition::Latency(LatencyLimit::p99(limit_ms))));
    conditions.extend(section.read("success", Entry::ratio)?.map(Condition::Success));
    conditions.extend(section.read("qps", Entry::rate_per_sec)?.map(Condition::Throughput));
    Slo::of_conditions(conditions).map_err(|error| PlanFileError {
        line: section.line,
        problem: Problem::Conditions(error.to_string()),
    })
}
