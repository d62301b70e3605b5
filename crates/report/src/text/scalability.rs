//! The scalability law of a ladder.

use plimsoll_analyze::{Estimate, Findings, Usl, UslFit};
use plimsoll_units::{count_text, share_text, significant};

use super::paragraph::wrapped;

/// The fitted law with intervals, or why there is none; nothing for a single level.
pub(super) fn line(findings: &Findings) -> String {
    let Some(fit) = &findings.usl else { return String::new() };
    let text = match fit {
        UslFit::Fitted(usl) => fitted(usl, findings.lower_bound),
        UslFit::TooFewSteps(steps) => {
            format!("not fitted; it takes six steps with throughput, and this ladder has {steps}.")
        }
        UslFit::Poor => "not fitted; it does not describe this ladder.".to_owned(),
    };
    wrapped("", "  ", &format!("Scalability law (USL): {text}"))
}

fn fitted(usl: &Usl, lower_bound: bool) -> String {
    let peak = match usl.peak_connections {
        Some(peak) => format!("throughput would peak near {} connections", count_text(peak)),
        None => "where throughput would peak cannot be told from these steps".to_owned(),
    };
    let bound = if lower_bound { " It was fitted to lower bounds." } else { "" };
    format!(
        "one connection gives γ {} requests/s; contention α {}, coherence β {}; {peak}. It explains {} of the \
         variation.{bound}",
        estimate(usl.gamma, count_text),
        estimate(usl.alpha, significant),
        estimate(usl.beta, significant),
        share_text(usl.r_squared),
    )
}

fn estimate(estimate: Estimate, text: fn(f64) -> String) -> String {
    let interval = estimate.interval.map(|(lower, upper)| format!(" ({} to {})", text(lower), text(upper)));
    format!("{}{}", text(estimate.value), interval.unwrap_or_default())
}
