//! Parses and prints durations, sizes and rates, and provides the clock.
//!
//! Every figure that a user types or reads passes through this crate, so that `1.5s`, `10k` and `2.5Gbit` mean the same in a
//! flag, in a plan file and in a report. Nothing here does I/O except [`RealClock`] and [`unix_time`], the only readers of the
//! operating system's clocks.

mod clock;
mod quantity;
mod text;

pub use clock::{Clock, Instant, RealClock, unix_ms, unix_time};
pub use quantity::{
    ParseQuantityError, parse_bandwidth, parse_bytes, parse_count, parse_duration, parse_rate, parse_ratio,
};
pub use text::{
    bytes_text, count_text, cut_percent, duration_text, escape_control, exact_count_text,
    exact_duration_text, exact_percent_text, grouped, most_alike, named, nearest, part_text, percent_text,
    printable, share_text, significant,
};

/// Ignores the result of an operation whose failure has no consequences, for the stated reason: `best_effort(child.kill(), "it
/// may have ended by itself")`. Everywhere else an error is handled, recorded as an event or returned.
pub fn best_effort<T, E>(_outcome: Result<T, E>, _because: &'static str) {}
