//! `--tui`: the run on the whole terminal.

use std::process::{Command, Stdio};

use crate::bench::{Bench, Target};

const ENTERED: &str = "\u{1b}[?1049h";
const LEFT: &str = "\u{1b}[?1049l";

#[test]
fn on_a_terminal_the_run_is_shown_and_then_the_answer_as_ever() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=5");
    let line = format!(
        "stty cols 80 rows 24; {} run '{url}' -c 2 -d 1s --tui --no-files --no-probe",
        env!("CARGO_BIN_EXE_plimsoll")
    );
    // It gives a program a terminal of its own.
    let mut command = Command::new("script");
    let shown = command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(shown.status.code(), Some(0), "{shown:?}");
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let (_, rest) = text.split_once(ENTERED).unwrap();
    let (screen, after) = rest.split_once(LEFT).unwrap();
    assert!(screen.contains("2 connections") && screen.contains("requests/s"), "{screen}");
    assert!(after.contains("latency") && after.contains(&url), "{after}");
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
