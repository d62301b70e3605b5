//! `plimsoll plan`, from tables of measurements and from recorded runs.

use serde_json::Value;

use crate::bench::Bench;
use crate::explain::{TIERS, case};
use crate::verdicts::unpacked;

/// A published table with the columns of its tiers.
fn tiers_args(more: &[&str]) -> Vec<String> {
    let table = case("tiers-100k.csv");
    let mut args: Vec<String> = ["plan", "--csv", &table, "--target", "100k"].map(ToOwned::to_owned).into();
    args.extend(
        TIERS.iter().chain(&["label=phase,note"]).flat_map(|map| ["--map".to_owned(), (*map).to_owned()]),
    );
    args.extend(more.iter().map(|text| (*text).to_owned()));
    args
}

fn planned(more: &[&str]) -> Value {
    let args = tiers_args(&[more, &["--json"]].concat());
    Bench::new().expect(0, &args.iter().map(String::as_str).collect::<Vec<_>>()).json()
}

fn tier<'a>(plan: &'a Value, name: &str) -> &'a Value {
    plan["tiers"].as_array().unwrap().iter().find(|tier| tier["tier"] == name).unwrap()
}

#[test]
fn from_rows_up_to_50k_the_link_of_one_nginx_stops_growth_first() {
    let plan = planned(&["--rows-to", "50k"]);
    let first = &plan["growth"]["stops"][0];
    assert_eq!(
        (&first["tier"], &first["limit"], &first["machines"]),
        (&"nginx".into(), &"bandwidth".into(), &1.0.into())
    );
    // The author saw it at 70K, when in and out were past what the link is sold for.
    let at = first["at_per_sec"].as_f64().unwrap();
    assert!((50_000.0..71_000.0).contains(&at), "{at}");
    let nginx = tier(&plan, "nginx");
    assert_eq!(
        (&nginx["machines"], &nginx["needs"][0]["limit"]),
        (&3.into(), &"bandwidth".into()),
        "as the author has it"
    );
}

#[test]
fn the_whole_table_gives_about_the_machines_that_its_author_gives() {
    let plan = planned(&[]);
    // 3 nginx, 10 Tomcat, 8 Dubbo, and several Redis by their one thread.
    for (name, limit, least, most) in [
        ("nginx", "bandwidth", 3, 3),
        ("tomcat", "cpu", 9, 13),
        ("dubbo", "cpu", 7, 9),
        ("redis", "thread", 5, 8),
    ] {
        let tier = tier(&plan, name);
        let machines = tier["machines"].as_u64().unwrap();
        assert!((least..=most).contains(&machines), "{name}: {machines}");
        assert_eq!(tier["needs"][0]["limit"], limit, "{name}");
        assert_eq!(tier["machines_with_spare"].as_u64().unwrap(), machines + 1);
    }
    // Rows with Dubbo on the machines of Tomcat and rows without do not agree on what a request costs there.
    assert!(tier(&plan, "tomcat")["doubts"].to_string().contains("differ in what a request costs"), "{plan}");
}

#[test]
fn a_group_can_be_picked_and_machines_changed() {
    let plan = planned(&[
        "--group",
        "4 business tomcat",
        "--what-if",
        "nginx.link=2x",
        "--what-if",
        "tomcat.cores=2x",
    ]);
    let machines = |plan: &Value, name: &str| tier(plan, name)["machines"].as_u64().unwrap();
    let changed = &plan["what_if"];
    assert_eq!(changed["change"], "nginx.link=2x, tomcat.cores=2x");
    assert!(machines(changed, "nginx") < machines(&plan, "nginx"));
    assert!(machines(changed, "tomcat").abs_diff(machines(&plan, "tomcat").div_ceil(2)) <= 1);
    assert_eq!(tier(&plan, "dubbo")["machines"], Value::Null, "no row of that group has a figure of it");
    let dropped = planned(&["--what-if", "nginx=drop"]);
    assert!(dropped["what_if"]["tiers"].as_array().unwrap().iter().all(|tier| tier["tier"] != "nginx"));
    assert!(dropped["what_if"]["remarks"].to_string().contains("Without nginx"));
}

#[test]
fn fuller_machines_are_fewer_and_the_text_says_why() {
    let count = |more: &[&str]| tier(&planned(more), "tomcat")["machines"].as_u64().unwrap();
    assert!(count(&["--utilisation", "90%"]) < count(&["--headroom", "50%"]));
    let args = tiers_args(&["--rows-to", "50k"]);
    let text = Bench::new().expect(0, &args.iter().map(String::as_str).collect::<Vec<_>>()).out;
    assert!(text.contains("growth stops first at nginx"), "{text}");
    assert!(text.contains("Mbit") || text.contains("Gbit/s"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn what_is_mistyped_is_a_usage_error() {
    let expect = |code: i32, more: &[&str]| {
        let args = tiers_args(more);
        Bench::new().expect(code, &args.iter().map(String::as_str).collect::<Vec<_>>()).err
    };
    assert!(expect(2, &["--what-if", "nginx.colour=2x"]).contains("TIER.cores=2x"));
    assert!(expect(2, &["--what-if", "caddy.cores=2x"]).contains("nginx, tomcat"));
    assert!(expect(2, &["--what-if", "tomcat.cores=8"]).contains("2x"));
    assert!(expect(2, &["--headroom", "100%"]).contains("headroom"));
    assert!(expect(1, &["--group", "9 absent"]).contains("4 business tomcat"));
    let bench = Bench::new();
    bench.expect(2, &["plan", "absent.plimsoll"]);
    bench.expect(1, &["plan", "absent.plimsoll", "--target", "1k"]);
}

#[test]
fn a_recorded_run_is_planned_by_what_was_seen_of_its_host() {
    let bench = Bench::new();
    // One host with 0.4 cores made 920 requests/s of 400 µs each.
    let file = unpacked("cpu-single", bench.folder());
    let plan = bench.expect(0, &["plan", &file, "--target", "100k", "--json"]).json();
    let tier = &plan["tiers"][0];
    let need = &tier["needs"][0];
    assert_eq!(need["resource"], "cpu", "{tier}");
    let per_request = need["per_request"].as_f64().unwrap();
    assert!((400e-6..450e-6).contains(&per_request), "{need}");
    // 100,000/s × 436 µs / (0.4 cores × 70 %).
    assert_eq!(tier["machines"], 156, "{tier}");
    let text = bench.expect(0, &["plan", &file, "--target", "100k"]).out;
    assert!(text.contains("a request takes"), "{text}");
}
