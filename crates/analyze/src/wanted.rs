//! Which statuses a plan wants.

use plimsoll_plan::Plan;
use plimsoll_scenario::{Answer, Check};

/// Whether a response of this status can be a success: the plan's checks of the status say so, or without any of those
/// it is one of 200 to 399.
pub fn wants_status(plan: &Plan, status: u16) -> bool {
    let answer = Answer { status, body_bytes: 0, head: &[], body: &[] };
    let checks = plan.checks.iter().filter_map(|typed| Check::parse(typed).ok());
    let mut verdicts = checks.filter(Check::is_of_status).map(|check| check.judge(&answer).held()).peekable();
    match verdicts.peek() {
        None => (200..400).contains(&status),
        Some(_) => verdicts.all(|held| held),
    }
}
