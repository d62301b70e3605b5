//! CPU time of a request by function.

use plimsoll_analyze::Findings;
use plimsoll_profile::{Change, Cost, FunctionCost, Micros, difference};
use plimsoll_record::Run;
use plimsoll_units::{escape_control, grouped, significant};

use super::paragraph::{notes, wrapped};
use super::table::{Column, table};
use crate::amount::{at_least, if_known, load_of, seconds};
use crate::profiled::{NoProfile, Order, ProfiledRun};

/// The number of functions in the report of a run; `plimsoll profile` shows more.
const SHOWN_IN_REPORT: usize = 10;

/// Returns the block of a run's report; empty without a profile. An event says why one could not be taken.
pub(super) fn block(run: &Run, findings: &Findings) -> String {
    match ProfiledRun::from_run(run, findings) {
        Ok(profiled) => profile(&profiled, Order::Cumulative, SHOWN_IN_REPORT),
        Err(NoProfile::None | NoProfile::Unfinished | NoProfile::Failed(_)) => String::new(),
        Err(why) => wrapped("", "", &format!("No CPU profile: {}.", escape_control(&why.to_string()))),
    }
}

/// Returns the functions of a profile with the most CPU time.
pub fn profile(profiled: &ProfiledRun, order: Order, top: usize) -> String {
    let per_request = profiled.per_request();
    let total = profiled.stacks.total();
    let mut functions = profiled.stacks.functions();
    if order == Order::Flat {
        functions.sort_by_key(|function| std::cmp::Reverse(function.flat.cpu_ns));
    }
    let share = |cost: Cost| format!("{:.1} %", 100.0 * cost.cpu_ns as f64 / total.cpu_ns.max(1) as f64);
    let micros = |cost: Cost| with_half(per_request.micros(cost));
    let columns: [Column<'_, FunctionCost<'_>>; 5] = [
        ("cum", &|function| share(function.cumulative)),
        ("flat", &|function| share(function.flat)),
        ("µs/request cum", &|function| micros(function.cumulative)),
        ("µs/request flat", &|function| match function.flat.samples {
            0 => "0".to_owned(),
            _ => micros(function.flat),
        }),
        ("function", &|function| shown(function.name)),
    ];
    let most = table(&functions[..top.min(functions.len())], &columns);
    format!("{}\n{most}{}", heading(profiled), rest(functions.len(), top))
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
    let served = |per_sec: f64| at_least(per_sec, profiled.lower_bound);
    let undisturbed = if_known(profiled.undisturbed_per_sec, |per_sec| {
        format!(" ({} without the profiler)", served(per_sec))
    });
    format!("{level} and {} requests/s{undisturbed}", served(profiled.step.throughput.value))
}

fn rest(functions: usize, top: usize) -> String {
    match functions.saturating_sub(top) {
        0 => String::new(),
        more => format!("… and {} more functions.\n", grouped(more as u64)),
    }
}

/// Returns the difference of two profiles in CPU time per request, candidate − reference. The text calls the reference A
/// and the candidate B.
pub fn profile_difference(
    candidate: &ProfiledRun,
    reference: &ProfiledRun,
    (name, name_of_reference): (&str, &str),
    (order, top): (Order, usize),
) -> String {
    let (side, side_of_reference) = (candidate.per_request(), reference.per_request());
    let mut changes = difference(&side, &side_of_reference);
    if order == Order::Flat {
        changes.sort_by(|x, y| y.flat.value.abs().total_cmp(&x.flat.value.abs()));
    }
    let certain = |change: &Change<'_>| match order {
        Order::Cumulative => change.cumulative.is_certain(),
        Order::Flat => change.flat.is_certain(),
    };
    let all = changes.len();
    changes.retain(certain);
    let or_none = |micros: Micros| match micros.value {
        0.0 => "-".to_owned(),
        value => significant(value),
    };
    let flat = |flat: Micros| if flat.is_certain() { signed(flat) } else { "·".to_owned() };
    let columns: [Column<'_, Change<'_>>; 5] = [
        ("B − A", &|change| signed(change.cumulative)),
        ("A", &|change| or_none(change.cumulative_b)),
        ("B", &|change| or_none(change.cumulative_a)),
        ("B − A flat", &|change| flat(change.flat)),
        ("function", &|change| shown(change.name)),
    ];
    let lines = match changes.as_slice() {
        [] => "No function differs by more than the error of its samples.\n".to_owned(),
        changes => table(&changes[..top.min(changes.len())], &columns),
    };
    let sides = sides((reference, name_of_reference), (candidate, name));
    format!("{sides}\n{lines}{}{}", rest(changes.len(), top), note(all - changes.len()))
}

fn sides((a, name_a): (&ProfiledRun, &str), (b, name_b): (&ProfiledRun, &str)) -> String {
    let (all_a, all_b) = (a.per_request().total(), b.per_request().total());
    let difference = all_b.minus(all_a);
    let headline = format!(
        "CPU time of a request: {} µs in A, {} µs in B: B takes {} µs {}.",
        with_half(all_a),
        with_half(all_b),
        with_half(Micros { value: difference.value.abs(), ..difference }),
        if difference.value < 0.0 { "less" } else { "more" },
    );
    let side = |letter: &str, name: &str, profiled: &ProfiledRun| {
        let (name, source) = (escape_control(name), escape_control(&profiled.source));
        wrapped("", "  ", &format!("{letter} is {name}: {source} at {}.", load(profiled)))
    };
    wrapped("", "", &headline) + &side("A", name_a, a) + &side("B", name_b, b)
}

fn note(left_out: usize) -> String {
    let text = format!(
        "All in µs of CPU per request, including the functions it called; flat: without them. ±: 95 % interval from the \
         number of samples. {} functions whose difference may be zero are left out; · marks such a flat difference.",
        grouped(left_out as u64)
    );
    notes([text.as_str()])
}

fn with_half(micros: Micros) -> String {
    format!("{} ± {}", significant(micros.value), significant(micros.half))
}

fn signed(micros: Micros) -> String {
    let sign = if micros.value < 0.0 { "−" } else { "+" };
    format!("{sign}{}", with_half(Micros { value: micros.value.abs(), ..micros }))
}

/// Returns a name on one line. A table breaks lines at `, `, which names of generic functions contain.
fn shown(name: &str) -> String {
    escape_control(name).replace(", ", ",")
}
