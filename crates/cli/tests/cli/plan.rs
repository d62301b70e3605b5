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
    assert!(expect(2, &["--group", "9 absent"]).contains("4 business tomcat"));
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

#[test]
fn given_machines_carry_what_their_resources_allow() {
    let bench = Bench::new();
    let file = unpacked("cpu-single", bench.folder());
    let found = bench.expect(0, &["plan", &file, "--machines", "api=3", "--json"]).json();
    let capacity = &found["capacity"];
    // One host made 920 requests/s.
    let per_sec = capacity["per_sec"].as_f64().unwrap();
    assert!((2_700.0..2_850.0).contains(&per_sec), "{capacity}");
    assert_eq!((&capacity["limits"][0]["resource"], &capacity["at_most"]), (&"cpu".into(), &false.into()));
    let held = capacity["held_per_sec"].as_f64().unwrap();
    assert!((held / per_sec - 0.7).abs() < 0.02, "{capacity}");
    let changed = bench
        .expect(0, &["plan", &file, "--machines", "api=1", "--what-if", "api.cores=2x", "--json"])
        .json();
    let changed = changed["what_if"]["capacity"]["per_sec"].as_f64().unwrap();
    assert!((1.5 * changed / per_sec - 1.0).abs() < 0.02, "twice the cores are as two machines: {changed}");
    let text = bench.expect(0, &["plan", &file, "--machines", "api=3"]).out;
    assert!(text.contains("stopped by api: the CPU of 3 machines"), "{text}");
    assert!(bench.expect(2, &["plan", &file, "--machines", "web=3"]).err.contains("there are api"));
    assert!(bench.expect(2, &["plan", &file, "--machines", "api=none"]).err.contains("TIER=N"));
    bench.expect(2, &["plan", &file, "--machines", "api=3", "--target", "1k"]);
    bench.expect(2, &["plan", &file]);
}

#[test]
fn a_price_gives_the_cost_of_an_hour_and_of_a_million_requests() {
    let bench = Bench::new();
    let file = unpacked("cpu-single", bench.folder());
    let with = |prices: &[&str]| {
        let prices = prices.iter().flat_map(|price| ["--price", price]);
        ["plan", &file, "--target", "100k"]
            .into_iter()
            .chain(prices)
            .map(ToOwned::to_owned)
            .collect::<Vec<_>>()
    };
    let call = |code: i32, prices: &[&str], more: &[&str]| {
        let args = with(prices);
        let args: Vec<&str> = args.iter().map(String::as_str).chain(more.iter().copied()).collect();
        bench.expect(code, &args)
    };
    let plan = call(0, &["api=$0.17/h"], &["--json"]).json();
    let per_hour = plan["cost"]["per_hour"].as_f64().unwrap();
    assert!((per_hour - 156.0 * 0.17).abs() < 1e-9, "{}", plan["cost"]);
    let per_million = plan["cost"]["per_million"].as_f64().unwrap();
    assert!((per_million - per_hour / 360.0).abs() < 1e-9, "100,000/s are 360 million an hour");
    assert!(call(0, &["api=$0.17/h"], &[]).out.contains("$26.52"));
    assert!(call(2, &["api=$1/h", "api@0.4=€1/h"], &[]).err.contains("different currencies"));
    assert!(call(2, &["web=1/h"], &[]).err.contains("there are api"));
    assert!(call(2, &["api@3=1/h"], &[]).err.contains("0.4 cores"));
    assert!(call(2, &["api=1"], &[]).err.contains("TIER=0.17/h"));
    // What a shell leaves of `api=$0.17/h` and `api=$1.20/h` without quotes.
    for cut in ["api=bash.17/h", "api=.20/h"] {
        assert!(call(2, &[cut], &[]).err.contains("single quotes"), "{cut}");
    }
    assert!(call(0, &["api@0.4=1/h"], &[]).out.contains("0.4 cores at 1.00"));
}

#[test]
fn a_curve_gives_the_machines_of_each_hour_and_their_figure() {
    let bench = Bench::new();
    let file = unpacked("cpu-single", bench.folder());
    let curve = bench.path("day.csv");
    std::fs::write(&curve, "time,qps\n00:00,500\n00:30,600\n01:00,600\n02:00,2k\n03:00,500\n").unwrap();
    let curve = curve.to_str().unwrap();
    let args = ["plan", &file, "--target", curve, "--price", "api=1/h"];
    let plan = bench.expect(0, &[&args[..], &["--json"]].concat()).json();
    let day = &plan["day"];
    let machines: Vec<u64> =
        day["hours"].as_array().unwrap().iter().map(|hour| hour["machines"][0].as_u64().unwrap()).collect();
    // 644/s a machine.
    assert_eq!(machines, [1, 1, 4, 1], "{day}");
    assert_eq!((&day["tiers"][0]["by_hour"], &day["tiers"][0]["constant"]), (&7.into(), &16.into()));
    assert_eq!((&day["cost"]["by_hour"], &day["cost"]["constant"]), (&7.0.into(), &16.0.into()));
    assert_eq!(plan["target_per_sec"], 2_000.0);
    let text = bench.expect(0, &[&args[..], &["-o", "drawn"]].concat()).out;
    assert!(text.contains("00:00 to 01:00, 2 hours"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let drawn = std::fs::read_dir(bench.path("drawn")).unwrap().count();
    assert_eq!(drawn, 2, "SVG and PNG");
    std::fs::write(bench.path("wrong.csv"), "time,qps\n00:00,500\n00:61,5\n").unwrap();
    assert!(bench.expect(2, &["plan", &file, "--target", "wrong.csv"]).err.contains("line 3: `00:61`"));
    std::fs::write(bench.path("wrong.csv"), "time,qps\n00:00,500\n01:00,2,100\n").unwrap();
    assert!(
        bench.expect(2, &["plan", &file, "--target", "wrong.csv"]).err.contains("line 3: it has 3 cells")
    );
    bench.expect(1, &["plan", &file, "--target", "absent.csv"]);
    assert!(bench.expect(2, &["plan", &file, "--target", "many"]).err.contains("no such file"));
    bench.expect(2, &["plan", &file, "--target", "1k", "-o", "drawn"]);
    assert!(
        bench.expect(2, &["plan", &file, "--target", "9000000G"]).err.contains("1e15 requests/s at most")
    );
}

#[test]
fn runs_of_different_requests_are_named_and_not_compared() {
    let bench = Bench::new();
    let (one, other) = (unpacked("cpu-single", bench.folder()), unpacked("link-out", bench.folder()));
    let plan = bench.expect(0, &["plan", &one, &other, "--target", "1k", "--json"]).json();
    let remarks = plan["remarks"].to_string();
    assert!(remarks.contains("2 kinds of requests") && remarks.contains("(link-out)"), "{remarks}");
    let tiers = bench.expect(0, &["tiers", &one, &other, "--no-figures"]).out;
    assert!(tiers.contains("Only runs of the same requests are compared"), "{tiers}");
}
