//! Lines with mistakes in them: docs/mistyped.md shows what Plimsoll answers, and this keeps it true.
//!
//! They are called where there is no network, so that no mistake of Plimsoll sends load anywhere.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::bench::{Bench, Called};

/// The lines, without the command's own name.
const LINES: &str = include_str!("../cases/mistyped.txt");

/// Calls a line in a network namespace of its own, without any address; `None` where this user may not make one.
fn call(bench: &Bench, line: &str) -> Option<Called> {
    let words = shlex(line);
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net", env!("CARGO_BIN_EXE_plimsoll")]).args(&words);
    command.current_dir(bench.folder()).env("NO_COLOR", "1").stdin(std::process::Stdio::null());
    let called = Called::from(command.output().ok()?);
    (!called.err.starts_with("unshare:")).then_some(called)
}

/// The words of a line: blanks part them, single quotes hold them together.
fn shlex(line: &str) -> Vec<String> {
    let parts = line.split('\'').enumerate();
    let words = parts.flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().map(ToOwned::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

fn table(bench: &Bench) -> Option<String> {
    let mut table = "| `plimsoll` … | exit code | answer |\n| --- | --- | --- |\n".to_owned();
    for line in LINES.lines() {
        let called = call(bench, line)?;
        assert!(called.code != 0 && called.out.is_empty(), "{line}: {}\n{}", called.code, called.out);
        let answer =
            called.err.trim().trim_start_matches("plimsoll: ").replace('|', "\\|").replace('\n', "<br>");
        writeln!(table, "| `{line}` | {} | {answer} |", called.code).unwrap();
    }
    Some(table)
}

#[test]
fn the_table_of_mistyped_lines_is_what_plimsoll_answers() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mistyped.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let bench = Bench::new();
    let Some(table) = table(&bench) else {
        eprintln!("not tried: this user may not make a network namespace (unshare --user --net)");
        return;
    };
    let (head, _) = text.split_once("| `plimsoll` …").unwrap();
    let right = format!("{head}{table}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&page, &right).unwrap();
    }
    assert_eq!(text, right, "UPDATE_DOCS=1 writes the page again");
}
