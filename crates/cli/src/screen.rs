//! Shows a run on the whole terminal while it goes on. The terminal is restored when the run ends.

mod board;
mod feed;
mod view;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plimsoll_conductor::Progress;
use plimsoll_units::best_effort;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use rustix::process::getpgrp;
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};

use self::board::Board;
use self::feed::Feed;
pub(crate) use self::feed::level_text;

/// How often the terminal is drawn, and how soon it is restored after Ctrl-C.
const DRAWN_EVERY: Duration = Duration::from_millis(250);
const CHECK_EVERY: Duration = Duration::from_millis(50);
/// A shorter run is over before its screen is read.
const WORTH_A_SCREEN: Duration = Duration::from_secs(5);
/// The variable with which a user turns off the default screen.
const NO_TUI: &str = "PLIMSOLL_NO_TUI";

/// Returns true if a run that may take so long is shown on the whole terminal by default: only if a person watches.
pub(crate) fn is_default(longest: Option<Duration>) -> bool {
    io::stdout().is_terminal() && suits(longest, |name| env::var_os(name))
}

fn suits(longest: Option<Duration>, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let value = |name| variable(name).filter(|value| !value.is_empty());
    let is_dumb = value("TERM").is_none_or(|kind| kind == "dumb");
    longest.is_some_and(|longest| longest >= WORTH_A_SCREEN)
        && !is_dumb
        && value("CI").is_none()
        && value(NO_TUI).is_none()
}

/// Returns true if this process is in the foreground of the terminal. In the background it would disturb the foreground process,
/// such as the shell that started it, and the system would stop it.
fn is_foreground() -> bool {
    io::stderr().is_terminal() && termios::tcgetpgrp(io::stdin()).is_ok_and(|group| group == getpgrp())
}

/// The terminal. A separate thread draws on it: a terminal that is stopped (Ctrl-S) must not block the run.
#[derive(Debug)]
pub(crate) struct Screen {
    feed: Feed,
    board: Arc<Mutex<Board>>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// Takes over the terminal of standard error, once there is something to show; `None` if this process may not use one. The
    /// terminal is restored at the first signal, since the second one ends the process at once.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(crate) fn open(interrupted: &Arc<AtomicBool>) -> io::Result<Option<Self>> {
        if !is_foreground() {
            return Ok(None);
        }
        let (board, ended) = (Arc::<Mutex<Board>>::default(), Arc::<AtomicBool>::default());
        let shared = (Arc::clone(&board), Arc::clone(&ended), Arc::clone(interrupted));
        let draw = move || {
            let (board, ended, interrupted) = shared;
            let over = || ended.load(Ordering::Relaxed) || interrupted.load(Ordering::Relaxed);
            draw_until(&board, over);
        };
        let thread = Some(thread::Builder::new().name("screen".to_owned()).spawn(draw)?);
        Ok(Some(Self { feed: Feed::default(), board, ended, thread }))
    }

    /// Updates the screen with progress of the run.
    pub(crate) fn observe(&mut self, progress: &Progress<'_>) {
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        self.feed.observe(progress, &mut board);
    }

    /// Shows a message, which is printed again once the terminal is restored.
    pub(crate) fn say(&self, text: &str) {
        self.board.lock().unwrap_or_else(PoisonError::into_inner).messages.push(text.to_owned());
    }

    /// Returns true once nothing more is drawn: the terminal failed, or the user has interrupted the run.
    pub(crate) fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Restores the terminal, and returns the messages that were shown on it.
    pub(crate) fn close(&mut self) -> Vec<String> {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            best_effort(thread.join(), "its panic was printed, and the run is not worse for it");
        }
        std::mem::take(&mut self.board.lock().unwrap_or_else(PoisonError::into_inner).messages)
    }
}

/// The alternate screen of the terminal, without the echo of keys. Dropping it restores the terminal.
struct Canvas {
    /// Its size is watched here: a terminal that resizes itself asks for the cursor's position, and waits for an answer.
    terminal: Terminal<CrosstermBackend<Stderr>>,
    size: (u16, u16),
    before: Termios,
}

fn terminal((width, height): (u16, u16)) -> io::Result<Terminal<CrosstermBackend<Stderr>>> {
    let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
    Terminal::with_options(CrosstermBackend::new(io::stderr()), TerminalOptions { viewport })
}

/// Returns columns and rows. A terminal that does not know its size, as some consoles of pipelines, gets no screen.
fn size() -> io::Result<(u16, u16)> {
    let size = termios::tcgetwinsize(io::stderr())?;
    match (size.ws_col, size.ws_row) {
        (0, _) | (_, 0) => Err(io::ErrorKind::Unsupported.into()),
        known => Ok(known),
    }
}

impl Canvas {
    fn take() -> io::Result<Self> {
        let before = termios::tcgetattr(io::stdin())?;
        let mut quiet = before.clone();
        // Signals stay: Ctrl-C ends the run as ever. Ctrl-Z would leave a shell with this screen, and a load that is stopped.
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        quiet.special_codes[SpecialCodeIndex::VSUSP] = 0;
        let size = size()?;
        let mut canvas = Self { terminal: terminal(size)?, size, before };
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &quiet)?;
        execute!(io::stderr(), EnterAlternateScreen, Clear(ClearType::All))?;
        canvas.terminal.hide_cursor()?;
        Ok(canvas)
    }

    fn draw(&mut self, board: &Board) -> io::Result<()> {
        let size = size()?;
        if size != self.size {
            (self.terminal, self.size) = (terminal(size)?, size);
            execute!(io::stderr(), Clear(ClearType::All))?;
        }
        self.terminal.draw(|frame| view::draw(frame, board))?;
        Ok(())
    }
}

/// Draws until the run is over, or the terminal fails. A run that never begins leaves the terminal alone.
fn draw_until(board: &Mutex<Board>, over: impl Fn() -> bool) {
    let mut canvas = None;
    while !over() {
        let shown = board.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // A shell may have put this process into the background since it was started.
        let is_usable = canvas.is_some() || is_foreground();
        if shown.has_begun() && is_usable && !drawn(&mut canvas, &shown) {
            return;
        }
        let mut waited = Duration::ZERO;
        while waited < DRAWN_EVERY && !over() {
            thread::sleep(CHECK_EVERY);
            waited += CHECK_EVERY;
        }
    }
}

/// Draws on the terminal, and takes it over first if necessary; returns false if that fails.
fn drawn(canvas: &mut Option<Canvas>, board: &Board) -> bool {
    let taken = match canvas.take() {
        Some(canvas) => Ok(canvas),
        None => Canvas::take(),
    };
    let drawn = taken.and_then(|mut canvas| canvas.draw(board).map(|()| canvas));
    *canvas = drawn.ok();
    canvas.is_some()
}

impl Drop for Canvas {
    fn drop(&mut self) {
        best_effort(self.terminal.show_cursor(), "a terminal that is gone needs no cursor");
        best_effort(execute!(io::stderr(), LeaveAlternateScreen), "a terminal that is gone has no screens");
        let restored = termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        best_effort(restored.map_err(io::Error::from), "a terminal that is gone has no modes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_person_who_waits_gets_a_screen_unasked() {
        let suits = |longest_sec: u64, variables: &[(&str, &str)]| {
            let find = |name: &str| variables.iter().rev().find(|(known, _)| *known == name);
            suits(Some(Duration::from_secs(longest_sec)), |name| find(name).map(|(_, value)| value.into()))
        };
        let term = ("TERM", "xterm");
        assert!(suits(5, &[term]) && suits(90, &[term, ("CI", "")]));
        for (longest_sec, variables) in [
            (4, &[term][..]),
            (90, &[]),
            (90, &[("TERM", "dumb")]),
            (90, &[term, ("CI", "true")]),
            (90, &[term, (NO_TUI, "1")]),
        ] {
            assert!(!suits(longest_sec, variables), "{longest_sec} s, {variables:?}");
        }
        assert!(!super::suits(None, |_| Some("xterm".into())), "a run without a time may be over at once");
    }
}
