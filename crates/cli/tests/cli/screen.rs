//! The run on the whole terminal.

use std::process::{Command, Stdio};

use crate::bench::{Bench, Target};

const ENTERED: &str = "\u{1b}[?1049h";
const LEFT: &str = "\u{1b}[?1049l";
/// A ladder that may take 6 s, and ends once its throughput is known.
const LADDER: &str = "sweep URL --ladder 1,2 --step 3s";

/// What a terminal of 80 columns gets of a run with these arguments on the target, which succeeds.
fn on_a_terminal(arguments: &str, variables: &[(&str, &str)]) -> String {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let line = format!(
        "stty cols 80 rows 24; {} {} --no-files --no-probe",
        env!("CARGO_BIN_EXE_plimsoll"),
        arguments.replace("URL", &format!("'{}'", target.url("/sleep?ms=5")))
    );
    // It gives a program a terminal of its own.
    let mut command = Command::new("script");
    command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null());
    command.env_remove("CI").env_remove("PLIMSOLL_NO_TUI").env("TERM", "xterm");
    let shown = command.envs(variables.iter().copied()).output().unwrap();
    assert_eq!(shown.status.code(), Some(0), "{shown:?}");
    String::from_utf8_lossy(&shown.stdout).into_owned()
}

/// What was on the screen of a run, and what was printed after it.
fn parts(text: &str) -> (&str, &str) {
    let (_, rest) = text.split_once(ENTERED).unwrap();
    rest.split_once(LEFT).unwrap()
}

#[test]
fn on_a_terminal_the_run_is_shown_and_then_the_answer_as_ever() {
    let text = on_a_terminal("run URL -c 2 -d 1s --tui", &[]);
    let (screen, after) = parts(&text);
    assert!(screen.contains("connections") && screen.contains("Ctrl-C ends the run"), "{screen}");
    assert!(after.contains("latency") && after.contains("/sleep?ms=5"), "{after}");
}

#[test]
fn a_run_of_some_seconds_has_the_screen_by_itself_where_nothing_speaks_against_it() {
    let text = on_a_terminal(LADDER, &[]);
    let (screen, after) = parts(&text);
    assert!(screen.contains("step") && screen.contains("Ctrl-C ends the run"), "{screen}");
    assert!(after.contains("QPS"), "{after}");
    for (flag, variables) in [(" --no-tui", &[][..]), ("", &[("TERM", "dumb")]), ("", &[("CI", "true")])] {
        let text = on_a_terminal(&format!("{LADDER}{flag}"), variables);
        assert!(!text.contains(ENTERED) && text.contains("QPS"), "{variables:?}: {text}");
    }
    assert!(!on_a_terminal("run URL -c 2 -d 1s", &[]).contains(ENTERED), "it is over before it is read");
}

#[test]
fn a_run_that_does_not_begin_leaves_the_terminal_alone() {
    let line = format!(
        "{} run http://{} -c 2 -d 10s --tui --no-files",
        env!("CARGO_BIN_EXE_plimsoll"),
        plimsoll_testkit::refused_address()
    );
    let mut command = Command::new("script");
    let shown = command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(!text.contains(ENTERED) && text.contains("plimsoll: "), "{text}");
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
