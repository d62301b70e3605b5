//! A disk without room for what a run leaves behind.

use std::process::{Command, Stdio};

use crate::bench::{Bench, Called, Target};

/// Runs a shell script in a mount namespace of its own, whose mounts go with it. Nothing where the system does not
/// allow such a namespace.
pub(crate) fn in_own_mounts(bench: &Bench, script: &str) -> Option<Called> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", script]).current_dir(bench.folder());
        command.env("PLIMSOLL", env!("CARGO_BIN_EXE_plimsoll")).stdin(Stdio::null());
        command.output()
    };
    let allowed = unshare("mount -t tmpfs tmpfs .").is_ok_and(|output| output.status.success());
    allowed.then(|| Called::from(unshare(script).unwrap()))
}

#[test]
fn an_output_that_takes_nothing_costs_no_document() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let url = target.url("/healthz");
    let mut run = bench.command(&["run", &url, "-c", "1", "-n", "20", "--junit", "ci.xml"]);
    let ended = run.stdout(full).stderr(std::process::Stdio::null()).status().unwrap();
    assert_eq!(ended.code(), Some(1));
    assert!(std::fs::read_to_string(bench.path("ci.xml")).unwrap().contains("<testsuite"));
}

#[test]
fn a_full_disk_costs_files_and_neither_the_answer_nor_a_word_about_each() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    std::fs::create_dir(bench.path("full")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=96k tmpfs full && \
         \"$PLIMSOLL\" sweep '{}' --ladder 1,2,4 --step 1s --name api --out full; code=$?; \
         echo; echo LEFT; find full -type f -size 0; find full -name '*.part'; exit $code",
        target.url("/sleep?ms=2")
    );
    let Some(called) = in_own_mounts(&bench, &script) else {
        eprintln!("skipped: this system does not let the test mount a small disk of its own");
        return;
    };
    assert_eq!(called.code, 1, "{}{}", called.out, called.err);
    let (report, left) = called.out.split_once("LEFT").unwrap();
    assert!(report.contains("QPS"), "{report}");
    assert_eq!(left.trim(), "", "no empty and no half file stays behind");
    assert!(called.err.contains("the disk is full"), "of the run file: {}", called.err);
    assert!(called.err.contains("could not write full/api"), "of a figure: {}", called.err);
}
