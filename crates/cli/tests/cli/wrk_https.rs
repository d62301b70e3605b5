//! wrk's command line over TLS, compared with wrk itself.

use std::process::{Command, Stdio};

use plimsoll_testkit::Nginx;

use crate::bench::{Bench, Called};

/// A script that prints the first answer and ends the run.
const PRINT_ANSWER: &str = "\
local printed = false
function response(status, headers, body)
    if not printed then print('answer ' .. body) end
    printed = true
    wrk.thread:stop()
end
";

/// The same arguments under both programs: ours, and wrk.
fn side_by_side(bench: &Bench, args: &[&str]) -> (Called, Called) {
    let ours = bench.call(&[&["wrk"], args].concat());
    let wrk =
        Command::new("wrk").args(args).current_dir(bench.folder()).stdin(Stdio::null()).output().unwrap();
    (ours, Called::from(wrk))
}

/// A text without its measured values and the widths of its columns.
fn shape(text: &str) -> Vec<String> {
    let word = |word: &str| match word.starts_with(|c: char| c.is_ascii_digit()) {
        true => "#".to_owned(),
        false => word.to_owned(),
    };
    text.lines().map(|line| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_load_over_tls_reads_like_wrks_and_verifies_nothing() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let url = format!("https://{}/", nginx.tls_address());
    let (ours, wrk) = side_by_side(&bench, &["-t1", "-c2", "-d1s", "--latency", &url]);
    assert_eq!((ours.code, wrk.code), (0, 0), "{}", ours.err);
    assert_eq!(shape(&ours.out), shape(&wrk.out));
}

#[test]
fn the_name_in_the_url_is_asked_for_as_wrk_does() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    std::fs::write(bench.path("print.lua"), PRINT_ANSWER).unwrap();
    let url = format!("https://localhost:{}/name", nginx.tls_address().port());
    let (ours, wrk) = side_by_side(&bench, &["-t1", "-c1", "-d10s", "-s", "print.lua", &url]);
    for (program, called) in [("ours", ours), ("wrk", wrk)] {
        let answer = called.out.lines().find(|line| line.starts_with("answer"));
        assert_eq!(answer, Some("answer localhost"), "{program}: {}\n{}", called.out, called.err);
    }
}
