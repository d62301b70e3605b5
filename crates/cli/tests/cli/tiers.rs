//! `plimsoll tiers`. Where labs are not permitted the tests of them say so and show nothing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::bench::{Bench, Called, Target};

/// A file whose variants give the tier one and two hosts of half a core; all are asked through the first, which passes
/// nothing on, so that the test compares only their results. Its page waits, so that a busy machine serves as much.
const SCALED: &str = r#"
name = "scaled"
[target]
url = "http://api1:8080/sleep?ms=20&workers=2"
[load]
ladder = [4]
step = "400ms"
[[host]]
name = "api1"
tier = "api"
cores = 0.3
run = ["exec plimsoll target --listen 0.0.0.0 --port 8080"]
ready = "/healthz:8080"
[[variant]]
name = "two"
[[variant.host]]
name = "api2"
tier = "api"
cores = 0.3
run = ["exec plimsoll target --listen 0.0.0.0 --port 8080"]
ready = "/healthz:8080"
"#;

fn permitted() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    let permitted = u64::from_str_radix(bits.trim(), 16).unwrap() & (1 << 21) != 0;
    if !permitted {
        eprintln!("not shown: this test makes a lab, which needs CAP_SYS_ADMIN");
    }
    permitted
}

/// The second host is not asked: a tier that does not grow by it scales to about a half.
fn scales_to_a_half(found: &Value) -> bool {
    let of_two = &found["rows"][1]["efficiencies"][0];
    of_two["efficiency"].as_f64().is_some_and(|efficiency| (0.2..0.9).contains(&efficiency))
}

/// Runs the file until its figures are clear, three times at most: a machine that stalls spoils runs as short as these. Gives
/// the folder of the last time as well.
fn scaled() -> (Bench, Called) {
    let once = || {
        let bench = Bench::new();
        fs::write(bench.path("scaled.toml"), SCALED).unwrap();
        let args = ["tiers", "-f", "scaled.toml", "--name", "fig", "--tag", "exp=7", "--json"];
        let called = bench.call(&args);
        (bench, called)
    };
    let is_clear = |(_, called): &(Bench, Called)| called.code == 0 && scales_to_a_half(&called.json());
    (0..2).map(|_| once()).find(is_clear).unwrap_or_else(once)
}

#[test]
fn variants_of_a_file_are_rows_and_a_tier_that_grows_has_a_figure() {
    if !permitted() {
        return;
    }
    let (bench, called) = scaled();
    assert_eq!(called.code, 0, "{}", called.err);
    let found = called.json();
    let tagged = bench.expect(0, &["runs", "--tag", "exp=7", "--json"]).json();
    assert_eq!(tagged["runs"].as_array().unwrap().len(), 2);
    let refused = bench.expect(2, &["tiers", "last", "--tag", "exp=7"]);
    assert!(refused.err.contains("runs tag"), "{}", refused.err);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[1]["name"]), (2, &"two".into()));
    assert_eq!((&rows[0]["tiers"][0]["machines"], &rows[1]["tiers"][0]["machines"]), (&1.into(), &2.into()));
    assert!(scales_to_a_half(&found), "{}", rows[1]["efficiencies"]);
    assert_eq!(found["scalings"][0]["points"].as_array().unwrap().len(), 2);
    let figure = fs::read_to_string(bench.path("plimsoll-runs/fig_scaling_api.svg")).unwrap();
    assert!(figure.contains("Scaling of api") && figure.contains("machines"), "{figure}");
}

#[test]
fn hosts_that_take_part_in_turn_are_started_once() {
    if !permitted() {
        return;
    }
    let bench = Bench::new();
    let (one, two) = SCALED.split_once("[[variant]]").unwrap();
    let two = two.split_once("[[variant.host]]").unwrap().1;
    let started = "run = [\"echo up >> ${dir}/starts; exec ";
    let text = format!(
        "with = [\"api1\"]\n{one}[[host]]{two}[[variant]]\nname = \"two\"\nwith = [\"api1\", \"api2\"]\n"
    );
    fs::write(bench.path("scaled.toml"), text.replace("run = [\"exec ", started)).unwrap();
    let once = || {
        let found = bench.expect(0, &["tiers", "-f", "scaled.toml", "--no-figures", "--json"]).json();
        let starts = fs::read_to_string(bench.path("starts")).unwrap();
        assert_eq!(starts.lines().count(), 2, "one lab of two hosts");
        fs::remove_file(bench.path("starts")).unwrap();
        found
    };
    let machines = |found: &Value| [0, 1].map(|row| found["rows"][row]["tiers"][0]["machines"].as_u64());
    // On a busy machine a host may not be sampled in a run as short as these.
    let is_sampled = |found: &Value| machines(found).iter().all(Option::is_some);
    let found = (0..2).map(|_| once()).find(is_sampled).unwrap_or_else(once);
    assert_eq!(machines(&found), [Some(1), Some(2)], "{}", found["rows"]);
}

#[test]
fn a_run_that_ctrl_c_cut_short_is_not_compared() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let text = format!(
        "name = \"cut\"\n[target]\nurl = \"{}\"\n[load]\nladder = [1]\nstep = \"600ms\"\n\
         [[variant]]\nname = \"long\"\nload.ladder = [1, 2, 3, 4, 5, 6, 7, 8]\n",
        target.url("/healthz")
    );
    fs::write(bench.path("cut.toml"), text).unwrap();
    let mut command = bench.command(&["tiers", "-f", "cut.toml", "--json"]);
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("(2 of 2)")), "the second run begins");
    assert!(lines.any(|line| line.contains("requests/s")), "a step of it has ended");
    let mut kill = Command::new("kill");
    assert!(kill.args(["-s", "INT", &child.id().to_string()]).status().unwrap().success());
    let shown: Vec<String> = lines.collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{shown:?}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&Value> = found["rows"].as_array().unwrap().iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["cut"], "{found}");
}

#[test]
fn recorded_runs_are_laid_side_by_side() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    bench.expect(0, &["sweep", &target.url("/healthz"), "--ladder", "1,2", "--step", "1s", "--quiet"]);
    let file = bench.run_file("plimsoll-runs").to_str().unwrap().to_owned();
    let text = bench.expect(0, &["tiers", &file]).out;
    assert!(text.contains("QPS") && text.contains("what limits"), "{text}");
    bench.expect(2, &["tiers"]);
    bench.expect(1, &["tiers", "absent.plimsoll"]);
}
