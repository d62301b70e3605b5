//! `plimsoll overload`: what becomes of a target beyond what it holds.

use serde_json::Value;

use crate::bench::{Bench, Target};
use crate::https::schema_errors;

/// Overloads a target that serves 200 requests a second, for a second each.
fn overload(bench: &Bench, url: &str, more: &[&str]) -> crate::bench::Called {
    let mut line = vec![
        "overload",
        url,
        "--rate",
        "150",
        "--factors",
        "2",
        "--hold",
        "1s",
        "--watch",
        "3s",
        "--p99",
        "200ms",
    ];
    line.extend(more);
    bench.call(&line)
}

/// The factor and the onset of each step of the newest run, as the page labels them.
fn steps_on_the_page(bench: &Bench) -> Vec<(f64, Value)> {
    bench.expect(0, &["report", "last", "--html", "page.html"]);
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"plimsoll\">").unwrap();
    let document: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    let steps = document["runs"][0]["timeline"]["steps"].as_array().unwrap();
    steps.iter().map(|step| (step["overload_factor"].as_f64().unwrap(), step["onset"].clone())).collect()
}

#[test]
fn an_overload_is_recorded_and_the_report_says_the_same_again() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    // Four workers of 20 ms each: no more than 200 requests a second, however fast the machine is.
    let called = overload(&bench, &target.url("/sleep?ms=20&workers=4"), &["--json"]);
    let document = called.json();
    assert_eq!(schema_errors(&document), [""; 0]);
    let found = &document["overload"];
    assert_eq!((&found["rate_per_sec"], &found["limit_ms"]), (&Value::from(150.0), &Value::from(200.0)));
    let steps = found["steps"].as_array().unwrap();
    let onsets: Vec<&Value> = steps.iter().map(|step| &step["onset"]).collect();
    assert_eq!(onsets, ["jump", "ramp"]);
    for step in steps {
        let per_sec = |phase: &str, name: &str| step[phase][name].as_f64().unwrap();
        assert_eq!(per_sec("settled", "offered_per_sec"), 300.0);
        assert!(step["whole"]["due"].as_u64().unwrap() > 150, "{step}");
        // Twice that in half a second by chance would be a wonder.
        assert!(per_sec("settled", "goodput_per_sec") < 400.0, "{step}");
    }
    // The rate itself is the load of the run; the overloads are not among its steps.
    assert_eq!(document["steps"].as_array().unwrap().len(), 1);
    let class = found["class"].as_str().unwrap();
    let expected = match class {
        "graceful" | "degrades" => 0,
        "collapses" | "metastable" => 3,
        _ => 4,
    };
    assert_eq!(called.code, expected, "{class}: {}", called.err);
    let again = bench.expect(0, &["report", "last", "--json"]).json();
    assert_eq!(again["overload"], *found);
    let labelled = steps_on_the_page(&bench);
    assert_eq!(labelled, [(1.0, Value::Null), (2.0, "jump".into()), (2.0, "ramp".into())]);
    let full = bench.expect(0, &["report", "last", "--full"]).out;
    assert!(full.contains("Goodput in the second half of each overload"), "{full}");
    let settings = bench.expect(0, &["report", "last", "--snippet", "nginx"]).out;
    assert!(
        settings.contains("rate=150r/s") && settings.lines().all(|line| line.starts_with(['#', 'l'])),
        "{settings}"
    );
    the_rate_of_the_newest_run_is_of_its_target(&bench, &target.url("/sleep?ms=20&workers=4"));
}

/// The newest run shows that 150 requests a second hold within 200 ms.
fn the_rate_of_the_newest_run_is_of_its_target(bench: &Bench, url: &str) {
    let other = bench.expect(2, &["overload", "http://127.0.0.1:1/", "--rate", "last"]);
    let reason = "not 127.0.0.1:1; give --rate 150 if you mean it";
    assert!(other.err.contains("loaded 127.0.0.1:") && other.err.contains(reason), "{}", other.err);
    // Refused after what is said of the overload, and before the load.
    let refused = |p99: &str| {
        let line =
            ["overload", url, "--rate", "last", "--p99", p99, "--no-files", "--store", "postgres://a@b/c"];
        bench.expect(2, &line).err
    };
    let same = refused("200ms");
    assert!(same.contains("with up to 2 times the 150 requests/s of plimsoll-runs/"), "{same}");
    assert!(!same.contains("goodput counts here"), "{same}");
    let looser = refused("300ms");
    assert!(
        looser.contains("holds with p99 ≤ 200 ms, and goodput counts here with p99 ≤ 300 ms"),
        "{looser}"
    );
}

#[test]
fn what_would_hide_an_overload_is_named_before_the_load() {
    let bench = Bench::new();
    let remarks = |more: &[&str]| {
        let mut line = vec!["overload", "http://127.0.0.1:1/", "--rate", "100", "--p99", "2s"];
        line.extend(more);
        bench.expect(1, &line).err
    };
    let short = remarks(&["--hold", "5s"]);
    assert!(
        short.contains("with up to 2 times 100 requests/s") && short.contains("give --hold 20s"),
        "{short}"
    );
    let impatient = remarks(&["--timeout", "1s"]);
    assert!(impatient.contains("--timeout 1.00 s is below the limit of 2.00 s"), "{impatient}");
    let usual = remarks(&[]);
    assert!(!usual.contains("--hold") && !usual.contains("--timeout"), "{usual}");
}

#[test]
fn the_target_is_named_before_it_is_overloaded_and_settings_come_alone() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let called =
        overload(&bench, &target.url("/sleep?ms=20&workers=4"), &["--snippet", "haproxy", "--no-files"]);
    assert!(called.err.contains("this overloads 127.0.0.1:"), "{}", called.err);
    assert!(called.out.starts_with("# Protects http://127.0.0.1:"), "{}", called.out);
    assert!(called.out.contains("It holds 150 requests/s"), "{}", called.out);
}

#[test]
fn what_makes_no_overload_is_refused_before_the_load() {
    let bench = Bench::new();
    let refused = |more: &[&str], reason: &str| {
        let mut line = vec!["overload", "http://127.0.0.1:1/"];
        line.extend(more);
        let called = bench.expect(2, &line);
        assert!(called.err.contains(reason), "{}", called.err);
    };
    refused(&["--rate", "100", "--factors", "0.5"], "above 1");
    refused(&["--rate", "100", "--base", "95%"], "0.85");
    refused(&["--rate", "100", "--snippet", "apache"], "nginx, envoy");
    refused(&["--rate", "100", "--hold", "10ms"], "1 s");
    refused(&["--rate", "740rps"], "`740rps` is no rate such as 740 or 2k");
}

#[test]
fn a_run_that_knows_no_rate_gives_no_settings() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    bench.expect(0, &["run", &target.url("/"), "-c", "1", "-n", "10"]);
    let refused = bench.expect(4, &["report", "last", "--snippet", "nginx"]);
    assert!(refused.err.contains("plimsoll search"), "{}", refused.err);
}
