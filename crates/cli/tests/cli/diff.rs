//! `plimsoll diff`.

use crate::bench::{Bench, Target};
use crate::explain::satisfies;

/// The figures that an engineer published for an API server and for bare net/http, shortened.
const SLOW: &str = "200 1000.00 10.00 100.00\n500 1368.00 20.00 100.00\n";
const FAST: &str = "200 9000.00 1.00 100.00\n500 10000.00 2.00 100.00\n1000 9900.00 4.00 99.00\n";

fn with_tables() -> Bench {
    let bench = Bench::new();
    std::fs::write(bench.path("api.dat"), SLOW).unwrap();
    std::fs::write(bench.path("http.dat"), FAST).unwrap();
    bench
}

#[test]
fn two_tables_are_compared_by_step_and_by_their_best() {
    let bench = with_tables();
    let called = bench.expect(0, &["diff", "api.dat", "http.dat", "--out", "out"]);
    assert!(called.out.contains("731.0 %") && called.out.contains("old: api. new: http."), "{}", called.out);
    for name in ["api_http.diff.png", "api_http.diff.svg"] {
        assert!(bench.path("out").join(name).exists(), "{name}");
    }
}

#[test]
fn beyond_the_margin_the_code_is_3() {
    let bench = with_tables();
    let compare = |a, b, margin, code| {
        bench.expect(code, &["diff", a, b, "--margin", margin, "--out", "out", "--force"]);
    };
    compare("http.dat", "api.dat", "5%", 3);
    compare("api.dat", "http.dat", "5%", 0);
    compare("http.dat", "api.dat", "0.9", 0);
}

#[test]
fn the_margin_decides_the_code_even_where_figures_cannot_be_written() {
    let bench = with_tables();
    let gate = |a, b, name, code| {
        bench.expect(code, &["diff", a, b, "--margin", "5%", "--out", "out", "--name", name])
    };
    let first = gate("http.dat", "api.dat", "worse", 3);
    let second = gate("http.dat", "api.dat", "worse", 3);
    assert_eq!(second.out, first.out);
    assert!(second.err.contains("exists") && second.err.contains("--name NAME"), "{}", second.err);
    gate("api.dat", "http.dat", "better", 0);
    gate("api.dat", "http.dat", "better", 1);
    assert!(bench.path("out/better.diff.png").exists());
    // A name that the user did not choose is used again.
    for _ in 0..2 {
        bench.expect(0, &["diff", "api.dat", "http.dat", "--out", "out"]);
    }
    let refused = bench.expect(2, &["diff", "api.dat", "http.dat", "--name", "../up"]);
    assert!(refused.err.contains("name"), "{}", refused.err);
}

#[test]
fn a_document_that_is_named_is_not_replaced_unless_that_is_asked_for() {
    let bench = with_tables();
    for flag in ["--markdown", "--html"] {
        std::fs::write(bench.path("mine"), "mine").unwrap();
        let diff = |code, more: &[&str]| {
            let sides = ["diff", "api.dat", "http.dat", "--out", "out", flag, "mine"];
            bench.expect(code, &[&sides, more].concat())
        };
        let refused = diff(1, &["--margin", "5%"]);
        assert!(refused.err.contains("mine exists") && refused.out.is_empty(), "{}", refused.err);
        assert_eq!(std::fs::read_to_string(bench.path("mine")).unwrap(), "mine");
        diff(0, &["--force"]);
        assert_ne!(std::fs::read_to_string(bench.path("mine")).unwrap(), "mine");
        // The usual name is that of the same comparison.
        for _ in 0..2 {
            bench.expect(0, &["diff", "api.dat", "http.dat", "--out", "out", flag]);
        }
        // That with a name of the user's is refused before anything is printed.
        let named =
            ["diff", "api.dat", "http.dat", "--out", "out", "--name", flag.trim_start_matches('-'), flag];
        bench.expect(0, &named);
        let refused = bench.expect(1, &named);
        assert!(refused.err.contains("exists") && refused.out.is_empty(), "{}", refused.err);
    }
}

#[test]
fn without_files_a_diff_writes_nothing() {
    let bench = with_tables();
    let called = bench.expect(0, &["diff", "api.dat", "http.dat", "--margin", "5%", "--no-files"]);
    assert_eq!(called.err, "");
    assert!(
        called.out.contains("not shown to be worse than old by more than the margin of 5 %"),
        "{}",
        called.out
    );
    assert_eq!(std::fs::read_dir(bench.folder()).unwrap().count(), 2, "the two tables alone");
}

#[test]
fn sides_of_one_name_are_distinguished_by_their_folders() {
    let bench = Bench::new();
    for (folder, table) in [("a", SLOW), ("b", FAST)] {
        std::fs::create_dir(bench.path(folder)).unwrap();
        std::fs::write(bench.path(folder).join("x.dat"), table).unwrap();
    }
    let called = bench.expect(0, &["diff", "a/x.dat", "b/x.dat", "--out", "out"]);
    assert!(called.out.contains("a/x") && called.out.contains("b/x"), "{}", called.out);
    assert!(bench.path("out/a-x_b-x.diff.png").exists());
}

#[test]
fn two_runs_are_compared_with_intervals() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    for (folder, path) in [("a", "/sleep?ms=40"), ("b", "/sleep?ms=2")] {
        let url = target.url(path);
        bench.expect(
            0,
            &["sweep", &url, "--ladder", "1,2", "--step", "2s", "--out", folder, "--name", folder],
        );
    }
    let (a, b) = (bench.run_file("a"), bench.run_file("b"));
    let called = bench.call(&["diff", b.to_str().unwrap(), a.to_str().unwrap(), "--margin", "10%"]);
    // On a busy machine the generator may hold a run back, whose throughput is a lower bound then.
    let is_bound = called.out.contains('≥');
    assert!(called.code == 3 || is_bound && called.code == 4, "{}{}", called.out, called.err);
    assert!(called.out.contains("one run each"), "what one pair cannot show is said: {}", called.out);
}

#[test]
fn a_bad_table_is_refused_by_line() {
    let bench = with_tables();
    std::fs::write(bench.path("bad.dat"), "200 1000.00 10.00 100.00\n500 many 20.00 100.00\n").unwrap();
    let called = bench.expect(1, &["diff", "bad.dat", "http.dat"]);
    assert!(called.err.contains("bad.dat") && called.err.contains("line 2"), "{}", called.err);
    let called = bench.expect(1, &["diff", "none.dat", "http.dat"]);
    assert!(called.err.contains("none.dat"), "{}", called.err);
}

#[test]
fn runs_of_different_loads_are_named_and_refused_if_asked_for() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=2");
    for (folder, load) in [("old", ["-c", "2"]), ("new", ["-R", "200"])] {
        bench.expect(0, &[&["run", &url], &load[..], &["-n", "60", "--no-probe", "-o", folder]].concat());
    }
    let (old, new) = (bench.run_file("old"), bench.run_file("new"));
    let diff = |code, more: &[&str]| {
        let sides = ["diff", old.to_str().unwrap(), new.to_str().unwrap(), "--no-files"];
        bench.expect(code, &[&sides, more].concat())
    };
    let called = diff(0, &[]);
    assert!(called.out.contains("Not comparable: the loads differ"), "{}", called.out);
    let document = diff(4, &["--strict", "--json"]).json();
    satisfies(&document, include_str!("../../../../docs/diff.schema.json"));
    let why = document["not_comparable"].as_array().unwrap();
    assert!(why.iter().any(|one| one["why"] == "load" && one["grave"] == true), "{document}");
    assert!(why.iter().all(|one| one["why"] != "machine" && one["why"] != "requests"), "{document}");
}

#[test]
fn another_number_of_connections_and_other_requests_are_not_comparable() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/healthz");
    let runs: [(&str, &[&str]); 4] = [
        ("old", &["-c", "4", "-H", "Authorization: 1", "-H", "Accept-Encoding: gzip"]),
        ("same", &["-c", "4", "-H", "Authorization: 2", "-H", "Accept-Encoding: gzip"]),
        ("fewer", &["-c", "1", "-H", "Authorization: 1", "-H", "Accept-Encoding: gzip"]),
        ("other", &["-c", "4", "-H", "Authorization: 1", "-H", "Accept-Encoding: br"]),
    ];
    for (folder, more) in runs {
        bench.expect(0, &[&["run", &url, "-n", "200", "--no-probe", "-o", folder], more].concat());
    }
    let differing = |folder| {
        let [old, new] = ["old", folder].map(|folder| bench.run_file(folder));
        let document = bench
            .call(&["diff", old.to_str().unwrap(), new.to_str().unwrap(), "--no-files", "--json"])
            .json();
        let why = document["not_comparable"].as_array().unwrap().clone();
        let settings = why.into_iter().filter(|one| one["side"].is_null());
        settings.map(|one| one["why"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(differing("same"), [""; 0], "a new token makes no other requests");
    assert_eq!(differing("fewer"), ["load"]);
    assert_eq!(differing("other"), ["requests"]);
    let [old, other] = ["old", "other"].map(|folder| bench.run_file(folder));
    let called = bench.expect(4, &["diff", old.to_str().unwrap(), other.to_str().unwrap(), "--strict"]);
    let said = called.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Send the same in both runs"), "{said}");
}

#[test]
fn a_strict_comparison_refuses_tables() {
    let bench = with_tables();
    let refused = bench.expect(2, &["diff", "api.dat", "http.dat", "--strict", "--no-files"]);
    assert!(refused.err.contains("api.dat") && refused.err.contains(".plimsoll"), "{}", refused.err);
}

#[test]
fn runs_too_short_for_an_interval_leave_a_margin_open() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    for (folder, path) in [("old", "/sleep?ms=1"), ("new", "/sleep?ms=20")] {
        // Ten intervals of 100 ms would have one.
        bench.expect(0, &["run", &target.url(path), "-c", "2", "-n", "20", "--no-probe", "-o", folder]);
    }
    let (old, new) = (bench.run_file("old"), bench.run_file("new"));
    let sides = ["diff", old.to_str().unwrap(), new.to_str().unwrap(), "--no-files"];
    let called = bench.expect(4, &[&sides, &["--margin", "5%"][..]].concat());
    assert!(called.out.contains("is too short to show how much"), "{}", called.out);
}

#[test]
fn the_requests_of_two_runs_are_named_without_the_values_of_their_queries() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    for (name, key) in [("old", "s3cret1"), ("new", "s3cret2")] {
        let url = target.url(&format!("/healthz?key={key}"));
        bench.expect(0, &["run", &url, "-n", "100", "--no-probe", "-o", name]);
    }
    let runs = ["old", "new"].map(|name| bench.run_file(name));
    let [old, new] = runs.each_ref().map(|path| path.to_str().unwrap());
    let diff = ["diff", old, new, "--html", "page.html", "--markdown", "page.md"];
    let text = bench.expect(0, &diff).out;
    assert!(text.contains("/healthz?key=…") && text.contains("hidden"), "{text}");
    let json = bench.expect(0, &["diff", old, new, "--json"]).out;
    let [page, markdown] =
        ["page.html", "page.md"].map(|name| std::fs::read_to_string(bench.path(name)).unwrap());
    for document in [text, json, page, markdown] {
        assert!(!document.contains("s3cret"), "{document}");
    }
}
