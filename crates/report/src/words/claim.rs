//! The verdict in one paragraph: what was found and by which law; what else it may be; what comes next.

mod compute;
mod connections;
mod resources;

use plimsoll_analyze::{Claim, Limit, NextLimit, ResourceUse, Suspect, Verdict};
use plimsoll_units::{count_text, share_text};

use self::ClaimText::{Clause, Paragraph};
use super::phrase::{placed, resource_name, resource_share};
use super::proof;
use super::table_claim as table;
use crate::amount::if_known;

/// The text of a claim.
enum ClaimText {
    /// A clause without its full stop. Other possible limits, other busy resources and the next limit are added to it.
    Clause(String),
    Paragraph(String),
}

/// Returns the paragraph of a verdict; empty if nothing is known beyond the load.
pub fn paragraph(verdict: &Verdict) -> String {
    worded(verdict, &next(verdict))
}

/// Returns the paragraph without the limit that comes next.
pub(crate) fn short_paragraph(verdict: &Verdict) -> String {
    worded(verdict, "")
}

/// Returns the paragraph; `next` is added to a clause.
fn worded(verdict: &Verdict, next: &str) -> String {
    let with_rest = |claim| with_rest(verdict, claim_text(verdict, claim), next);
    let mut text = if_known(verdict.claim.as_ref(), with_rest);
    for sentence in verdict.proof_attempt.iter().map(proof::sentences) {
        if text.is_empty() {
            text = format!("{} of {}.", verdict.limit.name(), placed(&verdict.place));
        }
        text.push(' ');
        text.push_str(&sentence);
    }
    text
}

fn with_rest(verdict: &Verdict, text: ClaimText, next: &str) -> String {
    match text {
        Paragraph(paragraph) => paragraph,
        Clause(clause) => {
            let other = verdict.busiest_other.as_ref();
            let rest = if_known(other, |other| format!(" Next busiest: {}.", resource_share(other)));
            format!("{clause}.{}{rest}{next}", rivals(&verdict.also))
        }
    }
}

/// The match has no wildcard arm, so that the compiler demands the text of a new claim.
fn claim_text(verdict: &Verdict, claim: &Claim) -> ClaimText {
    match claim {
        Claim::Cpu { cores, used, busiest, generator } => {
            Clause(compute::cpu(verdict, *cores, used, busiest.as_ref(), *generator))
        }
        Claim::NetworkCore { used, packets } => Clause(compute::network_core(verdict, used, *packets)),
        Claim::AllowedCores { used } => Clause(compute::allowed_cores(verdict, used)),
        Claim::CpuTaken { used, by_others, generator } => {
            Clause(compute::cpu_taken(verdict, used, *by_others, *generator))
        }
        Claim::CpuBelow { kept } => Clause(compute::cpu_below(verdict, *kept)),
        Claim::Confined { cores, kept } => Clause(compute::confined(verdict, *cores, *kept)),
        Claim::Thread { used, waited, alike, idle } => {
            Clause(compute::thread(verdict, used, *waited, *alike, *idle))
        }
        Claim::Computing { cores, ready, threads, at_once, per_sec } => {
            Clause(compute::computing(verdict, [*cores, *ready], *threads, *at_once, *per_sec))
        }
        Claim::Quota { used, throttled } => Clause(compute::quota(verdict, used, *throttled)),
        Claim::Link { link, used } => Clause(resources::link(link, used)),
        Claim::DiskCap { disk, used } => Clause(resources::disk_cap(disk, used)),
        Claim::DiskWait { process, threads, device } => {
            Clause(resources::disk_wait(verdict, process.as_deref(), *threads, device.as_ref()))
        }
        Claim::Collecting { part, heap } => Clause(resources::collecting(verdict, *part, *heap)),
        Claim::Paging { pages } => Clause(resources::paging(verdict, *pages)),
        Claim::OneAtATime { threads, cores, per_sec } => {
            Clause(resources::one_at_a_time(verdict, *threads, *cores, *per_sec))
        }
        Claim::TakingTurns { cores, per_sec } => Clause(resources::taking_turns(verdict, *cores, *per_sec)),
        Claim::OneRequestAtATime(law) => Clause(resources::one_request_at_a_time(verdict, law)),
        Claim::SomeTakeTurns { at, median_sec, times } => {
            Clause(resources::some_take_turns(verdict, at, *median_sec, *times))
        }
        Claim::ProcessEach { workers, law } => {
            Clause(resources::lock_between_processes(verdict, *workers, law))
        }
        Claim::Pool { owners, size, law, delayed_ack } => {
            Clause(resources::pool(owners, *size, law, *delayed_ack))
        }
        Claim::Dependency { tier, connections, busiest } => {
            Clause(resources::dependency(verdict, tier, *connections, busiest.as_ref()))
        }
        Claim::Descriptors { open, limit, at } => {
            Clause(connections::descriptors(verdict, *open, *limit, at))
        }
        Claim::TurnedAway { per_sec, at } => Clause(connections::turned_away(verdict, *per_sec, at)),
        Claim::ConnectionsFull { open, most } => Clause(connections::full(verdict, *open, *most)),
        Claim::TrackedFull { entries, limit, at } => {
            Clause(connections::tracked_full(verdict, *entries, *limit, at))
        }
        Claim::AcceptQueue { per_sec, at } => Clause(connections::accept_queue(verdict, *per_sec, at)),
        Claim::Accepted { connections, threads } => {
            Clause(connections::accepted(verdict, *connections, *threads))
        }
        Claim::OpenedAnew { by, connections, law } => {
            Clause(connections::opened_anew(verdict, by, *connections, law))
        }
        Claim::Closed { part, per_sec, at, from } => {
            Clause(connections::closed(verdict, *part, *per_sec, (at, from)))
        }
        Claim::Refused { per_sec, part, at } => Clause(connections::refused(verdict, *per_sec, *part, at)),
        Claim::GeneratorFull { used, rival } => Paragraph(generator(used, rival.as_ref())),
        Claim::Row(claim) => Paragraph(table::claim(verdict, claim)),
    }
}

fn generator(used: &ResourceUse, rival: Option<&ResourceUse>) -> String {
    let (share, what) = (share_text(used.share), resource_name(&used.resource));
    match rival {
        None => format!("the load generator is the limit, not the target: {share} was used of {what}."),
        Some(rival) => format!(
            "the load generator and the target are both at their limit: {share} was used of {what}, and {} of {}; more of \
             only one of them would change nothing.",
            share_text(rival.share),
            resource_name(&rival.resource)
        ),
    }
}

fn rivals(also: &[Suspect]) -> String {
    let names: Vec<String> = also.iter().map(rival).collect();
    if_known((!names.is_empty()).then_some(names), |names| {
        format!(" The evidence fits as well: {}.", names.join(", "))
    })
}

fn rival(one: &Suspect) -> String {
    let place = placed(&one.place);
    match one.limit {
        Limit::Cpu => format!("the CPU of {place}"),
        Limit::Lock => format!("a lock in {place}"),
        Limit::Pool => format!("a pool in {place}"),
        limit => format!("the {} of {place}", limit.name()),
    }
}

fn next(verdict: &Verdict) -> String {
    let Some(next) = &verdict.next_limit else { return String::new() };
    let NextLimit { resource, at_per_sec, .. } = next;
    let what = resource_name(resource);
    let more = match verdict.limit {
        Limit::Thread => "With another thread at that work",
        Limit::Bandwidth | Limit::Packets => "With a wider link",
        Limit::Pool => "With a larger pool",
        Limit::Disk => "With a faster disk",
        Limit::Lock => "Without it",
        _ => "With more of it",
    };
    format!(" {more} throughput would reach about {}, where {what} stops it.", count_text(at_per_sec.value))
}
