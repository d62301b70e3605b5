//! What rows of a table show together, a sentence each.

use plimsoll_analyze::{
    BreakEven, Ceiling, Conclusion, LadderOf, LadderPoint, LadderShape, LawBreach, Limit, Multiplied,
    MultipliedRow, RowEnds, RowFinding, RowLadder, RowName, RowPoint, RowsPool, TableFindings, TriedRow,
};
use plimsoll_units::{bytes_text, count_text, duration_text, grouped, significant};

use super::phrase::{joined, law, whole, whole_of};
use super::table_claim::breach_meaning;
use crate::amount::{if_known, list, range};

/// Throughput that rises by less than this factor counts as level.
const LEVEL: f64 = 1.05;

/// Returns the conclusions, a sentence each.
pub(crate) fn conclusions(found: &TableFindings) -> Vec<String> {
    let mut sentences: Vec<String> = found.conclusions.iter().map(sentence).collect();
    for even in &found.break_evens {
        sentences.extend([break_even(even), trials(even)]);
    }
    if !found.uncompared.is_empty() {
        sentences.push(format!(
            "{} cannot be compared with what was measured alone: there the load generator was the limit, or throughput \
             was still growing.",
            joined(&found.uncompared)
        ));
    }
    sentences.extend(idle_connections(&found.rows));
    sentences
}

/// Names the rows whose connections are not all busy.
fn idle_connections(rows: &[RowFinding]) -> Option<String> {
    let breach = |row: &RowFinding| row.breach.filter(|breach| breach.under_way < breach.connections);
    let idle: Vec<(&str, LawBreach)> =
        rows.iter().filter_map(|row| Some((row.label.as_str(), breach(row)?))).collect();
    let (_, first) = idle.first()?;
    let row = |(label, breach): &(&str, LawBreach)| {
        format!("{label} ({} of {})", significant(breach.under_way), significant(breach.connections))
    };
    Some(format!("By Little's law, {}: {}.", breach_meaning(first), list(idle.iter().map(row), ", ")))
}

fn sentence(conclusion: &Conclusion) -> String {
    match conclusion {
        Conclusion::CoresHelp { ends, more_than_linear } => {
            let how = if *more_than_linear { "more than linearly" } else { "nearly linearly" };
            format!(
                "Where the CPU is full and the link is not, throughput grows with the cores, {how}: {}.",
                from_to(ends)
            )
        }
        Conclusion::LinkIsFull { ends } => {
            format!("Where the link is full, more cores do not raise throughput: {}.", from_to(ends))
        }
        Conclusion::LimitIsWithin { ends, limit } => format!(
            "More cores do not raise throughput though neither CPU nor link is full ({}): {}.",
            from_to(ends),
            limit.as_ref().map_or_else(
                || "the limit is in the API, a database, a cache or the code".to_owned(),
                |(limit, host)| format!("the limit is {} @ {host}", limit.name())
            )
        ),
        Conclusion::LargerResponses { ends } => larger_responses(ends),
        Conclusion::Ceiling(ceiling) => ceiling_text(ceiling),
        Conclusion::Multiplied(multiplied) => multiplied_text(multiplied),
        Conclusion::Pool(pool) => pool_text(pool),
        Conclusion::Ladder(ladder) => ladder_text(ladder),
    }
}

/// Returns what a ladder varies, with one of its values.
fn ladder_of(of: &LadderOf, load: f64) -> String {
    match of {
        LadderOf::Connections => whole_of(load, "connection"),
        LadderOf::Offered => format!("{} requests/s offered", count_text(load)),
        LadderOf::LoadMachines => whole_of(load, "load machine"),
        LadderOf::Cores => cores(load),
        LadderOf::Instances(tier) => format!("{} of {tier}", plain(load)),
        LadderOf::Pool(tier) => format!("a pool of {} in {tier}", whole(load)),
    }
}

fn ladder_text(ladder: &RowLadder) -> String {
    let point = |point: &LadderPoint| {
        format!("{} requests/s with {}", count_text(point.per_sec), ladder_of(&ladder.of, point.load))
    };
    let group = if_known(ladder.group.as_ref(), |group| format!("{group}: "));
    let (first, best, last) = (point(&ladder.first), point(&ladder.best), point(&ladder.last));
    let exponent = format!("exponent {:.2}", ladder.exponent);
    let course = match ladder.shape {
        LadderShape::Rising => {
            format!("throughput grows up to the last row, from {first} to {last} ({exponent})")
        }
        LadderShape::Plateau if ladder.best.per_sec < LEVEL * ladder.first.per_sec => {
            format!("throughput is the same from the first row to the last: {first}, {last}")
        }
        LadderShape::Plateau => {
            format!("throughput grows from {first} to {best} and no further: {last} ({exponent})")
        }
        LadderShape::Collapse => format!("throughput falls: from {best} to {last}"),
    };
    format!(
        "{group}{course}.{}",
        if_known(ladder.usl.as_ref(), |usl| format!(" By least squares, {}.", law(usl)))
    )
}

fn cores(cores: f64) -> String {
    let number = plain(cores);
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} core{plural}")
}

/// Formats a number as a user writes it, which may be a fraction: `0.25`, `1.5`, `16`.
fn plain(count: f64) -> String {
    let text = count_text(count);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn cores_of(point: &RowPoint) -> String {
    cores(point.cores.unwrap_or_default())
}

fn from_to(RowEnds { low, high }: &RowEnds) -> String {
    let bytes = low.response_bytes.map(|bytes| format!("responses of {}", bytes_text(bytes)));
    let growth = format!(
        "{} requests/s with {}, {} with {}",
        count_text(low.per_sec),
        cores_of(low),
        count_text(high.per_sec),
        cores_of(high)
    );
    list(std::iter::once(growth).chain(low.group.clone()).chain(bytes), ", ")
}

fn larger_responses(RowEnds { low, high }: &RowEnds) -> String {
    let with = if_known(low.cores, |known| format!(", with {}", cores(known)));
    format!(
        "Where the link is full, larger responses lower throughput in proportion: {} requests/s of {}, {} of {}{with}.",
        count_text(low.per_sec),
        bytes_text(low.response_bytes.unwrap_or_default()),
        count_text(high.per_sec),
        bytes_text(high.response_bytes.unwrap_or_default())
    )
}

fn ceiling_text(ceiling: &Ceiling) -> String {
    let group = if_known(ceiling.group.as_ref(), |group| format!(" of {group}"));
    let why = match ceiling.limit {
        Some(Limit::Cpu) => ": its CPU is full",
        Some(Limit::Thread) => ": one of its threads is full",
        Some(Limit::Quota) => ": its quota of CPU is used up",
        Some(Limit::Bandwidth) => ": its link is full",
        Some(Limit::Packets) => ": its link takes no more packets",
        _ => "",
    };
    format!(
        "{} carries about {} requests/s, whatever is behind it ({} to {} in {} rows{group}){why}.",
        ceiling.front,
        count_text(ceiling.mean_per_sec),
        count_text(ceiling.least_per_sec),
        count_text(ceiling.most_per_sec),
        ceiling.rows,
    )
}

/// Names a row with its time, unless its label contains it.
pub(crate) fn row_name(name: &RowName) -> String {
    match name.held_us {
        None => name.label.clone(),
        Some(0.0) => format!("{} (not held)", name.label),
        Some(held_us) => format!("{} ({})", name.label, duration_text(held_us * 1e3)),
    }
}

fn multiplied_text(multiplied: &Multiplied) -> String {
    let row = |row: &MultipliedRow| {
        let name = row_name(&row.name);
        if multiplied.holds {
            return format!("{name} (×{:.2} of one)", row.of_one);
        }
        let (per_sec, together) = (count_text(row.per_sec), count_text(row.together_per_sec));
        format!("{name} (×{:.2} of one: {per_sec} requests/s, where the sum is {together})", row.of_one)
    };
    let growth =
        if multiplied.two { "double what one carries" } else { "multiply what one carries by their number" };
    let not = if multiplied.holds { "" } else { "do not " };
    let rows = list(multiplied.rows.iter().map(row), ", ");
    format!("{} through {} {not}{growth}: {rows}.", joined(&multiplied.tiers), multiplied.front)
}

fn pool_text(pool: &RowsPool) -> String {
    let workers = |size: f64| grouped(size.ceil() as u64);
    // Sizes within the tolerance of a plateau count as one.
    let about = if pool.is_one_size() {
        workers(pool.most)
    } else {
        format!("{} to {}", workers(pool.least), workers(pool.most))
    };
    let owner = match pool.owners.as_slice() {
        [only] => only.clone(),
        all => format!("Each of {}", joined(all)),
    };
    let rows = pool.rows;
    if pool.at_all_times {
        format!(
            "{owner} has a pool of about {about} workers: the same size in {rows} rows that hold their requests for \
             different times."
        )
    } else {
        format!("{owner} has a pool of about {about} workers, which limits {rows} rows.")
    }
}

fn break_even(even: &BreakEven) -> String {
    let names: Vec<String> = even.behind.iter().map(|tier| tier.name.clone()).collect();
    let behind = joined(&names);
    let several = names.len() > 1;
    let range = if_known(even.held_sec.interval, |(low, high)| {
        format!(" (a tie from {} to {})", duration_text(low * 1e9), duration_text(high * 1e9))
    });
    format!(
        "Break-even at about {time}{range}: requests held for less, where {one}{behind} alone carries more than {each} \
         requests/s, are stopped by {front}, those held for longer by {behind}. {who} about {at_once} at once{besides}.",
        time = duration_text(even.held_sec.value * 1e9),
        one = if several { "one of " } else { "" },
        each = count_text(even.each_per_sec),
        front = even.front,
        who = if several { "Each of these serves" } else { "It serves" },
        at_once = range_text(even.behind.iter().map(|tier| tier.at_once), |at_once| format!("{at_once:.0}")),
        besides = besides(even),
    )
}

/// Returns the time of a request beyond the time that it is held; empty if that is too short to be measured.
fn besides(even: &BreakEven) -> String {
    let ns = even.behind.iter().map(|tier| tier.overhead_sec * 1e9);
    if ns.clone().any(|ns| ns > 0.0) {
        format!(" and takes {} besides", range_text(ns, duration_text))
    } else {
        String::new()
    }
}

fn trials(even: &BreakEven) -> String {
    let one = |trial: &TriedRow| {
        let verb = if trial.agrees() { "confirms" } else { "does not confirm" };
        let predicted = trial.predicted_per_sec;
        format!(
            "{} {verb} that: {} requests/s, where {}{} were predicted without it",
            row_name(&trial.name),
            count_text(trial.throughput_per_sec),
            count_text(predicted.value),
            range(predicted.interval, count_text)
        )
    };
    match even.trials.as_slice() {
        [] => format!(
            "No row tests that; one that holds its requests for {} would.",
            duration_text(even.held_sec.value * 1e9)
        ),
        trials => list(trials.iter().map(one), "; ") + ".",
    }
}

/// Formats the range of some values; a single value if both ends print the same.
fn range_text(values: impl Iterator<Item = f64> + Clone, text: fn(f64) -> String) -> String {
    let least = text(values.clone().fold(f64::INFINITY, f64::min));
    let most = text(values.fold(0.0, f64::max));
    if least == most { most } else { format!("{least} to {most}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_cores_and_instances_are_kept_and_one_is_no_plural() {
        assert_eq!(ladder_of(&LadderOf::Cores, 0.25), "0.25 cores");
        assert_eq!(ladder_of(&LadderOf::Cores, 1.0), "1 core");
        assert_eq!(ladder_of(&LadderOf::Cores, 10.0), "10 cores");
        assert_eq!(ladder_of(&LadderOf::Cores, 0.1 + 0.2), "0.3 cores");
        assert_eq!(ladder_of(&LadderOf::Instances("api".to_owned()), 1.5), "1.5 of api");
        assert_eq!(ladder_of(&LadderOf::LoadMachines, 1.0), "1 load machine");
        assert_eq!(ladder_of(&LadderOf::Connections, 2000.0), "2,000 connections");
    }
}
