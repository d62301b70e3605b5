//! Output to the user: results on standard output, everything else on standard error.

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use plimsoll_conductor::{ConductError, PrepareError};
use plimsoll_experiment::ExperimentError;
use plimsoll_report::text::Page;
use plimsoll_report::words;
use plimsoll_units::{best_effort, printable};
use serde_json::json;

use crate::args::values;
use crate::exit::Exit;

/// The widths of a short answer's lines, in columns; a narrower or wider terminal gets the nearest one.
const WIDTHS: std::ops::RangeInclusive<usize> = 50..=100;

/// A stream that passes on only printable text, whatever a server, a file or a library put into it.
pub(crate) struct Printable<W> {
    pub(crate) stream: W,
    /// Whether colours and weights pass.
    pub(crate) styles: bool,
}

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.stream.write_all(printable(&text, self.styles).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn shows_styles() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Writes a result to standard output. A reader that has gone away (`| head`) is not an error.
pub(crate) fn result(text: &str) -> anyhow::Result<()> {
    let mut out = Printable { stream: io::stdout().lock(), styles: shows_styles() };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("could not write to standard output"))
        }
        _ => Ok(()),
    }
}

/// Returns the page for a short answer on standard output; `file` is the run file.
pub(crate) fn page(file: Option<&Path>) -> Page {
    let width =
        columns().map_or(Page::DEFAULT_WIDTH, |columns| columns.clamp(*WIDTHS.start(), *WIDTHS.end()));
    Page { width, colours: shows_styles(), run_name: file.map(values::run_name) }
}

/// Returns the columns of the terminal on standard output; `None` for a file or a pipe.
pub(crate) fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Writes a result to standard output, as one JSON document or as text.
pub(crate) fn print(
    as_json: bool,
    document: impl FnOnce() -> serde_json::Result<String>,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    result(&if as_json { document()? } else { text() })
}

/// Writes one line to standard error.
pub(crate) fn remark(text: &str) {
    let mut err = Printable { stream: io::stderr().lock(), styles: false };
    best_effort(err.write_all(format!("{text}\n").as_bytes()), "there is no other place to write to");
}

/// Writes an error to standard error: what failed, then each cause.
pub(crate) fn report_error(error: &(dyn Error + 'static)) {
    remark(&format!("plimsoll: {}", with_causes(error)));
}

/// Writes an error to standard output as JSON, for programs that read documents there.
pub(crate) fn print_error(error: &(dyn Error + 'static), exit: Exit) {
    let document = json!({ "error": { "exit_code": exit as u8, "message": with_causes(error) } });
    best_effort(result(&format!("{document:#}\n")), "the same was written to standard error");
}

/// Formats an error with each cause that its own text does not contain.
pub(crate) fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string() + &advice(error);
    let mut cause = error.source();
    while let Some(known) = cause {
        let own = known.to_string();
        if !text.contains(&own) {
            text = format!("{text}: {own}");
        }
        text += &advice(known);
        cause = known.source();
    }
    text
}

/// Returns advice if the connection or the request before the load failed; empty for any other error.
fn advice(error: &(dyn Error + 'static)) -> String {
    let conducted = match error.downcast_ref::<ExperimentError>() {
        Some(ExperimentError::Conduct(conducted)) => Some(conducted),
        _ => error.downcast_ref::<ConductError>(),
    };
    let Some(ConductError::Prepare(error)) = conducted else { return String::new() };
    match error {
        PrepareError::Connect { kind, peer, .. } => {
            format!("; {}", words::failure_remedy(*kind, peer.tcp().is_none()))
        }
        PrepareError::FirstRequest { kind, peer } => format!(
            ": {}; {}",
            words::failure_meaning(*kind),
            words::failure_remedy(*kind, peer.tcp().is_none())
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_written_once() {
        let refused = || io::Error::other("refused");
        let text = |outer: &'static str| with_causes(anyhow::Error::new(refused()).context(outer).as_ref());
        assert_eq!(text("no connection"), "no connection: refused");
        assert_eq!(text("no connection (refused); is it up?"), "no connection (refused); is it up?");
    }
}
