//! The form of a short answer: the width of its lines, colours, and the name under which the run is found again.

use anstyle::{AnsiColor, Style};

/// The page that a short answer is written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Columns of a line. A word that is longer stands alone on a line.
    pub width: usize,
    pub colours: bool,
    /// The name of the recorded run on a command line, such as `last`; `None` for a run that was not recorded.
    pub run_name: Option<String>,
}

impl Page {
    /// The width if it is not known, as in a pipe.
    pub const DEFAULT_WIDTH: usize = 80;

    /// A page of the default width without colours, for a run that has no name.
    pub fn plain() -> Self {
        Self { width: Self::DEFAULT_WIDTH, colours: false, run_name: None }
    }

    /// The text in colour, or as it is on a page without colours.
    pub(super) fn paint(&self, ink: Ink, text: &str) -> String {
        if !self.colours || text.trim().is_empty() {
            return text.to_owned();
        }
        let style = ink.style();
        format!("{style}{text}{style:#}")
    }

    /// Paints the first occurrence of a part of a text.
    pub(super) fn paint_part(&self, ink: Ink, part: &str, text: &str) -> String {
        text.replacen(part, &self.paint(ink, part), 1)
    }

    /// Paints each line separately, so that no colour crosses the end of a line.
    pub(super) fn paint_lines(&self, ink: Ink, text: &str) -> String {
        text.lines().map(|line| self.paint(ink, line) + "\n").collect()
    }
}

/// What a colour means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// The words to read first.
    Strong,
    Good,
    Bad,
    /// Unknown, or to be read with care.
    Doubt,
    Faint,
}

impl Ink {
    fn style(self) -> Style {
        match self {
            Self::Strong => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Doubt => AnsiColor::Yellow.on_default(),
            Self::Faint => Style::new().dimmed(),
        }
    }
}
