//! Steps that were held for CPU profiles.

use plimsoll_analyze::level_to_profile;
use plimsoll_plan::{Level as PlanLevel, Slo};
use plimsoll_record::{CpuProfile, ProfileForm, ProfileOutcome, Run};

use crate::synthetic::{Level, findings, ladder, single};

/// The run with its last step held for a profile.
fn held_last(mut run: Run) -> Run {
    run.profiles.push(CpuProfile {
        step: run.steps.last().unwrap().index,
        source: "perf of process 7".to_owned(),
        form: ProfileForm::Perf,
        began_ns: 1,
        ended_ns: 2,
        outcome: ProfileOutcome::Failed("it was tired".to_owned()),
    });
    run
}

#[test]
fn a_step_held_for_a_profile_changes_nothing_that_is_found() {
    let levels: Vec<Level> = [1, 8, 16, 32, 64].map(Level::closed).into();
    let mut slowed = levels.clone();
    slowed.push(Level::at(64, 900.0));
    let (alone, mut found) =
        (findings(&ladder(&levels, Slo::default())), findings(&held_last(ladder(&slowed, Slo::default()))));
    let held = std::mem::take(&mut found.profiled);
    assert_eq!(held.len(), 1);
    assert!((held[0].throughput.value / 900.0 - 1.0).abs() < 0.01);
    assert_eq!((found.steps, found.knee, found.verdict), (alone.steps, alone.knee, alone.verdict));
}

#[test]
fn the_plateau_is_held_and_of_a_single_level_the_level_itself() {
    let found = findings(&ladder(&[1, 8, 16, 32, 64].map(Level::closed), Slo::default()));
    let plateau = found.knee.unwrap().plateau_connections;
    let level = level_to_profile(&found.plan, &found).unwrap();
    assert_eq!(level, PlanLevel::Closed { connections: plateau, depth: 1 });
    let found = findings(&single(Level::closed(7)));
    assert_eq!(level_to_profile(&found.plan, &found).unwrap().connections(), 7);
}
