//! `plimsoll explain`, of run files and of tables of measurements.

use serde_json::Value;

use crate::bench::{Bench, Target};

/// A published table.
pub(crate) fn case(name: &str) -> String {
    format!("{}/tests/cases/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// What is found in a table, as JSON.
fn explained(name: &str, maps: &[&str]) -> Value {
    let file = case(name);
    let mut args = vec!["explain", "--csv", &file, "--json"];
    maps.iter().for_each(|map| args.extend(["--map", map]));
    let found = Bench::new().expect(0, &args).json();
    satisfies(&found, include_str!("../../../../docs/table.schema.json"));
    found
}

/// Every document is as its published schema says.
pub(crate) fn satisfies(document: &Value, schema: &str) {
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

const TWO_APIS: [&str; 7] = [
    "label=case",
    "qps=through_nginx_qps",
    "connections=connections",
    "sleep_ms=sleep_ms",
    "api1.qps=api1_qps",
    "api2.qps=api2_qps",
    "front=nginx",
];

#[test]
fn two_apis_behind_nginx_have_pools_of_32_until_nginx_stops_them() {
    let found = explained("nginx-two-apis.csv", &TWO_APIS);
    let verdict = |row: usize| &found["rows"][row]["verdict"];
    for row in [0, 1] {
        assert_eq!(verdict(row)["limit"], "pool");
        let size = verdict(row)["size"].as_f64().unwrap();
        assert!((31.0..=32.5).contains(&size), "{size}");
        assert!(verdict(row)["text"].as_str().unwrap().contains("each of api1 and api2"));
    }
    for row in [2, 3] {
        assert_eq!(verdict(row)["where"], "nginx");
        assert_eq!(verdict(row)["limit"], "unknown", "the table holds no figure of nginx's resources");
    }
    let conclusions = found["conclusions"].to_string();
    assert!(conclusions.contains("nginx carries about 12,3"), "{conclusions}");
    assert!(
        conclusions.contains("double what one carries: 1 (200 ms) (×2.00 of one), 2 (70.0 ms)"),
        "{conclusions}"
    );
    assert!(
        conclusions.contains("do not double what one carries: 3 (2.00 ms) (×1.31 of one"),
        "{conclusions}"
    );
    assert!(conclusions.contains("4 (not held) (×0.66 of one"), "{conclusions}");
    // Together the two alone carry nginx's 12,351/s somewhere between 70 and 2 ms.
    let even = &found["break_evens"][0];
    assert_eq!(even["front"], "nginx");
    assert!((3.5..4.0).contains(&even["held_ms"].as_f64().unwrap()), "{even}");
    assert!((6_100.0..6_250.0).contains(&even["each_per_sec"].as_f64().unwrap()), "{even}");
    assert!(conclusions.contains("Break-even at about 3."), "{conclusions}");
}

/// The columns of the published table of tiers; each test says what labels a row.
pub(crate) const TIERS: [&str; 14] = [
    "group=phase",
    "qps=qps",
    "load_machines=load_machines",
    "nginx.instances=nginx",
    "nginx.cpu_percent=nginx_cpu",
    "nginx.in_mbit=nginx_in_mbps",
    "nginx.out_mbit=nginx_out_mbps",
    "nginx.link_both_mbit=1500",
    "tomcat.instances=tomcat",
    "tomcat.cpu_percent=tomcat_cpu",
    "dubbo.instances=dubbo",
    "dubbo.cpu_percent=dubbo_cpu",
    "redis.instances=redis",
    "redis.core_percent=redis_cpu",
];

#[test]
fn every_tier_that_an_author_names_is_found_in_the_row_where_it_limits() {
    let found = explained("tiers-100k.csv", &[&TIERS[..], &["label=note"]].concat());
    let named = |row: usize| {
        let verdict = &found["rows"][row]["verdict"];
        format!("{} {}", verdict["limit"].as_str().unwrap(), verdict["where"].as_str().unwrap())
    };
    // Counted from 0 in the order of the file.
    let expected: [(&[usize], &str); 5] = [
        // "Not enough load": phase 3 with two Tomcats, phase 4 with eight.
        (&[5, 17], "none "),
        // Phase 2: a Tomcat alone holds 50K at 80 % and more load adds nothing; phases 3 and 4 until nginx's link is full.
        (&[2, 3, 4, 7, 14, 15, 16], "cpu tomcat"),
        // "Past 1500 Mbit/s": 70K and 71K in phases 4 and 5.
        (&[18, 19, 22, 23], "bandwidth nginx"),
        // Redis at 100 %, one to three instances, reading.
        (&[25, 26, 27, 28, 29], "thread redis"),
        // Writing.
        (&[32, 33, 34], "thread redis"),
    ];
    for (rows, limit) in expected {
        rows.iter()
            .for_each(|row| assert_eq!(named(*row), limit, "row {row}: {}", found["rows"][*row]["label"]));
    }
    // One Dubbo holds 29K at 85 %; with five Redis it queues at 80 %. More load was not tried, so that it is a candidate.
    for row in [21, 30, 31] {
        let also = &found["rows"][row]["verdict"]["also"];
        assert!(also.as_array().unwrap().iter().any(|one| one["where"] == "dubbo"), "row {row}: {also}");
    }
    // At 100K the link of nginx carries 94 % of what it can, as far as nothing else was found full in another row.
    assert_eq!(found["rows"][24]["verdict"]["next_limit"]["where"], "nginx");
}

#[test]
fn a_mean_that_is_none_is_found_by_littles_law() {
    let maps = ["label=server", "qps=qps", "connections=connections", "rt_ms=rt_ms"];
    let found = explained("api-vs-native.csv", &maps);
    let law = &found["rows"][0]["littles_law"];
    assert_eq!(law["connections"], 30_000.0);
    assert!(law["under_way"].as_f64().unwrap() > 38_000.0);
    assert_eq!(found["rows"][1]["littles_law"], Value::Null);
}

#[test]
fn a_table_reads_as_text_and_what_is_mistyped_is_a_usage_error() {
    let bench = Bench::new();
    let file = case("nginx-two-apis.csv");
    let mut args = vec!["explain", "--csv", &file];
    TWO_APIS.iter().for_each(|map| args.extend(["--map", map]));
    let text = bench.expect(0, &args).out;
    assert!(text.contains("a pool of about 32 workers") && text.contains("Together the rows say"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let column = bench.expect(2, &["explain", "--csv", &file, "--map", "qps=throughput"]);
    assert!(column.err.contains("through_nginx_qps"), "{}", column.err);
    bench.expect(2, &["explain", "--csv", &file, "--map", "speed=case"]);
    std::fs::write(bench.path("names.csv"), "name,colour\na,red\n").unwrap();
    let nothing = bench.expect(2, &["explain", "--csv", "names.csv"]);
    assert!(nothing.err.contains("name, colour"), "{}", nothing.err);
    bench.expect(2, &["explain"]);
    bench.expect(1, &["explain", "--csv", "absent.csv", "--map", "qps=x"]);
}

#[test]
fn a_table_is_read_by_its_headers_and_what_is_not_read_is_named() {
    let bench = Bench::new();
    let table = "Clients,Requests/sec,Avg latency,API CPU\n1,\"1,000\",1ms,20%\n8,4.0k,2ms,much\n16,-,,\n64,4.1k,15.6ms,97%\n";
    std::fs::write(bench.path("t.csv"), table).unwrap();
    let found = bench.expect(0, &["explain", "--csv", "t.csv", "--json"]).json();
    satisfies(&found, include_str!("../../../../docs/table.schema.json"));
    let guessed: Vec<String> =
        found["guessed"].as_array().unwrap().iter().map(|one| one["meaning"].to_string()).collect();
    assert_eq!(guessed, ["\"qps\"", "\"connections\"", "\"rt_ms\"", "\"api.cpu_percent\""]);
    assert_eq!(found["left_out"], serde_json::json!([3]));
    assert!(found["reading"].to_string().contains("much"), "{}", found["reading"]);
    let verdict = &found["rows"][2]["verdict"];
    assert_eq!((verdict["limit"].as_str(), verdict["where"].as_str()), (Some("cpu"), Some("api")));
}

#[test]
fn a_recorded_run_is_explained_with_the_verdict_it_had() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let args = ["sweep", &target.url("/sleep?ms=2&workers=2"), "--ladder", "1,2,4", "--step", "1s", "--json"];
    let live = bench.expect(0, &args).json();
    let file = bench.run_file("plimsoll-runs").to_str().unwrap().to_owned();
    let again = bench.expect(0, &["explain", &file, "--json"]).json();
    assert_eq!(again["verdict"], live["verdict"]);
    satisfies(&again, include_str!("../../../../docs/explanation.schema.json"));
    let text = bench.expect(0, &["explain", &file]).out;
    assert!(text.starts_with("What limits it:") && text.contains("Evidence"), "{text}");
}
