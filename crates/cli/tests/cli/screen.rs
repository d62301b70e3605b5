//! The run on the whole terminal.

use std::process::{Command, Stdio};

use crate::bench::{Bench, Target};

const ENTERED: &str = "\u{1b}[?1049h";
const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");
const LEFT: &str = "\u{1b}[?1049l";
/// A ladder that may take 6 s, and ends once its throughput is known.
const LADDER: &str = "sweep URL --ladder 1,2 --step 3s";

/// The exit code of a line of a shell that has a terminal of 80 columns, and what the terminal gets.
fn on_a_terminal(line: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let line = format!("stty cols 80 rows 24; {line}");
    // It gives a program a terminal of its own.
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null());
    command.env_remove("CI").env_remove("PLIMSOLL_NO_TUI").env("TERM", "xterm");
    let shown = command.envs(variables.iter().copied()).output().unwrap();
    (shown.status.code(), String::from_utf8_lossy(&shown.stdout).into_owned())
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
