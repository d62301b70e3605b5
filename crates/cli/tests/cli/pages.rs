//! What the pages for users tell them to type: every command of their `sh` blocks is run, in its order, and every command within
//! a sentence or a table has options that exist.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::bench::{Bench, Called, Target};

const PAGES: [&str; 7] = [
    "README.md",
    "docs/getting-started.md",
    "docs/how-to.md",
    "docs/ci.md",
    "docs/troubleshooting.md",
    "docs/which-tool.md",
    "docs/commands.md",
];
/// The address of the reader's own service in the pages.
const SERVICE: &str = "127.0.0.1:8080";
/// Measured and met, broken, or not known: a page promises no figures.
const MEASURED: [i32; 3] = [0, 3, 4];
/// Options that make a command take long, and what stands for them here.
const SHORTER: [(&str, &str); 3] =
    [("-d 30s", "-d 1s"), ("--warm 60s", "--warm 1s"), ("--step 5s", "--step 300ms")];

fn read(page: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(page)).unwrap()
}

/// The lines of the `sh` blocks, without comments.
fn typed(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("\n```"));
    let lines = blocks.flat_map(|(block, _)| block.lines());
    lines.map(|line| line.split("  #").next().unwrap_or_default().trim().to_owned()).collect()
}

/// The commands that are written within a sentence, up to where they leave something open.
fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    let spans = text.split('`').skip(1).step_by(2);
    spans.filter(|span| span.starts_with("plimsoll ") && !span.contains(['…', '\n', '[']))
}

/// The same command on the service of the test, and brief.
fn brief(line: &str, target: &Target) -> String {
    let address = target.url("");
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    let mut line = line.replace(SERVICE, address);
    for (long, short) in SHORTER {
        line = line.replace(long, short);
    }
    let rest = line.strip_prefix("plimsoll ").unwrap().to_owned();
    if rest.trim_start_matches('\'').starts_with("http://") {
        line.push_str(" --budget 4s");
    } else if rest.starts_with("search ") && !rest.contains("--budget") {
        line.push_str(" --budget 12s");
    } else if rest.starts_with("sweep") && !rest.contains("--step") {
        line.push_str(" --step 300ms");
    }
    line
}

fn call(bench: &Bench, line: &str) -> Called {
    let line = line.replacen("plimsoll", "\"$PLIMSOLL\"", 1);
    let mut command = Command::new("sh");
    command.args(["-c", &line]).env("PLIMSOLL", env!("CARGO_BIN_EXE_plimsoll")).env("NO_COLOR", "1");
    command.current_dir(bench.folder()).stdin(Stdio::null());
    Called::from(command.output().unwrap())
}

#[test]
fn every_command_of_the_pages_can_be_typed() {
    let target = Target::start(&Bench::new());
    let mut count = 0;
    for page in PAGES {
        let (text, bench) = (read(page), Bench::new());
        for line in typed(&text) {
            assert!(line.starts_with("plimsoll "), "{page}: `{line}` is no command of Plimsoll");
            let line = brief(&line, &target);
            let called = call(&bench, &line);
            assert!(MEASURED.contains(&called.code), "{page}: {line}\n{}{}", called.out, called.err);
            count += 1;
        }
    }
    assert!(count >= 20, "the pages have commands: {count}");
}

#[test]
fn every_option_that_the_pages_mention_exists() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    for name in ["first", "second"] {
        bench.expect(
            0,
            &["run", &target.url("/healthz"), "-n", "20", "-c", "1", "--name", name, "--no-probe"],
        );
    }
    let mut count = 0;
    for page in PAGES {
        let text = read(page);
        for command in mentioned(&text) {
            // Of several forms of a table's cell, the one before the bar.
            let line = command.replace("\\|csv\\|json", "").replace("wrk", "run");
            let called = call(&bench, &format!("{line} --help"));
            assert_eq!(called.code, 0, "{page}: {command}\n{}{}", called.out, called.err);
            count += 1;
        }
    }
    assert!(count >= 25, "the pages mention commands: {count}");
}
