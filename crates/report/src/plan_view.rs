//! The parts of a machine plan that reports show.

use plimsoll_analyze::{DayPlan, MachinePlan, PlanCost};

/// A plan of machines, with the optional parts that the user requested.
#[derive(Debug, Clone, Copy)]
pub struct PlanView<'a> {
    pub plan: &'a MachinePlan,
    /// A change, as typed, and the plan after it.
    pub what_if: Option<(&'a str, &'a MachinePlan)>,
    /// What the plan costs.
    pub cost: Option<&'a PlanCost>,
    /// The machines of each hour; the plan is then that of the peak.
    pub day: Option<&'a DayPlan>,
}

impl<'a> PlanView<'a> {
    /// A plan alone.
    pub fn new(plan: &'a MachinePlan) -> Self {
        Self { plan, what_if: None, cost: None, day: None }
    }
}
