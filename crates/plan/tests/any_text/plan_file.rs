//! What holds for every text read as a plan file: shared by the tests and the fuzz target.

use std::collections::BTreeSet;

use plimsoll_plan::{ArrivalProcess, Arrivals, Level, Load, Plan, PlanFile, PlanSpec, RateProfile, Shard};

/// Arrivals of one worker that are checked.
const ARRIVALS: usize = 50;

/// Asserts that a text is refused with a line that it has, or is a file of plans that are whole.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let file = match PlanFile::parse(text) {
        Ok(file) => file,
        Err(error) => {
            let lines = text.split('\n').count();
            assert!((1..=lines).contains(&error.line), "{error} of {lines}");
            let message = error.to_string();
            assert!(message.len() < 2000 + 2 * text.len(), "{message}");
            return;
        }
    };
    let with_comment = PlanFile::parse(&format!("# A comment.\n{text}"));
    assert_eq!(with_comment.as_ref(), Ok(&file), "a comment changes nothing");
    let mut names = BTreeSet::new();
    for (name, file) in file.all() {
        assert!(names.insert(name), "{name:?} comes twice");
        check_spec(&file.spec);
    }
}

/// A plan is refused with a reason, or survives its JSON and has arrivals in order.
fn check_spec(spec: &PlanSpec) {
    let plan = match spec.clone().freeze() {
        Ok(plan) => plan,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let again = Plan::from_json(&plan.to_json()).expect("a plan's own JSON");
    assert_eq!(again, plan);
    assert_eq!(again.hash(), plan.hash());
    assert!(plan.slo.success_ratio.is_none_or(|ratio| (0.0..=1.0).contains(&ratio)));
    match &plan.load {
        Load::Single { level: Level::Open { profile, arrivals, .. }, .. } => {
            check_profile(profile, *arrivals)
        }
        Load::Single { .. } | Load::Ladder { .. } => {}
    }
}

fn check_profile(profile: &RateProfile, process: ArrivalProcess) {
    let mean = profile.mean_per_sec();
    assert!(mean > 0.0 && mean <= profile.peak_per_sec() * (1.0 + 1e-9), "{profile}: {mean}");
    let arrivals = Arrivals::new(process, profile, Shard { index: 1, of: 3 }, 7);
    let due: Vec<u64> = arrivals.take(ARRIVALS).collect();
    assert!(due.is_sorted(), "{profile}: {due:?}");
}
