//! What limits a row.

use super::front;
use super::row::{TableRow, apart};
use super::shares::{self, Share};
use crate::findings::{
    Advice, At, Claim, Confidence, Estimate, Evidence, Limit, NextLimit, Observation, Place, Suspect, Verdict,
};
use crate::hosts::utilisation::TIE;

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

fn evidence(row: &TableRow, observed: Observation, value: f64, of: Option<f64>) -> Evidence {
    Evidence { observed, value, of, at: At::Row(row.label.clone()) }
}

fn rows_of(row: &TableRow, shares: &[Share]) -> Vec<Evidence> {
    let one = |share: &Share| {
        evidence(row, Observation::Tier(share.used.figure.clone()), share.used.share, Some(1.0))
    };
    shares.iter().map(one).collect()
}

fn used_up(row: &TableRow, shares: &[Share]) -> Option<Verdict> {
    let full = shares.iter().find(|share| share.is_busy())?;
    let others =
        || shares.iter().filter(|share| (share.limit(), share.tier()) != (full.limit(), full.tier()));
    let is_tie = |share: &&Share| share.is_busy() && share.share >= (1.0 - TIE) * full.share;
    let rivals: Vec<&Share> = others().filter(is_tie).collect();
    let next = others().find(|share| !is_tie(share)).filter(|share| share.share > 0.0);
    let suspect = |share: &&Share| Suspect {
        limit: share.limit(),
        place: Place::host(share.tier()),
        at_per_sec: Some(at_per_sec(row, share)),
    };
    let claim = Claim::TierFull {
        used: full.used.clone(),
        per_sec: row.throughput_per_sec,
        rival: rivals.first().map(|share| share.used.clone()),
        next: next.map(|share| share.used.clone()),
    };
    Some(Verdict {
        evidence: rows_of(row, shares),
        also: rivals.iter().map(suspect).collect(),
        next_limit: next.map(|share| NextLimit {
            limit: share.limit(),
            place: Place::host(share.tier()),
            resource: None,
            at_per_sec: Estimate { value: at_per_sec(row, share), interval: None },
        }),
        advice: vec![match full.limit() {
            Limit::Bandwidth => Advice::MoreLink,
            Limit::Thread => Advice::MoreInstances,
            _ => Advice::MoreMachines,
        }],
        claim: Some(claim),
        ..Verdict::new(full.limit(), Place::host(full.tier()), Confidence::Inferred)
    })
}

/// The tiers that were measured alone carry together what they carry alone, or the tier in front of them does not let them.
fn behind_front(table: &Table<'_>, row: &TableRow) -> Option<Verdict> {
    let names: Vec<String> = front::alone(row).map(|tier| tier.name.clone()).collect();
    let together = front::together_per_sec(row);
    if together <= 0.0 {
        return None;
    }
    if row.throughput_per_sec / together >= 1.0 - TIE {
        return Some(by_tiers_alone(table, row, names, together));
    }
    let front = row.front.as_deref().unwrap_or(front::UNNAMED);
    let observed = Observation::Through { front: Some(front.to_owned()), alone: names.clone() };
    let claim = Claim::Front { per_sec: row.throughput_per_sec, behind: names, together_per_sec: together };
    Some(Verdict {
        evidence: vec![evidence(row, observed, row.throughput_per_sec, Some(together))],
        advice: vec![Advice::LookAtFront],
        claim: Some(claim),
        ..Verdict::new(Limit::Unknown, Place::host(front), Confidence::Inferred)
    })
}

/// What they carry alone is all there is. Where throughput times the time that each request is held is the same at
/// different times, that product is a number of workers.
fn by_tiers_alone(table: &Table<'_>, row: &TableRow, names: Vec<String>, together: f64) -> Verdict {
    let place = names.first().cloned().unwrap_or_default();
    let observed = Observation::Together { alone: names.clone() };
    let seen = evidence(row, observed, row.throughput_per_sec, Some(together));
    match pool_size(table, row, &place) {
        Some(size) => pool(row, names, (size, true), vec![seen]),
        None => Verdict {
            evidence: vec![seen],
            advice: vec![Advice::LookAtHosts(names.clone())],
            claim: Some(Claim::AllOfAlone { tiers: names }),
            ..Verdict::new(Limit::Unknown, Place::host(place), Confidence::Inferred)
        },
    }
}

fn pool(
    row: &TableRow,
    tiers: Vec<String>,
    (size, like_alone): (Estimate, bool),
    mut seen: Vec<Evidence>,
) -> Verdict {
    let workers = size.value;
    seen.push(evidence(row, Observation::HeldAtOnce { tiers: tiers.clone() }, workers, None));
    let place = Place::host(tiers.first().map_or("", String::as_str));
    Verdict {
        size: Some(size),
        evidence: seen,
        advice: vec![Advice::LargerTierPool { tiers: tiers.clone(), workers }],
        claim: Some(Claim::HeldPool { tiers, workers, like_alone }),
        ..Verdict::new(Limit::Pool, place, Confidence::Inferred)
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
    Some(pool(row, names, (size, false), Vec::new()))
}

/// More load gave more with the same machines; or more load was not tried, and nothing is used up.
fn not_pushed(table: &Table<'_>, row: &TableRow, shares: &[Share]) -> Option<Verdict> {
    let more_load =
        || table.rows.iter().filter(|other| row.is_same_target(other) && other.is_loaded_more_than(row));
    let gained = more_load().find(|other| other.throughput_per_sec >= MORE * row.throughput_per_sec);
    let load_is_known = row.load_machines.is_some();
    let tried = more_load().next().is_some() || is_the_heavier_of_a_plateau(table, row);
    let claim = match (gained, shares.first()) {
        (Some(other), _) => Claim::MoreLoadGaveMore { per_sec: other.throughput_per_sec },
        (None, Some(fullest)) if load_is_known && !tried => {
            Claim::MoreLoadNotTried { fullest: fullest.used.clone() }
        }
        _ => return None,
    };
    Some(Verdict {
        evidence: rows_of(row, shares),
        advice: vec![Advice::MoreLoad],
        claim: Some(claim),
        ..Verdict::new(Limit::None, Place::Nowhere, Confidence::Inferred)
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
    let place = row.present().last().map_or(Place::Nowhere, |tier| Place::host(&*tier.name));
    let (claim, advice, confidence) = match shares.first() {
        None => (Claim::NoFigures, Advice::AddFigures, Confidence::Unknown),
        Some(fullest) => {
            let (fullest, per_sec) = (fullest.used.clone(), row.throughput_per_sec);
            (Claim::Elsewhere { fullest, per_sec }, Advice::LookInto, Confidence::Inferred)
        }
    };
    Verdict {
        evidence: rows_of(row, shares),
        advice: vec![advice],
        claim: Some(claim),
        ..Verdict::new(Limit::Unknown, place, confidence)
    }
}
