//! The run on the whole terminal.

use std::io::{Read as _, Write as _};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::bench::{Bench, Target};

const ENTERED: &str = "\u{1b}[?1049h";
const CLEARED: &str = "\u{1b}[2J";
const CTRL_C: &[u8] = b"\x03";
const CTRL_Z: &[u8] = b"\x1a";
const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
const LEFT: &str = "\u{1b}[?1049l";
/// A ladder that may take 6 s, and ends once its throughput is known.
const LADDER: &str = "sweep URL --ladder 1,2 --step 3s";

/// A line of a shell that has a terminal of 80 columns.
fn terminal(line: &str) -> Command {
    let line = format!("stty cols 80 rows 24; {line}");
    // It gives a program a terminal of its own.
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]);
    command.env_remove("CI").env_remove("PLIMSOLL_NO_TUI").env("TERM", "xterm");
    command
}

/// The exit code of a line of a shell, and what its terminal gets.
fn on_a_terminal(line: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let shown = terminal(line).stdin(Stdio::null()).envs(variables.iter().copied()).output().unwrap();
    (shown.status.code(), String::from_utf8_lossy(&shown.stdout).into_owned())
}

/// The same of a line whose user looks on: `act` is called with all that was shown so far, and may type.
fn watched(line: &str, mut act: impl FnMut(&str, &mut ChildStdin)) -> (Option<i32>, String) {
    let mut child = terminal(line).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keyboard, mut out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (send, received) = channel();
    let reader = thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Some(count) = out.read(&mut bytes).ok().filter(|count| *count > 0) {
            send.send(bytes[..count].to_vec()).unwrap();
        }
    });
    let (mut shown, mut text) = (Vec::new(), String::new());
    let ended = loop {
        match received.recv_timeout(Duration::from_secs(60)) {
            Ok(bytes) => shown.extend(bytes),
            Err(ended) => break ended,
        }
        text = String::from_utf8_lossy(&shown).into_owned();
        act(&text, &mut keyboard);
    };
    if ended == RecvTimeoutError::Timeout {
        child.kill().unwrap();
        panic!("nothing was shown for a minute: {text}");
    }
    reader.join().unwrap();
    (child.wait().unwrap().code(), text)
}

/// What a terminal gets of a run with these arguments on a target, which succeeds.
fn shown(arguments: &str, variables: &[(&str, &str)]) -> String {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let arguments = arguments.replace("URL", &format!("'{}'", target.url("/sleep?ms=5")));
    let (code, text) = on_a_terminal(&format!("{PROGRAM} {arguments} --no-files --no-probe"), variables);
    assert_eq!(code, Some(0), "{text}");
    text
}

/// What was on the screen of a run, and what was printed after it.
fn parts(text: &str) -> (&str, &str) {
    let (_, rest) = text.split_once(ENTERED).unwrap();
    rest.split_once(LEFT).unwrap()
}

#[test]
fn on_a_terminal_the_run_is_shown_and_then_the_answer_as_ever() {
    let text = shown("run URL -c 2 -d 1s --tui", &[]);
    let (screen, after) = parts(&text);
    assert!(screen.contains("connections") && screen.contains("Ctrl-C ends the run"), "{screen}");
    assert!(after.contains("latency") && after.contains("/sleep?ms=5"), "{after}");
}

#[test]
fn a_run_of_some_seconds_has_the_screen_by_itself_where_nothing_speaks_against_it() {
    let text = shown(LADDER, &[]);
    let (screen, after) = parts(&text);
    assert!(screen.contains("step") && screen.contains("Ctrl-C ends the run"), "{screen}");
    assert!(after.contains("QPS"), "{after}");
    for (flag, variables) in [(" --no-tui", &[][..]), ("", &[("TERM", "dumb")]), ("", &[("CI", "true")])] {
        let text = shown(&format!("{LADDER}{flag}"), variables);
        assert!(!text.contains(ENTERED) && text.contains("QPS"), "{variables:?}: {text}");
    }
    assert!(!shown("run URL -c 2 -d 1s", &[]).contains(ENTERED), "it is over before it is read");
}

#[test]
fn a_run_that_does_not_begin_leaves_the_terminal_alone() {
    let away = plimsoll_testkit::refused_address();
    let (code, text) =
        on_a_terminal(&format!("{PROGRAM} run http://{away} -c 2 -d 10s --tui --no-files"), &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(!text.contains(ENTERED) && text.contains("plimsoll: "), "{text}");
}

/// A stopped run would leave a shell with the screen of the run, and a load that stands still.
#[test]
fn a_run_on_the_screen_is_not_suspended() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=5");
    let line = format!("{PROGRAM} run '{url}' -c 2 -d 2s --tui --no-files --no-probe");
    let mut pressed = false;
    let (code, text) = watched(&line, |shown, keyboard| {
        if !pressed && shown.contains(ENTERED) {
            pressed = true;
            keyboard.write_all(CTRL_Z).unwrap();
        }
    });
    assert_eq!(code, Some(0), "{text}");
    let (_, after) = parts(&text);
    assert!(after.contains("latency") && !text.contains("Stopped"), "{text}");
}

/// Where a control sequence puts the cursor, if it is one that does.
fn row(sequence: &str) -> Option<u32> {
    let (row, column) = sequence.split_once('H')?.0.split_once(';')?;
    column.parse::<u32>().ok()?;
    row.parse().ok()
}

#[test]
fn a_terminal_whose_size_changes_is_drawn_anew() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=5");
    let line = format!("tty; exec {PROGRAM} run '{url}' -c 2 -d 60s --tui --no-files --no-probe");
    let (mut resized, mut ended) = (false, false);
    let (code, text) = watched(&line, |shown, keyboard| {
        let Some((before, screen)) = shown.split_once(ENTERED) else { return };
        if !resized {
            resized = true;
            let terminal = before.lines().find(|line| line.starts_with("/dev/")).unwrap();
            let change = ["-F", terminal.trim(), "cols", "41", "rows", "9"];
            assert!(Command::new("stty").args(change).status().unwrap().success());
            return;
        }
        let after = screen.split(CLEARED).nth(2);
        if !ended && after.is_some_and(|small| small.contains("Ctrl-C ends the run")) {
            ended = true;
            keyboard.write_all(CTRL_C).unwrap();
        }
    });
    assert_eq!(code, Some(130), "{text}");
    let (screen, after) = parts(&text);
    let small = screen.split(CLEARED).nth(2).unwrap();
    let rows: Vec<u32> = small.split("\u{1b}[").filter_map(row).collect();
    assert!(rows.contains(&1) && rows.iter().all(|row| *row <= 9), "{small}");
    assert!(after.contains("latency"), "{after}");
}

/// The system would stop it there, if it tried.
#[test]
fn a_run_in_the_background_of_a_shell_takes_no_terminal() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=5");
    let line = format!("set -m; {PROGRAM} run '{url}' -c 2 -d 300ms --tui --no-files --no-probe & wait $!");
    let (code, text) = on_a_terminal(&line, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains(ENTERED) && text.contains("latency"), "{text}");
}

#[test]
fn a_terminal_that_cannot_be_drawn_to_gets_lines() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=5");
    let line = format!("stty cols 0 rows 0; {PROGRAM} run '{url}' -c 2 -d 1s --tui --no-files --no-probe");
    let (code, text) = on_a_terminal(&line, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains(ENTERED) && text.contains("2 connections: "), "{text}");
}

#[test]
fn in_a_pipe_there_are_lines() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=5");
    let called =
        bench.expect(0, &["run", &url, "-c", "2", "-d", "300ms", "--tui", "--no-files", "--no-probe"]);
    assert!(called.err.contains("2 connections: "), "{}", called.err);
    assert!(!called.err.contains('\u{1b}') && !called.out.contains('\u{1b}'));
}
