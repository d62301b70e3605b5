//! What limits a row.

use plimsoll_units::{count_text, grouped, significant};

use super::shares::{self, Share};
use super::{TableRow, TableTier, apart, evidence, front};
use crate::verdict::{BUSY, TIE, joined, percent};
use crate::{Confidence, Estimate, Limit, NextLimit, Suspect, Verdict};

/// Throughput that is higher by this part is more, as in a ladder.
const MORE: f64 = 1.05;

/// A table whose rows keep to Little's law.
pub(super) struct Table<'a> {
    pub(super) rows: &'a [&'a TableRow],
}

/// What limits a row: what is used up; a tier that was measured alone; else whether more load would have given more.
pub(super) fn verdict(table: &Table<'_>, row: &TableRow) -> Verdict {
    let shares = shares::of(table.rows, row);
    used_up(row, &shares)
        .or_else(|| behind_front(table, row))
        .or_else(|| not_pushed(table, row, &shares))
        .or_else(|| held(table, row))
        .unwrap_or_else(|| unexplained(row, &shares))
}

fn at_per_sec(row: &TableRow, share: &Share) -> f64 {
    row.throughput_per_sec / share.share
}

fn used_up(row: &TableRow, shares: &[Share]) -> Option<Verdict> {
    let full = shares.iter().find(|share| share.seen && share.share >= BUSY)?;
    let others = || shares.iter().filter(|share| (share.limit, &share.tier) != (full.limit, &full.tier));
    let tie = |share: &&Share| share.seen && share.share >= BUSY && share.share >= (1.0 - TIE) * full.share;
    let rivals: Vec<&Share> = others().filter(tie).collect();
    let rest: Vec<&Share> = others().filter(|share| !tie(share)).collect();
    let also = rivals.iter().map(|share| Suspect {
        limit: share.limit,
        place: share.tier.clone(),
        at_per_sec: Some(at_per_sec(row, share)),
    });
    let next = rest.first().filter(|share| share.share > 0.0);
    let text = format!(
        "{} is the limit: {} was used at {} requests/s{}{}.",
        full.what,
        percent(full.used),
        count_text(row.throughput_per_sec),
        rivals.first().map_or_else(String::new, |share| format!(
            ", and {} is about as full ({})",
            share.what,
            percent(share.used)
        )),
        next.map_or_else(String::new, |share| format!(
            "; of the rest the fullest is {} with {}{}",
            share.what,
            percent(share.used),
            if share.seen { "" } else { ", by what a request costs in other rows" }
        )),
    );
    Some(Verdict {
        evidence: shares
            .iter()
            .map(|share| evidence(row, share.what.clone(), share.used, Some(1.0)))
            .collect(),
        also: also.collect(),
        next_limit: next.map(|share| NextLimit {
            limit: share.limit,
            place: share.tier.clone(),
            at_per_sec: Estimate { value: at_per_sec(row, share), interval: None },
        }),
        advice: vec![advice(full)],
        text,
        ..Verdict::new(full.limit, full.tier.clone(), Confidence::Inferred)
    })
}

fn advice(full: &Share) -> String {
    match full.limit {
        Limit::Bandwidth => format!(
            "add a machine to {}, widen its link or make responses smaller; more cores will not help",
            full.tier
        ),
        Limit::Thread => format!("add an instance of {}: another core alone will not help", full.tier),
        _ => format!("add a machine or cores to {}", full.tier),
    }
}

/// The tiers that were measured alone carry together what they carry alone, or the tier in front of them does not let them.
fn behind_front(table: &Table<'_>, row: &TableRow) -> Option<Verdict> {
    let alone: Vec<&TableTier> = front::alone(row).collect();
    let together = front::together_per_sec(row);
    if together <= 0.0 {
        return None;
    }
    let carried = row.throughput_per_sec / together;
    if carried >= 1.0 - TIE {
        return Some(by_tiers_alone(table, row, &alone, together));
    }
    let front = row.front.as_deref().unwrap_or(front::UNNAMED);
    let names: Vec<String> = alone.iter().map(|tier| tier.name.clone()).collect();
    let text = format!(
        "{front} is the limit, near {} requests/s: {} alone carry {} together, and through it only {} of that. Which of its \
         resources it is the table does not tell.",
        count_text(row.throughput_per_sec),
        joined(&names),
        count_text(together),
        percent(carried)
    );
    let what = format!("requests/s through {front}, against those of {} alone", joined(&names));
    Some(Verdict {
        evidence: vec![evidence(row, what, row.throughput_per_sec, Some(together))],
        advice: vec![format!("look at the CPU of {front}, per worker, and at its link, and repeat the row")],
        text,
        ..Verdict::new(Limit::Unknown, front, Confidence::Inferred)
    })
}

/// What they carry alone is all there is. Where throughput times the time that each request is held is the same at
/// different times, that product is a number of workers.
fn by_tiers_alone(table: &Table<'_>, row: &TableRow, alone: &[&TableTier], together: f64) -> Verdict {
    let names: Vec<String> = alone.iter().map(|tier| tier.name.clone()).collect();
    let place = names.first().cloned().unwrap_or_default();
    let what = format!("requests/s, against those of {} alone", joined(&names));
    let seen = evidence(row, what, row.throughput_per_sec, Some(together));
    let carried = format!("{} carry through it what they carry alone", joined(&names));
    match pool_size(table, row, &place) {
        Some(size) => pool(row, &names, size, &carried, vec![seen]),
        None => Verdict {
            evidence: vec![seen],
            advice: vec![format!("look at the hosts of {}", joined(&names))],
            text: format!(
                "{} are the limit: {carried}. What of them is, the table does not tell.",
                joined(&names)
            ),
            ..Verdict::new(Limit::Unknown, place, Confidence::Inferred)
        },
    }
}

fn pool(
    row: &TableRow,
    names: &[String],
    size: Estimate,
    why: &str,
    mut seen: Vec<crate::EvidenceRow>,
) -> Verdict {
    let each = if names.len() > 1 { "each of " } else { "" };
    let whose = joined(names);
    let workers = grouped(size.value.ceil() as u64);
    seen.push(evidence(row, format!("requests held at once by {each}{whose}"), size.value, None));
    Verdict {
        size: Some(size),
        evidence: seen,
        advice: vec![format!("raise the pool of {each}{whose} from about {workers} and repeat the row")],
        text: format!(
            "a pool of about {workers} workers in {each}{whose} is the limit: {why}, and throughput × the time that a request \
             is held is {} whatever that time is.",
            significant(size.value)
        ),
        ..Verdict::new(Limit::Pool, names.first().cloned().unwrap_or_default(), Confidence::Inferred)
    }
}

/// Requests that a tier holds at once in a row: what it carries, alone if that is known, times the time it holds each.
fn held_at_once(row: &TableRow, name: &str) -> Option<f64> {
    let tier = row.tiers.iter().find(|tier| tier.name == name);
    let carried = match tier {
        Some(tier) => tier.alone_per_sec.unwrap_or(row.throughput_per_sec / tier.count()),
        None => row.throughput_per_sec,
    };
    row.held_sec.filter(|held_sec| *held_sec > 0.0).map(|held_sec| carried * held_sec)
}

/// The number of workers of a tier, if another row with a time that differs by a quarter or more gives the same
/// within 5 %. Each worker is held a little longer than was ordered, so that the largest product is nearest to the truth.
fn pool_size(table: &Table<'_>, row: &TableRow, name: &str) -> Option<Estimate> {
    let here = held_at_once(row, name)?;
    let connections = row.connections.unwrap_or(f64::INFINITY);
    let same: Vec<f64> = table
        .rows
        .iter()
        .filter(|other| other.held_sec.zip(row.held_sec).is_some_and(|(a, b)| apart(a, b)))
        .filter_map(|other| held_at_once(other, name))
        .filter(|held| (held / here - 1.0).abs() <= TIE)
        .collect();
    if same.is_empty() || here >= (1.0 - TIE) * connections {
        return None;
    }
    let most = same.iter().copied().fold(here, f64::max);
    let least = same.iter().copied().fold(here, f64::min);
    Some(Estimate { value: most, interval: Some((least, (1.0 + TIE) * most)) })
}

/// Nothing is used up, and requests are held for a time that is known.
fn held(table: &Table<'_>, row: &TableRow) -> Option<Verdict> {
    let names: Vec<String> = row.present().map(|tier| tier.name.clone()).take(1).collect();
    let name = names.first().cloned().unwrap_or_default();
    let size = pool_size(table, row, &name)?;
    Some(pool(row, &names, size, "nothing else is used up", Vec::new()))
}

/// More load gave more with the same machines; or nobody tried, and nothing is used up.
fn not_pushed(table: &Table<'_>, row: &TableRow, shares: &[Share]) -> Option<Verdict> {
    let more_load =
        || table.rows.iter().filter(|other| row.is_same_target(other) && other.is_loaded_more_than(row));
    let gained = more_load().find(|other| other.throughput_per_sec >= MORE * row.throughput_per_sec);
    let load_told = row.load_machines.is_some();
    let tried = more_load().next().is_some() || is_the_heavier_of_a_plateau(table, row);
    let text = match gained {
        Some(other) => format!(
            "nothing yet: with more load the same machines gave {} requests/s, so that this one was too little.",
            count_text(other.throughput_per_sec)
        ),
        None if load_told && !tried && !shares.is_empty() => format!(
            "nothing that was seen: {} was the fullest with {}, and more load was not tried.",
            shares[0].what,
            percent(shares[0].used)
        ),
        None => return None,
    };
    Some(Verdict {
        evidence: shares
            .iter()
            .map(|share| evidence(row, share.what.clone(), share.used, Some(1.0)))
            .collect(),
        advice: vec!["repeat the row with more load".to_owned()],
        text,
        ..Verdict::new(Limit::None, "", Confidence::Inferred)
    })
}

/// True if less load gave as much.
fn is_the_heavier_of_a_plateau(table: &Table<'_>, row: &TableRow) -> bool {
    table.rows.iter().any(|other| {
        row.is_same_target(other)
            && row.is_loaded_more_than(other)
            && row.throughput_per_sec < MORE * other.throughput_per_sec
    })
}

fn unexplained(row: &TableRow, shares: &[Share]) -> Verdict {
    let place = row.present().last().map_or_else(String::new, |tier| tier.name.clone());
    let Some(fullest) = shares.first() else {
        return Verdict {
            advice: vec!["add what the machines used: CPU, link, what a tier serves alone".to_owned()],
            text: "not known: the table tells of nothing that this row could use up.".to_owned(),
            ..Verdict::new(Limit::Unknown, place, Confidence::Unknown)
        };
    };
    Verdict {
        evidence: shares
            .iter()
            .map(|share| evidence(row, share.what.clone(), share.used, Some(1.0)))
            .collect(),
        advice: vec![format!("look into {place}: a database, a cache, a lock or a pool that it waits for")],
        text: format!(
            "not the CPU and not the link: {} is the fullest with {}. What stops {} requests/s is within {place} or behind it.",
            fullest.what,
            percent(fullest.used),
            count_text(row.throughput_per_sec)
        ),
        ..Verdict::new(Limit::Unknown, place, Confidence::Inferred)
    }
}
