//! The findings about a row of a table, a paragraph each.

use plimsoll_analyze::{LawBreach, LoadEffect, ResourceUse, RowClaim, Verdict};
use plimsoll_units::{count_text, duration_text, grouped, share_text, significant};

use super::phrase::{each_of, joined, resource_name};

/// The match has no wildcard arm, so that the compiler demands the text of a new claim.
pub(super) fn claim(verdict: &Verdict, claim: &RowClaim) -> String {
    match claim {
        RowClaim::Unlawful(breach, per_sec) => unlawful(breach, *per_sec),
        RowClaim::Front { per_sec, behind, together_per_sec } => {
            front(verdict, *per_sec, behind, *together_per_sec)
        }
        RowClaim::AllOfAlone { tiers } => all_of_alone(tiers),
        RowClaim::HeldPool { tiers, workers, like_alone } => held_pool(tiers, *workers, *like_alone),
        RowClaim::HeldQueue { least_sec, per_hold } => held_queue(*least_sec, *per_hold),
        RowClaim::TierFull { used, per_sec } => tier_full(used, *per_sec),
        RowClaim::FollowsPool { size, exponent } => follows_pool(verdict, *size, *exponent),
        RowClaim::RowFails { part } => row_fails(*part),
        RowClaim::FewerGaveAsMuch { exponent } => fewer_gave_as_much(*exponent),
        RowClaim::MoreLoadGaveMore { per_sec } => more_load_gave_more(*per_sec),
        RowClaim::MoreLoadNotTried { fullest } => more_load_not_tried(fullest),
        RowClaim::StillGrows { exponent } => still_grows(*exponent),
        RowClaim::FollowsCores { exponent } => follows_cores(*exponent),
        RowClaim::FollowsInstances { tier, exponent } => follows_instances(tier, *exponent),
        RowClaim::NotInTable { fullest, load } => not_in_table(fullest.as_ref(), *load),
    }
}

fn front(verdict: &Verdict, per_sec: f64, behind: &[String], together_per_sec: f64) -> String {
    format!(
        "{} is the limit, near {} requests/s: {} alone carry {} together, and through it only {} of that. Which of \
         its resources it is, the table does not say.",
        verdict.host(),
        count_text(per_sec),
        joined(behind),
        count_text(together_per_sec),
        share_text(per_sec / together_per_sec)
    )
}

fn all_of_alone(tiers: &[String]) -> String {
    let names = joined(tiers);
    format!(
        "{names} are the limit: {names} carry through it what they carry alone. Which resource of them is full, the \
         table does not say."
    )
}

fn held_queue(least_sec: f64, per_hold: f64) -> String {
    let (least, workers) = (duration_text(least_sec * 1e9), significant(per_hold));
    format!(
        "a fixed number of workers is the limit: the time between two answers is {least} and 1/{workers} of the time that a \
         request is held. A request that is held n times has n × {workers} workers."
    )
}

fn tier_full(used: &ResourceUse, per_sec: f64) -> String {
    format!(
        "{} is the limit: {} of it was used at {} requests/s.",
        resource_name(&used.resource),
        share_text(used.share),
        count_text(per_sec)
    )
}

fn follows_pool(verdict: &Verdict, size: f64, exponent: f64) -> String {
    format!(
        "the pool of {} workers in {} is the limit: throughput follows its size (exponent {exponent:.2}).",
        significant(size),
        verdict.host()
    )
}

fn row_fails(part: f64) -> String {
    format!(
        "not known: {} of its requests failed, so that its throughput is not what the target holds.",
        share_text(part)
    )
}

fn fewer_gave_as_much(exponent: f64) -> String {
    format!(
        "nothing yet: fewer machines gave as much under the same load, and their throughput still grew with it (exponent \
         {exponent:.2})."
    )
}

fn more_load_gave_more(per_sec: f64) -> String {
    format!("nothing yet: with more load the same machines gave {} requests/s.", count_text(per_sec))
}

fn more_load_not_tried(fullest: &ResourceUse) -> String {
    format!(
        "not known to be reached: {} was the fullest with {}, and more load was not tried.",
        resource_name(&fullest.resource),
        share_text(fullest.share)
    )
}

fn still_grows(exponent: f64) -> String {
    format!(
        "nothing yet: throughput still grew with the load (exponent {exponent:.2}), and more was not tried."
    )
}

fn follows_cores(exponent: f64) -> String {
    format!(
        "the CPU: throughput follows the number of cores (exponent {exponent:.2}). How busy they are, the table does \
         not say."
    )
}

fn follows_instances(tier: &str, exponent: f64) -> String {
    format!(
        "throughput follows the number of {tier} (exponent {exponent:.2}), so that each of them is at its end. Which of its \
         resources is full, the table does not say."
    )
}

fn unlawful(breach: &LawBreach, per_sec: f64) -> String {
    format!(
        "this row breaks Little's law and is not used: {} requests/s × the response time are {} under way, against {} \
         connections; {}.",
        count_text(per_sec),
        significant(breach.under_way),
        significant(breach.connections),
        breach_meaning(breach)
    )
}

/// Returns what a breach of Little's law means.
pub(crate) fn breach_meaning(breach: &LawBreach) -> &'static str {
    if breach.under_way < breach.connections {
        "fewer requests were under way than connections were open: the client waited between requests or did not keep \
         its connections busy, or the mean leaves slow requests out"
    } else {
        "more requests would have been under way than connections were open, which cannot be: the response time is no \
         mean of these requests, or throughput and time are of different stretches"
    }
}

fn held_pool(tiers: &[String], workers: f64, like_alone: bool) -> String {
    let why = match like_alone {
        true => format!("{} carry through it what they carry alone", joined(tiers)),
        false => "nothing else is used up".to_owned(),
    };
    format!(
        "a pool of about {} workers in {} is the limit: {why}, and throughput × the time that a request is held is \
         {} whatever that time is.",
        grouped(workers.ceil() as u64),
        each_of(tiers),
        significant(workers)
    )
}

fn not_in_table(fullest: Option<&ResourceUse>, load: LoadEffect) -> String {
    let grown = match load {
        LoadEffect::Level => "throughput no longer grows with the load, and ",
        LoadEffect::LessGaveMore { per_sec } => {
            return format!(
                "throughput collapses: less load gave {} requests/s, and {}.",
                count_text(per_sec),
                nothing_full(fullest)
            );
        }
        LoadEffect::MoreGaveMore { .. } | LoadEffect::StillGrows { .. } | LoadEffect::Untried => "",
    };
    format!("not known: {grown}{}.", nothing_full(fullest))
}

/// Says what a table shows if none of its resources is full. Resources that it does not show are not ruled out.
fn nothing_full(fullest: Option<&ResourceUse>) -> String {
    match fullest {
        None => "the table says of no resource how much of it is used".to_owned(),
        Some(fullest) => format!(
            "no resource in the table is full: {} is the fullest with {}",
            resource_name(&fullest.resource),
            share_text(fullest.share)
        ),
    }
}
