//! Progress on standard error: one moving line on a terminal, plain lines in a pipe.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use plimsoll_conductor::{Observer, Progress};
use plimsoll_record::Manifest;
use plimsoll_units::{bytes_text, count_text, duration_text, escape_control, grouped};

use crate::terminal::remark;

/// A longer limit of a step is not worth telling.
const LONGEST_TOLD: Duration = Duration::from_secs(30 * 86_400);

/// Shows a run's progress.
pub(crate) struct Display {
    quiet: bool,
    line: Option<ProgressBar>,
    step: String,
    limit: Duration,
}

impl Display {
    /// A display for this process's standard error; quiet, only troubles are shown.
    pub(crate) fn new(quiet: bool) -> Self {
        let on_terminal = std::io::stderr().is_terminal();
        let line = (on_terminal && !quiet).then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg}");
            style.map_or_else(
                |_| ProgressBar::new_spinner(),
                |style| ProgressBar::new_spinner().with_style(style),
            )
        });
        Self { quiet, line, step: String::new(), limit: Duration::ZERO }
    }

    /// A line that stays.
    fn say(&self, text: &str) {
        match &self.line {
            Some(line) => line.suspend(|| remark(text)),
            None => remark(text),
        }
    }

    fn tell(&self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    fn moment(&self, elapsed: Duration, throughput_per_sec: f64, failed: u64) {
        let Some(line) = &self.line else { return };
        let failed = if failed > 0 { format!(" · {} failed", grouped(failed)) } else { String::new() };
        let limit = match self.limit {
            // A load that ends after a number of requests has no time of its own.
            limit if limit > LONGEST_TOLD => String::new(),
            limit => format!(" of at most {:.0}", limit.as_secs_f64()),
        };
        line.set_message(format!(
            "{} · {:.1}{limit} s · {} requests/s{failed}",
            self.step,
            elapsed.as_secs_f64(),
            count_text(throughput_per_sec),
        ));
        line.tick();
    }
}

fn level_text(connections: u32, rate_per_sec: Option<f64>) -> String {
    match rate_per_sec {
        None if connections == 1 => "1 connection".to_owned(),
        None => format!("{} connections", grouped(connections.into())),
        Some(rate) => format!("{} requests/s offered", count_text(rate)),
    }
}

/// What the target looked like: its addresses are told before the load begins.
fn target_text(manifest: &Manifest) -> String {
    let preflight = &manifest.preflight;
    let target = format!("target {} ({})", preflight.addresses.join(", "), locality(preflight.local));
    let target = target + &protocol_text(manifest);
    match &preflight.first {
        None => format!("{target} · connected in {}", duration_text(preflight.connect_ns as f64)),
        Some(first) => format!(
            "{target} · first answer {} with {} in {}",
            first.status,
            bytes_text(first.body_bytes as f64),
            duration_text(first.service_ns as f64)
        ),
    }
}

/// What is spoken where that is not plain HTTP/1.1.
fn protocol_text(manifest: &Manifest) -> String {
    let protocol = &manifest.protocol;
    match &manifest.tls {
        Some(tls) => format!(" · {protocol} over {} ({})", tls.version, tls.cipher),
        None if protocol == "HTTP/1.1" => String::new(),
        None => format!(" · {protocol}"),
    }
}

fn locality(local: bool) -> &'static str {
    if local { "this machine" } else { "remote" }
}

impl Observer for Display {
    fn observe(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Prepared { manifest, .. } => self.tell(&target_text(manifest)),
            Progress::NotKept(error) => self.say(&format!("plimsoll: the run is not kept: {error}")),
            Progress::StepBegan { connections, rate_per_sec, limit, .. } => {
                self.step = level_text(*connections, *rate_per_sec);
                self.limit = *limit;
                self.moment(Duration::ZERO, 0.0, 0);
            }
            Progress::Moment { elapsed, throughput_per_sec, failed } => {
                self.moment(*elapsed, *throughput_per_sec, *failed);
            }
            Progress::Draining => {
                if let Some(line) = &self.line {
                    line.set_message(format!("{} · waiting for the last answers", self.step));
                    line.tick();
                }
            }
            Progress::StepEnded { throughput_per_sec, failed, .. } => {
                let failed =
                    if *failed > 0 { format!(", {} failed", grouped(*failed)) } else { String::new() };
                self.tell(&format!("{}: {} requests/s{failed}", self.step, count_text(*throughput_per_sec)));
            }
            Progress::Happened(event) => self.say(&format!("plimsoll: {}", escape_control(&event.text))),
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}
