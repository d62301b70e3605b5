//! What was found in a row of a table, in a paragraph.

use plimsoll_analyze::{Claim, LawBreach, LoadEffect, ResourceUse, Verdict};
use plimsoll_units::{count_text, duration_text, grouped, share_text, significant};

use super::phrase::{each_of, joined, resource_name};

/// The paragraph of a claim about a row of a table.
pub(super) fn table_claim(verdict: &Verdict, claim: &Claim) -> String {
    let place = verdict.host();
    match claim {
        Claim::Unlawful(breach, per_sec) => unlawful(breach, *per_sec),
        Claim::Front { per_sec, behind, together_per_sec } => format!(
            "{place} is the limit, near {} requests/s: {} alone carry {} together, and through it only {} of that. Which of \
             its resources it is, the table does not say.",
            count_text(*per_sec),
            joined(behind),
            count_text(*together_per_sec),
            share_text(per_sec / together_per_sec)
        ),
        Claim::AllOfAlone { tiers } => {
            let names = joined(tiers);
            format!(
                "{names} are the limit: {names} carry through it what they carry alone. Which resource of them is full, the table does not say."
            )
        }
        Claim::HeldPool { tiers, workers, like_alone } => held_pool(tiers, *workers, *like_alone),
        Claim::HeldQueue { least_sec, per_hold } => format!(
            "a fixed number of workers is the limit: less throughput the longer a request is held, {} and 1/{} of that time between              two answers. Held n times a request, these are n × {} workers.",
            duration_text(least_sec * 1e9),
            significant(*per_hold),
            significant(*per_hold)
        ),
        Claim::TierFull { used, per_sec } => format!(
            "{} is the limit: {} of it was used at {} requests/s.",
            resource_name(&used.resource),
            share_text(used.share),
            count_text(*per_sec)
        ),
        Claim::FollowsPool { size, exponent } => format!(
            "the pool of {} workers in {place} is the limit: throughput follows its size (exponent {exponent:.2}).",
            significant(*size)
        ),
        Claim::RowFails { part } => {
            format!(
                "not known: {} of its requests failed, so that its throughput is not what the target holds.",
                share_text(*part)
            )
        }
        Claim::FewerGaveAsMuch { exponent } => format!(
            "nothing yet: fewer machines gave as much under the same load, and their throughput still grew with it (exponent              {exponent:.2})."
        ),
        Claim::MoreLoadGaveMore { per_sec } => {
            format!("nothing yet: with more load the same machines gave {} requests/s.", count_text(*per_sec))
        }
        Claim::MoreLoadNotTried { fullest } => format!(
            "not known to be reached: {} was the fullest with {}, and more load was not tried.",
            resource_name(&fullest.resource),
            share_text(fullest.share)
        ),
        Claim::StillGrows { exponent } => format!(
            "nothing yet: throughput still grew with the load (exponent {exponent:.2}), and more was not tried."
        ),
        Claim::FollowsCores { exponent } => format!(
            "the CPU: throughput follows the number of cores (exponent {exponent:.2}). How busy they are, the table does not say."
        ),
        Claim::FollowsInstances { tier, exponent } => format!(
            "throughput follows the number of {tier} (exponent {exponent:.2}), so that each of them is at its end. Which of its \
             resources is full, the table does not say."
        ),
        Claim::NotInTable { fullest, load } => not_in_table(fullest.as_ref(), *load),
        _ => String::new(),
    }
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

/// What a breach of Little's law means.
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

/// What a table shows of resources of which none is full. Nothing is ruled out that it does not show.
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
