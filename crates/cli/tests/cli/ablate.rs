//! `plimsoll ablate`: of published tables, and of switches of a server that is there.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::bench::{Bench, Called, Target};

fn filters() -> Value {
    let table = format!("{}/tests/cases/filters-ablation.csv", env!("CARGO_MANIFEST_DIR"));
    let switches = "switch=memcached,local_cache,perf_record,log,whitelist";
    let args =
        ["ablate", "--csv", &table, "--map", switches, "--map", "qps=qps", "--map", "group=step", "--json"];
    Bench::new().expect(0, &args).json()
}

fn cost<'a>(ledger: &'a Value, switch: &str) -> &'a Value {
    ledger["costs"].as_array().unwrap().iter().find(|cost| cost["switch"] == switch).unwrap()
}

#[test]
fn the_published_filters_cost_what_their_report_concludes() {
    let found = filters();
    let start = &found["ledgers"][0];
    assert_eq!(start["state"], "start");
    let order: Vec<&str> =
        start["costs"].as_array().unwrap().iter().map(|cost| cost["switch"].as_str().unwrap()).collect();
    // The calls to other services cost, the log most; the caches save.
    assert_eq!(order, ["log", "whitelist", "perf_record", "local_cache", "memcached"]);
    let us = |switch: &str| cost(start, switch)["cost_us"].as_f64().unwrap();
    assert!((us("log") - 2833.0).abs() < 1.0 && (us("perf_record") - 1267.0).abs() < 1.0);
    assert!(us("memcached") < -1500.0);
    // A call for the whitelist costs 1.04 ms by itself and twice that with the other two.
    let contexts = cost(start, "whitelist")["contexts"].as_array().unwrap();
    let costs: Vec<f64> = contexts.iter().map(|context| context["cost_us"].as_f64().unwrap()).collect();
    assert!(
        costs.iter().any(|cost| (cost - 1044.0).abs() < 1.0)
            && costs.iter().any(|cost| (cost - 2083.0).abs() < 1.0)
    );
    // Nothing was run twice, so that nothing is claimed to interact.
    assert_eq!((&start["noise"], start["interactions"].as_array().unwrap().len()), (&Value::Null, 0));
    assert_eq!(start["order"][0]["switch"], "log");
}

#[test]
fn the_steps_of_the_report_are_replayed() {
    let found = filters();
    let step = |to: &str, on: usize| {
        let steps = found["steps"].as_array().unwrap();
        steps
            .iter()
            .find(|step| step["to"] == to && step["on"].as_array().unwrap().len() == on)
            .unwrap()
            .clone()
    };
    let whitelist = step("2 whitelist cached 10 s", 3);
    assert!((whitelist["before_us"].as_f64().unwrap() - 1111.0).abs() < 1.0, "{whitelist}");
    assert!((whitelist["after_us"].as_f64().unwrap() - 90.9).abs() < 0.1, "{whitelist}");
    let last = step("4 log batched 200", 5);
    assert_eq!(
        (&last["from"], last["after_us"].as_f64().unwrap().round() as i64),
        (&"4 log batched 100".into(), 100)
    );
}

#[test]
fn a_table_reads_as_text_and_a_usage_error_says_what_is_wrong() {
    let bench = Bench::new();
    fs::write(bench.path("t.csv"), "cache,log,qps\n1,1,100\n1,0,200\n0,1,50\n0,0,x\n").unwrap();
    let ablate = |code: i32, maps: &[&str]| {
        let mut args = vec!["ablate", "--csv", "t.csv"];
        maps.iter().for_each(|map| args.extend(["--map", map]));
        bench.expect(code, &args)
    };
    assert!(ablate(2, &["switch=cache,log"]).err.contains("row 4"));
    assert!(ablate(2, &["switch=cash"]).err.contains("cache, log, qps"));
    assert!(ablate(2, &["colour=cache"]).err.contains("MEANING"));
    ablate(2, &[]);
    fs::write(bench.path("t.csv"), "cache,log,qps\n1,1,100\n1,0,200\n0,1,50\n").unwrap();
    let text = ablate(0, &["switch=cache,log"]).out;
    assert!(
        text.contains("−10,000") && text.contains("5,000") && text.contains("fix in this order: log"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

/// Two switches of the built-in target, of which one makes it burn CPU.
fn plan_of(target: &Target, more: &str) -> String {
    format!(
        "name = \"burn\"\n[target]\nurl = \"{}\"\n[load]\nladder = [4]\nstep = \"400ms\"\n\
         [[switch]]\nname = \"burn\"\nquery = {{ on = \"us=900\", off = \"us=100\" }}\n\
         [[switch]]\nname = \"label\"\nheader = \"X-Label: yes\"\n{more}",
        target.url("/cpu")
    )
}

/// Ablates until the document is clear, three times at most: a machine that stalls spoils runs as short as these. Gives the
/// folder of the last time as well.
fn ablated(plan: impl Fn(&Target) -> String, is_clear: impl Fn(&Value) -> bool) -> (Bench, Called) {
    let once = || {
        let bench = Bench::new();
        let target = Target::start(&bench);
        fs::write(bench.path("burn.toml"), plan(&target)).unwrap();
        let args = ["ablate", "-f", "burn.toml", "--rounds", "2", "--seed", "3", "--tag", "exp=7", "--json"];
        let called = bench.call(&args);
        (bench, called)
    };
    let is_over = |(_, called): &(Bench, Called)| called.code == 0 && is_clear(&called.json());
    (0..2).map(|_| once()).find(is_over).unwrap_or_else(once)
}

/// The switch that costs most.
fn dearest(found: &Value) -> &Value {
    &found["ledgers"][0]["costs"][0]
}

#[test]
fn a_switch_that_burns_cpu_is_the_dearest_and_everything_is_kept() {
    let burns = |found: &Value| {
        dearest(found)["switch"] == "burn" && dearest(found)["cost_us"].as_f64() > Some(100.0)
    };
    let (bench, called) = ablated(|target| plan_of(target, ""), burns);
    assert_eq!(called.code, 0, "{}", called.err);
    let tagged = bench.expect(0, &["runs", "--tag", "exp=7", "--json"]).json();
    assert_eq!(tagged["runs"].as_array().unwrap().len(), 8);
    let found = called.json();
    let ledger = &found["ledgers"][0];
    assert_eq!((&ledger["design"], &found["connections"]), (&"full".into(), &4.0.into()));
    assert_eq!(ledger["costs"][0]["switch"], "burn");
    // 800 µs more of CPU, on one core or on several.
    assert!(ledger["costs"][0]["cost_us"].as_f64().unwrap() > 100.0, "{ledger}");
    assert!(ledger["noise"].as_f64().unwrap() > 0.0);
    assert!(called.err.contains("8 of 8") && called.err.contains("round 2"), "{}", called.err);
    let files = |ending: &str| {
        let entries = fs::read_dir(bench.path("plimsoll-runs")).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.to_str().unwrap().ends_with(ending));
        paths
    };
    assert_eq!((files(".plimsoll").len(), files(".ablation.svg").len()), (8, 1));
    // The table that was written on the way tells the same again.
    let table = files(".ablation.csv")[0].to_str().unwrap().to_owned();
    let again = bench.expect(0, &["ablate", "--csv", &table, "--json"]).json();
    assert_eq!(again["ledgers"][0]["costs"], ledger["costs"]);
}

/// The step between two states with the switch `burn` on.
fn burning(found: &Value) -> &Value {
    let mut steps = found["steps"].as_array().unwrap().iter();
    steps.find(|step| step["on"] == serde_json::json!(["burn"])).unwrap()
}

fn is_faster(step: &Value) -> bool {
    step["before_us"].as_f64() > step["after_us"].as_f64()
}

#[test]
fn variants_are_states_with_ledgers_of_their_own_and_the_step_between_them_is_explained() {
    let variant = "[[variant]]\nname = \"fixed\"\ncombinations = [[\"burn\"], []]\n[[variant.switch]]\nname = \"burn\"\n\
        query.on = \"us=200\"\n";
    let plan =
        |target: &Target| plan_of(target, variant).replace("us=900", "us=2000").replace("400ms", "200ms");
    let (bench, called) = ablated(plan, |found| is_faster(burning(found)));
    assert_eq!(called.code, 0, "{}", called.err);
    assert!(called.err.contains("2 states of it, 6 combinations in each of 2 rounds"), "{}", called.err);
    let found = called.json();
    let states: Vec<_> = found["ledgers"].as_array().unwrap().iter().map(|ledger| &ledger["state"]).collect();
    assert_eq!(states, ["burn", "fixed"]);
    let counts = |ledger: usize| found["ledgers"][ledger]["cells"].as_array().unwrap().len();
    assert_eq!((counts(0), counts(1)), (4, 2));
    assert_eq!(found["ledgers"][1]["costs"].as_array().unwrap().len(), 1, "the label has no cost");
    let burning = burning(&found);
    assert_eq!((&burning["from"], &burning["to"]), (&"burn".into(), &"fixed".into()));
    assert_eq!(found["steps"].as_array().unwrap().len(), 2);
    assert!(is_faster(burning), "{burning}");
    let tables = fs::read_dir(bench.path("plimsoll-runs")).unwrap().map(|entry| entry.unwrap().path());
    let table =
        tables.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "csv")).unwrap();
    let again = bench.expect(0, &["ablate", "--csv", table.to_str().unwrap(), "--json"]).json();
    assert_eq!((&again["steps"], &again["ledgers"]), (&found["steps"], &found["ledgers"]));
}

#[test]
fn a_run_that_fails_is_reported_and_costs_only_itself() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let failing = "[[switch]]\nname = \"bad\"\ncommand = { on = \"test -e no-such-file\", off = \"true\" }\n";
    fs::write(bench.path("burn.toml"), plan_of(&target, failing).replace("400ms", "200ms")).unwrap();
    let called = bench.call(&["ablate", "-f", "burn.toml", "--rounds", "1", "--seed", "1", "--json"]);
    assert_eq!(called.code, 1, "{}", called.err);
    assert!(called.err.contains("test -e no-such-file"), "{}", called.err);
    assert!(!called.json()["ledgers"][0]["cells"].as_array().unwrap().is_empty());
}

/// One switch, whose positions are commands that say so.
fn spoken(target: &Target, step: &str) -> String {
    format!(
        "name = \"spoken\"\n[target]\nurl = \"{}\"\n[load]\nladder = [1]\nstep = \"{step}\"\n\
         [[switch]]\nname = \"a\"\ncommand = {{ on = \"echo turned on\", off = \"echo turned off\" }}\n",
        target.url("/healthz")
    )
}

#[test]
fn what_commands_print_is_not_in_the_document() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    fs::write(bench.path("spoken.toml"), spoken(&target, "200ms")).unwrap();
    let called = bench.expect(0, &["ablate", "-f", "spoken.toml", "--rounds", "1", "--json"]);
    assert_eq!(called.json()["ledgers"][0]["cells"].as_array().unwrap().len(), 2);
    assert!(called.err.contains("turned on\n") && called.err.contains("turned off\n"), "{}", called.err);
    let refused = bench.expect(2, &["ablate", "-f", "spoken.toml", "--rounds", "0"]);
    assert!(refused.err.contains("--rounds"), "{}", refused.err);
}

#[test]
fn ctrl_c_before_the_first_trial_has_ended_is_an_interruption() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    fs::write(bench.path("spoken.toml"), spoken(&target, "60s")).unwrap();
    let mut command = bench.command(&["ablate", "-f", "spoken.toml"]);
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("target ")), "the load begins");
    let mut kill = Command::new("kill");
    assert!(kill.args(["-s", "INT", &child.id().to_string()]).status().unwrap().success());
    let shown: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{shown:?}");
    assert!(!shown.iter().any(|line| line.contains("can be used")), "{shown:?}");
}

#[test]
fn a_file_without_switches_or_with_a_rate_is_refused() {
    let bench = Bench::new();
    fs::write(bench.path("a.toml"), "[target]\nurl = \"http://127.0.0.1:1/\"\n").unwrap();
    assert!(bench.expect(2, &["ablate", "-f", "a.toml"]).err.contains("[[switch]]"));
    fs::write(
        bench.path("b.toml"),
        "[target]\nurl = \"http://127.0.0.1:1/\"\n[load]\nrate = 5\n[[switch]]\nname = \"a\"\nquery = \"a=1\"\n",
    )
    .unwrap();
    assert!(bench.expect(2, &["ablate", "-f", "b.toml"]).err.contains("ladder = [64]"));
}
