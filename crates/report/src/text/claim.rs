//! The answer in sentences: what the target holds, and where its throughput stops growing.

use plimsoll_analyze::{Findings, Held, Knee, SloCheck, Steadiness, StepSummary};
use plimsoll_plan::Slo;
use plimsoll_units::{count_text, duration_text, escape_control, grouped, percent_text};

use super::amount::{bound, chosen_step, count_of, load_of, percentile, throughput};
use super::paragraph::wrapped;
use crate::reason;

/// The sentences, wrapped.
pub(super) fn sentences(findings: &Findings) -> String {
    let mut text = wrapped("", "", &capacity(findings));
    if let Some(knee) = findings.knee.filter(|_| chosen_step(findings).is_some()) {
        text.push_str(&wrapped("", "", &growth(findings, &knee)));
    }
    text
}

fn capacity(findings: &Findings) -> String {
    let url = escape_control(&findings.plan.target.url);
    let Some(step) = chosen_step(findings).filter(|step| step.counts.ok > 0) else {
        return nothing_held(findings, &url);
    };
    let held = match findings.slo {
        Some(slo) if slo.best_step.is_none() => no_step_within(&url, &slo, step, findings),
        Some(slo) => format!("{}{}.", holds(&url, step, findings), within(&slo.slo)),
        None => format!("{}.", holds(&url, step, findings)),
    };
    format!("{held}{}{}", generator_limit(findings), settled(step))
}

fn holds(url: &str, step: &StepSummary, findings: &Findings) -> String {
    format!("{url} holds {} at {}", throughput(step.throughput, findings.lower_bound), load_of(step))
}

/// `, within p99 ≤ 500 ms and success ≥ 99.95 %`, as far as either was asked for.
fn within(slo: &Slo) -> String {
    let p99 = slo.p99_ms.map(|ms| format!("p99 ≤ {}", duration_text(ms * 1e6)));
    let success = slo.success_ratio.map(|ratio| format!("success ≥ {}", percent_text(ratio)));
    let limits: Vec<String> = p99.into_iter().chain(success).collect();
    if limits.is_empty() { String::new() } else { format!(", within {}", limits.join(" and ")) }
}

fn no_step_within(url: &str, check: &SloCheck, best: &StepSummary, findings: &Findings) -> String {
    let success = best.success_ratio.map_or_else(|| "not known".to_owned(), percent_text);
    let held = match [check.p99, check.success].contains(&Held::No) {
        true => "held no tested load",
        false => "is not known to hold any tested load",
    };
    format!(
        "{url} {held}{}. Its best throughput was {} at {}, with p99 {} and success {success}.",
        within(&check.slo),
        throughput(best.throughput, findings.lower_bound),
        load_of(best),
        percentile(best.latency.p99),
    )
}

fn nothing_held(findings: &Findings, url: &str) -> String {
    let ended: u64 = findings.steps.iter().map(|step| step.counts.ended()).sum();
    if ended == 0 {
        return format!("{url}: nothing was measured, no request ended.");
    }
    let completed: u64 = findings.steps.iter().map(|step| step.counts.completed).sum();
    let answered = if completed == 0 { "none was answered" } else { "none was answered with success" };
    format!("{url} holds no load: of {} requests {answered}. The failures are named below.", grouped(ended))
}

fn generator_limit(findings: &Findings) -> String {
    if !findings.lower_bound {
        return String::new();
    }
    let reason = findings.generator.reasons.first().map(reason::text);
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    format!(" This is a lower bound (≥), the load generator was the limit{reason}.")
}

fn settled(step: &StepSummary) -> &'static str {
    match step.steadiness {
        Steadiness::Steady => "",
        Steadiness::Wide => {
            " Throughput did not settle to within ±2 % in that step: take the figure with its interval."
        }
        Steadiness::Moving => " Throughput was still moving when that step ended: the figure is a rough one.",
        Steadiness::TooShort => {
            " That step was too short to tell its warm-up from the rest: the figure is a rough one."
        }
    }
}

fn growth(findings: &Findings, knee: &Knee) -> String {
    let plateau = format!(
        "{}{} requests/s at {}",
        bound(findings.lower_bound),
        count_text(knee.plateau.value),
        count_of(knee.plateau_connections, "connection")
    );
    if !knee.reached {
        return format!(
            "Throughput was still growing at the last step ({plateau}): how much more it holds is not known."
        );
    }
    format!(
        "Throughput stops growing at {} (the knee): there it is within 5 % of the best, {plateau}.{}{}",
        count_of(knee.connections, "connection"),
        without_waiting(findings, knee),
        waiting_beyond(findings, knee),
    )
}

/// What the operational laws say of the knee: the plateau times the response time of the lowest step.
fn without_waiting(findings: &Findings, knee: &Knee) -> String {
    let lowest_ns = knee.connections_predicted / knee.plateau.value * 1e9;
    let about = if findings.lower_bound { "at least" } else { "about" };
    let needed = count_of(knee.connections_predicted.round().max(1.0) as u32, "connection");
    format!(
        " Even if requests took no longer than at the lowest step, {} on average, that would need {about} {needed}.",
        duration_text(lowest_ns)
    )
}

/// What more connections than the knee's bring: waiting. Said only where both latencies are known.
fn waiting_beyond(findings: &Findings, knee: &Knee) -> String {
    let at_knee = findings.steps.iter().find(|step| step.connections == knee.connections);
    let highest = findings.steps.iter().max_by_key(|step| step.connections);
    let pair = at_knee.zip(highest).filter(|(low, high)| high.connections > low.connections);
    let grown = pair.and_then(|(low, high)| {
        let (at_knee, at_highest) = (low.latency.p99.ns?, high.latency.p99.ns?);
        (at_highest > at_knee).then(|| {
            format!(
                " Beyond the knee only waiting grows: p99 {} at {}, {} at {}.",
                duration_text(at_knee),
                low.connections,
                duration_text(at_highest),
                count_of(high.connections, "connection")
            )
        })
    });
    grown.unwrap_or_default()
}
