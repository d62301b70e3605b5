//! Progress on standard error: one moving line on a terminal, plain lines in a pipe.

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indicatif::ProgressBar;
use plimsoll_conductor::{Moment, NotTried, Observer, Progress, StepPlan};
use plimsoll_record::{Address, EventKind, Manifest};
use plimsoll_report::words;
use plimsoll_units::{bytes_text, count_text, duration_text, escape_control, grouped, printable};
use plimsoll_web::{LiveFeed, LiveMetrics, LivePage, LiveTotals};

use crate::screen::{Screen, level_text};
use crate::terminal::remark;

/// A step's limit that is longer than this is not shown.
const MAX_SHOWN_LIMIT: Duration = Duration::from_secs(30 * 86_400);

pub(crate) struct Display {
    quiet: bool,
    line: Option<ProgressBar>,
    /// The display on the whole terminal, if it is used.
    screen: Option<Screen>,
    /// The counts for the metrics of the run.
    totals: Option<LiveTotals>,
    /// Serves these metrics to scrapers until the display ends.
    _metrics: Option<LiveMetrics>,
    /// Sends the run to its live page.
    live: Option<LiveFeed>,
    step: Shown,
    /// The highest throughput of the steps so far, requests per second, and its level.
    best: Option<(f64, String)>,
}

impl Display {
    /// Creates a display on standard error; with `quiet`, it shows only problems.
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            quiet,
            line: moving_line(quiet),
            screen: None,
            totals: None,
            _metrics: None,
            live: None,
            step: Shown::default(),
            best: None,
        }
    }

    /// Creates a display on the whole terminal, or a plain one if there is no terminal.
    pub(crate) fn on_screen(quiet: bool, interrupted: &Arc<AtomicBool>) -> io::Result<Self> {
        let mut display = Self::new(quiet);
        display.screen = if quiet { None } else { Screen::open(interrupted)? };
        display.line.take_if(|_| display.screen.is_some());
        Ok(display)
    }

    /// Also serves the metrics of the run at this address.
    pub(crate) fn with_metrics(mut self, address: SocketAddr, totals: &LiveTotals) -> io::Result<Self> {
        let metrics = LiveMetrics::serve(address, totals.clone())?;
        self.inform(&format!("metrics at http://{}/metrics", metrics.address()));
        self._metrics = Some(metrics);
        Ok(self.with_totals(totals))
    }

    /// Also counts for the metrics of the run.
    pub(crate) fn with_totals(mut self, totals: &LiveTotals) -> Self {
        self.totals = Some(totals.clone());
        self
    }

    /// Also feeds the live page of the run. Its URL is shown even if the display is quiet: there is no other way to it.
    pub(crate) fn with_live(mut self, page: Option<&LivePage>) -> Self {
        if let Some(page) = page {
            self.say(&format!("live: {}", page.url()));
            self.live = Some(page.feed());
        }
        self
    }

    /// Switches to lines if the terminal can no longer be drawn on.
    fn leave_lost_screen(&mut self) {
        if let Some(mut lost) = self.screen.take_if(|screen| screen.is_over()) {
            self.line = moving_line(self.quiet);
            lost.close().iter().for_each(|text| self.say(text));
        }
    }

    /// Prints a line that stays.
    fn say(&self, text: &str) {
        match (&self.screen, &self.line) {
            (Some(screen), _) => screen.say(text),
            (None, Some(line)) => line.suspend(|| remark(text)),
            (None, None) => remark(text),
        }
    }

    fn inform(&self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    fn begin(&mut self, shown: Shown) {
        self.step = shown;
        self.moment(&Moment::default());
    }

    fn moment(&self, moment: &Moment) {
        self.move_line(|| {
            let best = self.best.as_ref().filter(|_| self.step.of.is_some());
            let best = best.map(|(per_sec, level)| format!(" · best {}/s at {level}", count_text(*per_sec)));
            self.step.moment_text(moment) + &best.unwrap_or_default()
        });
    }

    /// Prints the result of a step, and updates the best so far.
    fn ended(&mut self, throughput_per_sec: f64, failed: u64) {
        let failed = if failed > 0 { format!(", {} failed", grouped(failed)) } else { String::new() };
        let level = &self.step.level;
        // On a terminal the moving line shows the best so far, and the answer the table; so does the screen.
        if self.screen.is_none() && (self.line.is_none() || self.step.of.is_none()) {
            self.inform(&format!("{level}: {} requests/s{failed}", count_text(throughput_per_sec)));
        }
        if self.best.as_ref().is_none_or(|(best, _)| throughput_per_sec > *best) {
            self.best = Some((throughput_per_sec, level.clone()));
        }
    }

    /// Changes the moving line, if there is one.
    fn move_line(&self, text: impl FnOnce() -> String) {
        if let Some(line) = &self.line {
            line.set_message(printable(&text(), false).into_owned());
            line.tick();
        }
    }
}

/// Creates the moving line, if standard error is a terminal.
fn moving_line(quiet: bool) -> Option<ProgressBar> {
    (std::io::stderr().is_terminal() && !quiet).then(ProgressBar::new_spinner)
}

#[derive(Debug, Default)]
struct Shown {
    level: String,
    limit: Duration,
    requests_max: Option<u64>,
    /// The position of the step in a ladder, or in the search after it, and the time left for all steps when it began.
    of: Option<(String, Duration)>,
}

impl Shown {
    fn new(level: String, step: &StepPlan) -> Self {
        Self { level, limit: step.limit, requests_max: step.requests_max, of: None }
    }

    /// Adds the position in a ladder of `steps_max` steps, or in the search after it. Any other step has no position.
    fn of(self, step: &StepPlan, steps_max: u32, left_max: Duration) -> Self {
        let place = match step.rate_per_sec() {
            _ if steps_max == 1 => None,
            Some(_) => Some("search".to_owned()),
            None => (step.index < steps_max).then(|| format!("step {}/{steps_max}", step.index + 1)),
        };
        Self { of: place.map(|place| (place, left_max)), ..self }
    }

    fn moment_text(&self, moment: &Moment) -> String {
        let Moment { elapsed, throughput_per_sec, ended, failed } = *moment;
        if let Some((place, left)) = &self.of {
            let failed = if failed > 0 { format!(" · {} failed", grouped(failed)) } else { String::new() };
            return format!(
                "{place} · {} · {}/s{failed} · ≤ {:.0} s left",
                self.level,
                count_text(throughput_per_sec),
                left.saturating_sub(elapsed).as_secs_f64(),
            );
        }
        let limit = match self.limit {
            // A load that ends after a number of requests has no time limit.
            limit if limit > MAX_SHOWN_LIMIT => String::new(),
            limit => format!(" of at most {:.0}", limit.as_secs_f64()),
        };
        let count = self.requests_max.map(|most| format!(" · {} of {}", grouped(ended), grouped(most)));
        let failed = if failed > 0 { format!(" · {} failed", grouped(failed)) } else { String::new() };
        format!(
            "{} · {:.1}{limit} s{} · {} requests/s{failed}",
            self.level,
            elapsed.as_secs_f64(),
            count.unwrap_or_default(),
            count_text(throughput_per_sec),
        )
    }
}

/// Returns the target and its addresses, which are shown before the load begins.
fn target_text(manifest: &Manifest) -> String {
    let preflight = &manifest.preflight;
    let is_public = preflight.addresses.iter().any(|address| {
        matches!(Address::parse(address), Some(Address::Tcp(address)) if plimsoll_plan::is_public(address.ip()))
    });
    let locality = match preflight.local {
        true => "this machine",
        false if is_public => "outside this machine and private networks",
        false => "remote",
    };
    let addresses = preflight.addresses.join(", ");
    let target = format!("target {addresses} ({locality}){}", protocol_text(manifest));
    match &preflight.first {
        None => format!("{target} · connected in {}", duration_text(preflight.connect_ns as f64)),
        Some(first) => format!(
            "{target} · first answer {} with {} in {}{}",
            first.status,
            bytes_text(first.body_bytes as f64),
            duration_text(first.service_ns as f64),
            status_text(first.status)
        ),
    }
}

/// Explains a first answer that is not a success.
fn status_text(status: u16) -> &'static str {
    match status {
        redirect if words::is_redirect(redirect) => {
            ": a redirect, which is not followed: load the URL that it leads to"
        }
        400.. => ": an error: check the path, the method and the headers",
        _ => "",
    }
}

/// Names the protocol, if it is not plain HTTP/1.1.
fn protocol_text(manifest: &Manifest) -> String {
    let protocol = &manifest.protocol;
    match &manifest.tls {
        Some(tls) => format!(" · {protocol} over {} ({})", tls.version, tls.cipher),
        None if protocol == "HTTP/1.1" => String::new(),
        None => format!(" · {protocol}"),
    }
}

fn not_tried_text(why: &NotTried) -> String {
    match why {
        NotTried::Untriable(why) => words::untried(why),
        NotTried::Failed(why) => why.clone(),
    }
}

impl Observer for Display {
    fn observe(&mut self, progress: &Progress<'_>) {
        self.leave_lost_screen();
        if let Some(screen) = &mut self.screen {
            screen.observe(progress);
        }
        if let Some(totals) = &self.totals {
            totals.observe(progress);
        }
        if let Some(live) = &self.live {
            live.observe(progress);
        }
        match progress {
            Progress::Prepared(manifest) => self.inform(&target_text(manifest)),
            Progress::NotKept(error) => self.say(&format!("plimsoll: the run is not kept: {error}")),
            Progress::WarmUpBegan(step) => {
                self.begin(Shown::new(format!("warming up at {}", level_text(step)), step));
            }
            Progress::StepBegan { step, steps_max, left_max } => {
                self.begin(Shown::new(level_text(step), step).of(step, *steps_max, *left_max));
            }
            Progress::Moment(moment) => self.moment(moment),
            // A line has no room for more than a moment.
            Progress::Framed(_)
            | Progress::Sampled(_)
            | Progress::StepRecorded(_)
            | Progress::ProfileRecorded(_)
            | Progress::EventRecorded(_) => {}
            Progress::Draining => {
                self.move_line(|| format!("{} · waiting for the last answers", self.step.level));
            }
            Progress::StepEnded { throughput_per_sec, failed } => self.ended(*throughput_per_sec, *failed),
            Progress::Profiling { source, time } => {
                let time = duration_text(time.as_secs_f64() * 1e9);
                self.inform(&format!(
                    "the plateau again, for a CPU profile of {time}: {}",
                    escape_control(source)
                ));
            }
            Progress::Raised(raise) => self.inform(&format!("{}; the same load again", words::raise(raise))),
            Progress::NotTried(why) => {
                self.say(&format!(
                    "plimsoll: the verdict was not tested: {}",
                    escape_control(&not_tried_text(why))
                ));
            }
            Progress::FailureSeen { failure, unix_socket } => {
                self.say(&format!("plimsoll: {}", words::failure_seen(*failure, *unix_socket)));
            }
            Progress::Happened(event) if event.kind == EventKind::WarmedUp => {
                self.inform(&escape_control(&event.text));
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
        self.screen.iter_mut().flat_map(Screen::close).for_each(|text| remark(&text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_requests_is_shown_with_how_many_of_them_have_ended() {
        let mut shown = Shown {
            level: "10 connections".to_owned(),
            limit: Duration::from_secs(366 * 86_400),
            requests_max: Some(10_000),
            of: None,
        };
        let elapsed = Duration::from_millis(1_500);
        let moment = Moment { elapsed, throughput_per_sec: 2_300.0, ended: 3_400, failed: 2 };
        let text = shown.moment_text(&moment);
        assert_eq!(text, "10 connections · 1.5 s · 3,400 of 10,000 · 2,300 requests/s · 2 failed");
        (shown.limit, shown.requests_max) = (Duration::from_secs(10), None);
        let text = shown.moment_text(&Moment { failed: 0, ..moment });
        assert_eq!(text, "10 connections · 1.5 of at most 10 s · 2,300 requests/s");
        shown.of = Some(("step 4/11".to_owned(), Duration::from_secs(60)));
        let text = shown.moment_text(&moment);
        assert_eq!(text, "step 4/11 · 10 connections · 2,300/s · 2 failed · ≤ 58 s left");
    }
}
