//! The parts of a plan file about the load and the conditions.

use std::time::Duration;

use super::entry::Entry;
use super::error::PlanFileError;
use super::section::Section;
use crate::{ArrivalProcess, LoadSpec, ProfileSpec, RateProfile, Slo, Stage};

const LOAD_KEYS: [&str; 5] = ["ladder", "rate", "search", "step", "warm"];
const PROFILE_KEYS: [&str; 2] = ["source", "time"];
const SLO_KEYS: [&str; 3] = ["p99", "success", "qps"];

/// How long a rate is held, and a rung at most, where nothing is said.
const STEP: Duration = Duration::from_secs(10);

/// The time of the whole where the ladder is searched for and no step's time is given: that of `plimsoll URL`.
const BUDGET: Duration = Duration::from_secs(90);

/// The load: a ladder, rates, or the ladder that finds its own end.
pub(super) fn load(file: &Section<'_, '_>) -> Result<LoadSpec, PlanFileError> {
    let Some(section) = file.section("load", &LOAD_KEYS)? else { return Ok(search(None)) };
    section.at_most_one(&["ladder", "rate", "search"])?;
    let step = section.get("step").map(|step| step.duration()).transpose()?;
    if let Some(rate) = section.get("rate") {
        return rates(&rate, step.unwrap_or(STEP));
    }
    if let Some(ladder) = section.get("ladder") {
        let rungs = ladder.one_or_more()?.iter().map(Entry::count).collect::<Result<_, _>>()?;
        return Ok(LoadSpec::Ladder { rungs: Some(rungs), step_limit: step.or(Some(STEP)), budget: None });
    }
    match section.get("search") {
        Some(asked) if !asked.boolean()? => {
            Err(asked.wrong("true, or left out with a ladder or a rate in its place"))
        }
        _ => Ok(search(step)),
    }
}

/// How long a load is held at most before the first step. With no time at all a variant takes back what its file says.
pub(super) fn warm(file: &Section<'_, '_>) -> Result<Option<Duration>, PlanFileError> {
    let Some(section) = file.section("load", &LOAD_KEYS)? else { return Ok(None) };
    let warm = section.get("warm").filter(|warm| !warm.is_zero());
    warm.map(|warm| warm.duration()).transpose()
}

fn search(step: Option<Duration>) -> LoadSpec {
    LoadSpec::Ladder { rungs: None, step_limit: step, budget: step.is_none().then_some(BUDGET) }
}

/// One rate, several one after another, or stages as they are typed on the command line.
fn rates(entry: &Entry<'_, '_>, step: Duration) -> Result<LoadSpec, PlanFileError> {
    let stages = entry.string().ok().filter(|text| text.contains('('));
    let (profile, duration) = match stages {
        Some(text) => {
            let profile =
                text.parse().map_err(|_| entry.wrong("stages such as \"ramp(100,5k,30s) const(5k,1m)\""))?;
            (profile, None)
        }
        None => {
            let rates =
                entry.one_or_more()?.iter().map(Entry::rate_per_sec).collect::<Result<Vec<_>, _>>()?;
            match rates.as_slice() {
                [] => return Err(entry.wrong("a rate, or a list of at least one")),
                [rate] => (RateProfile::Constant(*rate), Some(step)),
                rates => (RateProfile::Stages(rates.iter().map(|rate| held(*rate, step)).collect()), None),
            }
        }
    };
    let arrivals = ArrivalProcess::Constant;
    Ok(LoadSpec::Single { connections: None, profile: Some(profile), arrivals, duration, requests_max: None })
}

fn held(rate: f64, duration: Duration) -> Stage {
    Stage { from_per_sec: rate, to_per_sec: rate, duration }
}

/// The profile at the plateau. Its source is checked when the names of hosts in it are filled in.
pub(super) fn profile(file: &Section<'_, '_>) -> Result<Option<ProfileSpec>, PlanFileError> {
    let Some(section) = file.section("profile", &PROFILE_KEYS)? else { return Ok(None) };
    let time = section.get("time").map(|time| time.duration()).transpose()?;
    let source = section.needed("source")?.string()?;
    Ok(Some(ProfileSpec { source, time: time.unwrap_or(ProfileSpec::DEFAULT_TIME) }))
}

/// The conditions; what is not given is not judged.
pub(super) fn slo(file: &Section<'_, '_>) -> Result<Slo, PlanFileError> {
    let Some(section) = file.section("slo", &SLO_KEYS)? else { return Ok(Slo::default()) };
    let p99 = section.get("p99").map(|limit| limit.duration()).transpose()?;
    Ok(Slo {
        p99_ms: p99.map(|limit| limit.as_secs_f64() * 1e3),
        success_ratio: section.get("success").map(|ratio| ratio.ratio()).transpose()?,
        throughput_per_sec: section.get("qps").map(|rate| rate.rate_per_sec()).transpose()?,
    })
}
