//! Recorded runs keep their verdicts: one run of each scenario of the lab, recorded on real hosts, and what was found then.
//!
//! A rule that changes a verdict here has to say in its commit why the new one is better.
//! `tests/cases/recorded/verdicts.json` is the list of expected verdicts, one entry per run.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::bench::Bench;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/recorded")
}

/// Unpacks a recorded run into the bench's folder.
pub(crate) fn unpacked(name: &str, into: &Path) -> String {
    let packed = std::fs::File::open(folder().join(format!("{name}.plimsoll.gz"))).unwrap();
    let mut run = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut run).unwrap();
    let file = into.join(format!("{name}.plimsoll"));
    std::fs::write(&file, run).unwrap();
    file.to_str().unwrap().to_owned()
}

/// What a verdict claims, without its wording; sizes to three digits.
fn claim(verdict: &Value) -> Value {
    let rounded = |size: &Value| size.as_f64().map(|size| format!("{size:.3e}"));
    let alternatives: Vec<Value> = verdict["also"]
        .as_array()
        .unwrap()
        .iter()
        .map(|also| json!({ "limit": also["limit"], "where": also["where"] }))
        .collect();
    json!({
        "limit": verdict["limit"],
        "where": verdict["where"],
        "confidence": verdict["confidence"],
        "size": rounded(&verdict["size"]),
        "also": alternatives,
        "next": verdict["next_limit"]["limit"],
    })
}

/// The names of the lab's scenarios.
fn scenarios() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let plans = files.filter(|file| file.extension().is_some_and(|ending| ending == "toml"));
    plans.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

#[test]
fn the_short_answer_of_every_recorded_run_fits_a_page() {
    let temporary = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    for name in scenarios() {
        let file = unpacked(&name, temporary.path());
        let text = bench.expect(0, &["report", &file]).out;
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() <= 20, "{name}: {} lines\n{text}", lines.len());
        // The path of the file may be longer than a line, and stands on one of its own.
        let is_wide = |line: &&&str| line.chars().count() > 80 && !line.contains(".plimsoll");
        assert_eq!(lines.iter().find(is_wide), None, "{name}");
        assert!(lines.iter().any(|line| line.starts_with("Verdict")), "{name}\n{text}");
    }
}

#[test]
fn recorded_runs_of_every_scenario_keep_their_verdicts() {
    let text = std::fs::read_to_string(folder().join("verdicts.json")).unwrap();
    let expected: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(expected.keys().cloned().collect::<BTreeSet<_>>(), scenarios(), "one run of each scenario");
    let temporary = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let changed: Vec<String> = expected
        .iter()
        .filter_map(|(name, expected)| {
            let file = unpacked(name, temporary.path());
            let found = claim(&bench.expect(0, &["explain", &file, "--json"]).json()["verdict"]);
            (found != *expected).then(|| format!("{name}\n  expected {expected}\n  found    {found}"))
        })
        .collect();
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}
