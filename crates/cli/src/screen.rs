//! A run on the whole terminal while it goes on (`--tui`). Nothing of it stays: the terminal is as it was once the run ends.

mod board;
mod feed;
mod view;

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
use rustix::termios::{self, LocalModes, OptionalActions, Termios};

use self::board::Board;
use self::feed::Feed;
pub(crate) use self::feed::level_text;

/// How often the terminal is drawn, and how soon it is given back after Ctrl-C.
const DRAWN_EVERY: Duration = Duration::from_millis(250);
const LOOKED_EVERY: Duration = Duration::from_millis(50);

/// The terminal, which a thread of its own draws to: one that takes nothing more (Ctrl-S) must not hold the run.
#[derive(Debug)]
pub(crate) struct Screen {
    feed: Feed,
    board: Arc<Mutex<Board>>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// Takes the terminal that standard error is; `None` where it is none. It is given back at the first signal, since the second
    /// one ends the process at once.
    ///
    /// # Errors
    /// When the terminal cannot be drawn to.
    pub(crate) fn open(interrupted: &Arc<AtomicBool>) -> io::Result<Option<Self>> {
        if !io::stderr().is_terminal() || !io::stdin().is_terminal() {
            return Ok(None);
        }
        let canvas = Canvas::take()?;
        let (board, ended) = (Arc::<Mutex<Board>>::default(), Arc::<AtomicBool>::default());
        let shared = (Arc::clone(&board), Arc::clone(&ended), Arc::clone(interrupted));
        let draw = move || {
            let (board, ended, interrupted) = shared;
            let over = || ended.load(Ordering::Relaxed) || interrupted.load(Ordering::Relaxed);
            canvas.draw_until(&board, over);
        };
        let thread = Some(thread::Builder::new().name("screen".to_owned()).spawn(draw)?);
        Ok(Some(Self { feed: Feed::default(), board, ended, thread }))
    }

    /// Takes in what happened.
    pub(crate) fn observe(&mut self, progress: &Progress<'_>) {
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        self.feed.observe(progress, &mut board);
    }

    /// Shows a message, which is printed again once the terminal is given back.
    pub(crate) fn say(&self, text: &str) {
        self.board.lock().unwrap_or_else(PoisonError::into_inner).messages.push(text.to_owned());
    }

    /// Gives the terminal back, and the messages that were shown on it.
    pub(crate) fn close(&mut self) -> Vec<String> {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            best_effort(thread.join(), "its panic was printed, and the run is not worse for it");
        }
        std::mem::take(&mut self.board.lock().unwrap_or_else(PoisonError::into_inner).messages)
    }
}

/// The other screen of the terminal, without the echo of keys. Dropped, the terminal is as it was.
struct Canvas {
    /// Its size is watched here: a terminal that resizes itself asks where the cursor is, and waits for an answer.
    terminal: Terminal<CrosstermBackend<Stderr>>,
    size: (u16, u16),
    before: Termios,
}

fn terminal((width, height): (u16, u16)) -> io::Result<Terminal<CrosstermBackend<Stderr>>> {
    let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
    Terminal::with_options(CrosstermBackend::new(io::stderr()), TerminalOptions { viewport })
}

/// Columns and rows.
fn size() -> io::Result<(u16, u16)> {
    let size = termios::tcgetwinsize(io::stderr())?;
    Ok((size.ws_col, size.ws_row))
}

impl Canvas {
    fn take() -> io::Result<Self> {
        let before = termios::tcgetattr(io::stdin())?;
        let mut quiet = before.clone();
        // Signals stay: Ctrl-C ends the run as ever.
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
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

    /// Draws until the run is over, or the terminal takes nothing more.
    fn draw_until(mut self, board: &Mutex<Board>, over: impl Fn() -> bool) {
        while !over() {
            let shown = board.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if self.draw(&shown).is_err() {
                return;
            }
            let mut waited = Duration::ZERO;
            while waited < DRAWN_EVERY && !over() {
                thread::sleep(LOOKED_EVERY);
                waited += LOOKED_EVERY;
            }
        }
    }
}

impl Drop for Canvas {
    fn drop(&mut self) {
        best_effort(self.terminal.show_cursor(), "a terminal that is gone needs no cursor");
        best_effort(execute!(io::stderr(), LeaveAlternateScreen), "a terminal that is gone has no screens");
        let restored = termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        best_effort(restored.map_err(io::Error::from), "a terminal that is gone has no modes");
    }
}
