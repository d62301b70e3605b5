//! Draws the board on a terminal of any size.

use std::borrow::Cow;
use std::time::Duration;

use plimsoll_report::words;
use plimsoll_units::{count_text, duration_text, grouped, printable};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Row as TableRow, Sparkline, Table};

use super::board::{Bar, Board, Row};

/// The smallest width for two columns; narrower terminals get one.
const TWO_COLUMNS: u16 = 90;
const MESSAGES: u16 = 4;
const SPARKLINE: u16 = 3;
/// The width of a resource's bar, in columns.
const BAR: usize = 20;
/// The share from which a resource counts as nearly used up.
const NEARLY_FULL: f64 = 0.9;

const DIM: Style = Style::new().add_modifier(Modifier::DIM);
const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const ALERT: Style = Style::new().fg(Color::Red);

/// Draws the whole board; a small terminal shows only its first parts.
pub(super) fn draw(frame: &mut Frame<'_>, board: &Board) {
    let messages = (board.messages.len() as u16).min(MESSAGES);
    let parts = Layout::vertical([Constraint::Length(4), Constraint::Min(0), Constraint::Length(messages)]);
    let [head, body, foot] = parts.areas(frame.area());
    frame.render_widget(Paragraph::new(heading(board)), head);
    if body.width >= TWO_COLUMNS {
        let columns = Layout::horizontal([Constraint::Fill(1), Constraint::Length(2), Constraint::Fill(1)]);
        let [left, _, right] = columns.areas(body);
        rows(frame, board, left);
        now(frame, board, right);
    } else {
        let needed = if board.rows.is_empty() { 0 } else { board.rows.len() as u16 + 2 };
        let halves = Layout::vertical([Constraint::Length(needed.min(body.height / 2)), Constraint::Min(0)]);
        let [above, below] = halves.areas(body);
        rows(frame, board, above);
        now(frame, board, below);
    }
    let from = board.messages.len() - usize::from(messages);
    let lines: Vec<Line<'_>> =
        board.messages[from..].iter().map(|text| Line::styled(safe(text), DIM)).collect();
    frame.render_widget(Paragraph::new(lines), foot);
}

/// Escapes everything in a text that would control the terminal.
fn safe(text: &str) -> Cow<'_, str> {
    printable(text, false)
}

fn heading(board: &Board) -> Vec<Line<'_>> {
    let time = match board.limit {
        Duration::ZERO => format!("{:.0} s", board.elapsed.as_secs_f64()),
        limit => format!("{:.0} of ≤ {:.0} s", board.elapsed.as_secs_f64(), limit.as_secs_f64()),
    };
    // In a run of one load this would repeat the limit.
    let left = match board.left > board.limit.saturating_sub(board.elapsed) {
        true => format!(" · ≤ {:.0} s left", board.left.as_secs_f64()),
        false => String::new(),
    };
    vec![
        Line::styled(safe(&board.target), STRONG),
        Line::from(vec![Span::raw(safe(&board.phase)), Span::styled(format!(" · {time}{left}"), DIM)]),
        Line::styled("Ctrl-C ends the run and keeps what was measured.", DIM),
    ]
}

/// Draws the loads that have ended, the newest at the bottom; nothing before the first.
fn rows(frame: &mut Frame<'_>, board: &Board, area: Rect) {
    if board.rows.is_empty() {
        return;
    }
    let room = usize::from(area.height.saturating_sub(1));
    let from = board.rows.len().saturating_sub(room);
    let most = board.rows.iter().map(|row| row.throughput_per_sec).fold(0.0, f64::max);
    let row = |row: &Row| {
        let style = if row.throughput_per_sec >= most { STRONG } else { Style::new() };
        TableRow::new([
            row.level.clone(),
            format!("{:>9}", count_text(row.throughput_per_sec)),
            format!("{:>8}", time(row.p50_ns)),
            format!("{:>8}", time(row.p99_ns)),
            if row.failed == 0 { String::new() } else { format!("{} failed", grouped(row.failed)) },
        ])
        .style(style)
    };
    let widths = [
        Constraint::Fill(2),
        Constraint::Length(9),
        Constraint::Length(8),
        Constraint::Length(8),
        Constraint::Fill(1),
    ];
    let head = TableRow::new(["load", "      QPS", "     p50", "     p99", ""]).style(DIM);
    frame.render_widget(Table::new(board.rows[from..].iter().map(row), widths).header(head), area);
}

/// Draws the current load: throughput, latency, failures, hosts.
fn now(frame: &mut Frame<'_>, board: &Board, area: Rect) {
    let parts = Layout::vertical([Constraint::Length(2), Constraint::Length(SPARKLINE), Constraint::Min(0)]);
    let [figures, course, rest] = parts.areas(area);
    let latency = format!("p50 {} · p99 {}", time(board.p50_ns), time(board.p99_ns));
    let throughput = board.throughput_per_sec.map_or_else(
        || "no response yet".to_owned(),
        |per_sec| format!("{} requests/s", count_text(per_sec)),
    );
    frame.render_widget(Paragraph::new(vec![Line::styled(throughput, STRONG), Line::raw(latency)]), figures);
    let newest = board.course.len().saturating_sub(usize::from(course.width));
    frame.render_widget(Sparkline::default().data(&board.course[newest..]), course);
    let lines: Vec<Line<'_>> = failures(board).into_iter().chain(hosts(&board.hosts)).collect();
    frame.render_widget(Paragraph::new(lines), rest);
}

fn failures(board: &Board) -> Vec<Line<'static>> {
    let refused =
        (board.refused > 0).then(|| format!("{} responses without success", grouped(board.refused)));
    let failed = board
        .failures
        .iter()
        .map(|(kind, count)| format!("{} {}", grouped(*count), words::failure_meaning(*kind)));
    refused.into_iter().chain(failed).map(|text| Line::styled(text, ALERT)).collect()
}

fn hosts(bars: &[Bar]) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut host = "";
    for bar in bars {
        if bar.host != host {
            host = &bar.host;
            lines.push(Line::styled(safe(host).into_owned(), DIM));
        }
        let full = (bar.share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
        let style = if bar.share >= NEARLY_FULL { ALERT } else { Style::new() };
        let text = format!(
            "{}{} {:>4.0} % {}",
            "█".repeat(full),
            "░".repeat(BAR - full),
            100.0 * bar.share,
            safe(&bar.resource)
        );
        lines.push(Line::styled(text, style));
    }
    lines
}

fn time(ns: Option<f64>) -> String {
    ns.map_or_else(|| "n/k".to_owned(), duration_text)
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    fn board() -> Board {
        let row = |level: &str, throughput_per_sec| Row {
            level: level.to_owned(),
            throughput_per_sec,
            p50_ns: Some(2e6),
            p99_ns: None,
            failed: 0,
        };
        Board {
            target: "http://127.0.0.1:8080/\u{1b}[2J".to_owned(),
            phase: "step 3 of at most 11 · 4 connections".to_owned(),
            elapsed: Duration::from_secs(3),
            limit: Duration::from_secs(10),
            left: Duration::from_secs(60),
            throughput_per_sec: Some(1234.0),
            course: (0..300).collect(),
            p50_ns: Some(3e6),
            rows: vec![row("1 connection", 500.0), row("2 connections", 900.0)],
            hosts: vec![Bar { host: "api".to_owned(), resource: "cpu".to_owned(), share: 0.97 }],
            messages: vec!["plimsoll: first".to_owned(), "plimsoll: last".to_owned()],
            ..Board::default()
        }
    }

    fn drawn(width: u16, height: u16) -> String {
        drawn_of(&board(), width, height)
    }

    fn drawn_of(board: &Board, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, board)).unwrap();
        let buffer = terminal.backend().buffer().clone();
        let line = |y| (0..width).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>() + "\n";
        (0..height).map(line).collect()
    }

    #[test]
    fn a_terminal_of_usual_size_shows_all_of_it() {
        for (width, height) in [(80, 24), (120, 40)] {
            let text = drawn(width, height);
            for part in [
                "4 connections",
                "2 connections",
                "1,234 requests/s",
                "3.00 ms",
                "97 %",
                "3 of ≤ 10 s · ≤ 60 s left",
                "last",
            ] {
                assert!(text.contains(part), "{part} at {width}x{height}:\n{text}");
            }
        }
    }

    #[test]
    fn a_run_that_begins_shows_no_empty_table_and_no_throughput_of_nought() {
        let begun = Board { target: "http://127.0.0.1/".to_owned(), ..Board::default() };
        let text = drawn_of(&begun, 80, 24);
        assert!(text.contains("no response yet") && !text.contains("QPS"), "{text}");
        let (elapsed, limit) = (Duration::from_secs(2), Duration::from_secs(6));
        let single = Board { left: limit - elapsed, elapsed, limit, ..begun };
        let text = drawn_of(&single, 80, 24);
        assert!(text.contains("2 of ≤ 6 s") && !text.contains("left"), "{text}");
    }

    #[test]
    fn any_size_can_be_drawn() {
        for (width, height) in [(0, 0), (1, 1), (20, 3), (40, 8), (300, 100), (90, 5)] {
            assert_eq!(drawn(width, height).lines().count(), usize::from(height));
        }
    }

    #[test]
    fn text_of_others_steers_no_terminal() {
        assert!(!drawn(120, 40).contains('\u{1b}'));
    }
}
