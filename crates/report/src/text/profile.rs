//! CPU time of a request by function.

use plimsoll_analyze::Findings;
use plimsoll_profile::{Change, Cost, FunctionCost, Micros, difference};
use plimsoll_record::Run;
use plimsoll_units::{count_text, escape_control, grouped, significant};

use super::paragraph::wrapped;
use super::table::Table;
use crate::amount::{bound, load_of, seconds};
use crate::profiled::{NoProfile, Order, ProfiledRun};

/// Functions in the report of a run; `plimsoll profile` shows more.
const SHOWN_IN_REPORT: usize = 10;

/// The block of a run's report; empty if there is no profile. An event says why one could not be taken.
pub(super) fn block(run: &Run, findings: &Findings) -> String {
    match ProfiledRun::from_run(run, findings) {
        Ok(profiled) => profile(&profiled, Order::Cumulative, SHOWN_IN_REPORT),
        Err(NoProfile::None | NoProfile::Unfinished | NoProfile::Failed(_)) => String::new(),
        Err(why) => wrapped("", "", &format!("No CPU profile: {}.", escape_control(&why.to_string()))),
    }
}

/// The functions of a profile with the most CPU time.
pub fn profile(profiled: &ProfiledRun, order: Order, top: usize) -> String {
    let per_request = profiled.per_request();
    let total = profiled.stacks.total();
    let mut functions = profiled.stacks.functions();
    if order == Order::Flat {
        functions.sort_by_key(|function| std::cmp::Reverse(function.flat.cpu_ns));
    }
    let mut table = Table::new(&["cum", "flat", "µs/request cum", "µs/request flat", "function"]);
    for function in functions.iter().take(top) {
        table.row(cells(function, total, |cost| per_request.micros(cost)));
    }
    format!("{}\n{}{}", heading(profiled), table.render(), rest(functions.len(), top))
}

fn heading(profiled: &ProfiledRun) -> String {
    let total = profiled.stacks.total();
    let text = format!(
        "CPU profile of {}: {} at {}: {} samples, {} cores busy, {} µs of CPU per request.",
        escape_control(&profiled.source),
        seconds(profiled.span_sec),
        load(profiled),
        grouped(total.samples),
        significant(total.cpu_ns as f64 / 1e9 / profiled.span_sec),
        with_half(profiled.per_request().total()),
    );
    wrapped("", "", &text)
}

/// `64 connections and 12,300 requests/s (12,900 without the profiler)`
fn load(profiled: &ProfiledRun) -> String {
    let level = load_of(&profiled.step);
    let bound = bound(profiled.lower_bound);
    let served = count_text(profiled.step.throughput.value);
    let undisturbed = profiled.undisturbed_per_sec.map_or_else(String::new, |per_sec| {
        format!(" ({bound}{} without the profiler)", count_text(per_sec))
    });
    format!("{level} and {bound}{served} requests/s{undisturbed}")
}

fn cells(function: &FunctionCost<'_>, total: Cost, micros: impl Fn(Cost) -> Micros) -> Vec<String> {
    let share = |cost: Cost| format!("{:.1} %", 100.0 * cost.cpu_ns as f64 / total.cpu_ns.max(1) as f64);
    let flat = if function.flat.samples == 0 { "0".to_owned() } else { with_half(micros(function.flat)) };
    vec![
        share(function.cumulative),
        share(function.flat),
        with_half(micros(function.cumulative)),
        flat,
        shown(function.name),
    ]
}

fn rest(functions: usize, top: usize) -> String {
    match functions.saturating_sub(top) {
        0 => String::new(),
        more => format!("… and {} more functions.\n", grouped(more as u64)),
    }
}

/// The difference of two profiles, A − B, in CPU time per request.
pub fn profile_difference(
    a: &ProfiledRun,
    b: &ProfiledRun,
    (name_a, name_b): (&str, &str),
    (order, top): (Order, usize),
) -> String {
    let (side_a, side_b) = (a.per_request(), b.per_request());
    let mut changes = difference(&side_a, &side_b);
    if order == Order::Flat {
        changes.sort_by(|x, y| y.flat.value.abs().total_cmp(&x.flat.value.abs()));
    }
    let certain = |change: &Change<'_>| match order {
        Order::Cumulative => change.cumulative.is_certain(),
        Order::Flat => change.flat.is_certain(),
    };
    let (certain, rest_of): (Vec<_>, Vec<_>) = changes.iter().partition(|change| certain(change));
    let mut table = Table::new(&["A − B", "A", "B", "A − B flat", "function"]);
    certain.iter().take(top).for_each(|change| table.row(change_cells(change)));
    [
        sides((a, name_a), (b, name_b)),
        "\n".to_owned(),
        if certain.is_empty() {
            "No function differs by more than the error of its samples.\n".to_owned()
        } else {
            table.render()
        },
        rest(certain.len(), top),
        note(rest_of.len()),
    ]
    .concat()
}

fn sides((a, name_a): (&ProfiledRun, &str), (b, name_b): (&ProfiledRun, &str)) -> String {
    let (all_a, all_b) = (a.per_request().total(), b.per_request().total());
    let difference = all_a.minus(all_b);
    let headline = format!(
        "CPU time of a request: {} µs in A, {} µs in B: A takes {} µs {}.",
        with_half(all_a),
        with_half(all_b),
        with_half(Micros { value: difference.value.abs(), ..difference }),
        if difference.value < 0.0 { "less" } else { "more" },
    );
    let side = |letter: &str, name: &str, profiled: &ProfiledRun| {
        let text = format!(
            "{letter} is {}: {} at {}.",
            escape_control(name),
            escape_control(&profiled.source),
            load(profiled)
        );
        wrapped("", "  ", &text)
    };
    wrapped("", "", &headline) + &side("A", name_a, a) + &side("B", name_b, b)
}

fn change_cells(change: &Change<'_>) -> Vec<String> {
    let or_none = |micros: Micros| {
        if micros.value == 0.0 { "-".to_owned() } else { significant(micros.value) }
    };
    vec![
        signed(change.cumulative),
        or_none(change.cumulative_a),
        or_none(change.cumulative_b),
        if change.flat.is_certain() { signed(change.flat) } else { "·".to_owned() },
        shown(change.name),
    ]
}

fn note(left_out: usize) -> String {
    let text = format!(
        "All in µs of CPU per request, including the functions it called; flat: without them. ±: 95 % interval from the \
         number of samples. {} functions whose difference may be zero are left out; · marks such a flat difference.",
        grouped(left_out as u64)
    );
    wrapped("  ", "  ", &text)
}

fn with_half(micros: Micros) -> String {
    format!("{} ± {}", significant(micros.value), significant(micros.half))
}

fn signed(micros: Micros) -> String {
    let sign = if micros.value < 0.0 { "−" } else { "+" };
    format!("{sign}{}", with_half(Micros { value: micros.value.abs(), ..micros }))
}

/// A name on one line. A table breaks at `, `, which names of generic functions contain.
fn shown(name: &str) -> String {
    escape_control(name).replace(", ", ",")
}
