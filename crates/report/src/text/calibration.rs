//! The maximum throughput of a machine's generator.

use plimsoll_record::{CalibratedLevel, CalibratedRate, Calibration, Pinning};
use plimsoll_units::{count_text, duration_text, escape_control, grouped, share_text};

use super::paragraph::{notes, wrapped};
use super::table::{Column, table};
use crate::amount::{at_least, connections, counted, if_known};

/// If workers waited for a CPU for a larger share of their time, the machine was not idle.
const IDLE_RATIO: f64 = 0.05;

/// The report of `plimsoll calibrate`.
pub fn calibration(made: &Calibration) -> String {
    [heading(made), closed(made), rates(made), remarks(made)].join("\n")
}

fn heading(made: &Calibration) -> String {
    let key = &made.key;
    let machine = format!(
        "{}: {}, {}, {}; plimsoll {} driven by {}, against a server in this process that only answers.",
        key.hostname,
        key.kernel,
        key.cpu_model,
        counted(key.cores, "core"),
        key.tool_version,
        key.driver
    );
    wrapped("", "", &sentences(made)) + &wrapped("", "", &escape_control(&machine))
}

/// Returns the maximum rates in sentences.
fn sentences(made: &Calibration) -> String {
    let Some(ceiling) = made.ceiling() else { return "Nothing was measured.".to_owned() };
    let most = at_least(ceiling.per_sec(), !ceiling.worker_was_limit());
    let tenth = if_known(made.tenth.as_ref(), |tenth| {
        format!(
            " At 10 % of that, {} requests/s in an open loop, its send lag is {} at the median and {} at p99.",
            count_text(tenth.rate_per_sec as f64),
            duration_text(tenth.send_lag_p50_ns as f64),
            duration_text(tenth.send_lag_p99_ns as f64)
        )
    });
    let open = match made.open_ceiling_per_sec() {
        Some(rate) => format!(
            " The highest rate it kept up with is {} requests/s: send lag p99 at most 1 ms and 99 % answered.",
            count_text(rate as f64)
        ),
        None => " It kept up with none of the rates tried.".to_owned(),
    };
    let connections = connections(ceiling.connections);
    format!("One worker can send {most} requests/s here, at {connections}.{tenth}{open}")
}

fn closed(made: &Calibration) -> String {
    let columns: [Column<'_, CalibratedLevel>; 8] = [
        ("workers", &|level| level.workers.to_string()),
        ("conns", &|level| grouped(level.connections.into())),
        ("requests/s", &|level| count_text(level.per_sec())),
        ("each", &|level| count_text(level.per_worker_per_sec())),
        ("CPU/request", &|level| {
            duration_text((level.user_ns + level.system_ns) as f64 / level.completed.max(1) as f64)
        }),
        ("busy", &|level| share_text(level.busy_ratio())),
        ("waited", &|level| share_text(level.starved_ratio())),
        ("limit", &|level| limit(level).to_owned()),
    ];
    table(&made.closed, &columns)
}

fn limit(level: &CalibratedLevel) -> &'static str {
    match level.worker_was_limit() {
        true => "the workers",
        false if level.connections == 1 => "one request at a time",
        false if level.starved_ratio() > IDLE_RATIO => "this machine: others used the CPU",
        false => "the server",
    }
}

fn rates(made: &Calibration) -> String {
    let mut tried: Vec<&CalibratedRate> = made.tenth.iter().chain(&made.rates).collect();
    tried.sort_by_key(|rate| rate.rate_per_sec);
    let columns: [Column<'_, &CalibratedRate>; 5] = [
        ("rate/s", &|rate| grouped(rate.rate_per_sec)),
        ("answered", &|rate| share_text(rate.completed as f64 / rate.intended.max(1) as f64)),
        ("lag p50", &|rate| duration_text(rate.send_lag_p50_ns as f64)),
        ("lag p99", &|rate| duration_text(rate.send_lag_p99_ns as f64)),
        ("kept up", &|rate| if rate.kept_up() { "yes" } else { "NO" }.to_owned()),
    ];
    table(&tried, &columns)
}

fn remarks(made: &Calibration) -> String {
    let pinned = pinned(made.pinning, made.key.cores);
    let was_busy = |level: &CalibratedLevel| level.workers == 1 && level.starved_ratio() > IDLE_RATIO;
    let busy = made.closed.iter().any(was_busy).then_some(
        "This machine was not idle: workers were ready but had no CPU. Figures marked ≥ are lower bounds; \
         calibrate again when nothing else runs.",
    );
    notes(std::iter::once(pinned.as_str()).chain(busy))
}

/// Says which cores the worker and the server ran on: over loopback both pay for TCP.
fn pinned(pinning: Option<Pinning>, cores: u32) -> String {
    let alone = match pinning {
        None => "The system does not let threads be bound to cores.".to_owned(),
        Some(Pinning { worker_core, server_core }) if worker_core == server_core => {
            format!(
                "One worker and its server shared core {worker_core}, the only one: alone it can send more."
            )
        }
        Some(Pinning { worker_core, server_core }) => {
            format!("One worker was bound to core {worker_core}, its server to core {server_core}.")
        }
    };
    let more = match cores {
        0 | 1 => String::new(),
        _ => format!(
            " {cores} workers and {cores} servers shared all cores, unbound: against a target on another machine they \
             can send more."
        ),
    };
    format!("{alone}{more} Over loopback the sender also pays for the TCP work of the receiver.")
}
