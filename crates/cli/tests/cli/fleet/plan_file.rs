//! `[fleet]` in plan files.

use super::{Fleet, due_and_completed};
use crate::bench::{Bench, Target};

fn write_plan(bench: &Bench, target: &Target, fleet: &str) {
    let text =
        format!("[target]\nurl = \"{}\"\n[load]\nrate = 100\nstep = \"1s\"\n{fleet}\n", target.url("/"));
    std::fs::write(bench.path("plan.toml"), text).unwrap();
}

#[test]
fn a_plan_file_names_the_fleet_that_makes_its_load() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "2"]);
    let address = &fleet.address;
    // The keys are named as seen from the plan file, as from another folder none are found by themselves.
    std::fs::create_dir(bench.path("plans")).unwrap();
    let keys = "../plimsoll-fleet/keys";
    let fleet_of_file = format!(
        "[fleet]\nat = \"{address}\"\nagents = 2\ncredentials = \"{keys}/conductor.creds\"\nkey = \"{keys}/conductor.nk\""
    );
    write_plan(&bench, &target, &fleet_of_file);
    std::fs::rename(bench.path("plan.toml"), bench.path("plans/plan.toml")).unwrap();
    let run = ["run", "-f", "plans/plan.toml", "--json", "--no-probe", "--quiet"];
    let made = bench.expect(0, &run).json();
    assert_eq!(due_and_completed(&made), (100, 100));
    let generators = made["fleet"][0]["generators"].as_array().unwrap();
    assert_eq!(generators.len(), 2, "{generators:?}");

    // A flag counts before the file.
    let nowhere = fleet_of_file.replace(address.as_str(), "nats://127.0.0.1:1");
    write_plan(&bench, &target, &nowhere.replace("../", ""));
    let run = ["run", "-f", "plan.toml", "--json", "--no-probe", "--quiet"];
    let unreachable = bench.expect(1, &run).err;
    assert!(unreachable.contains("could not connect to the broker at nats://127.0.0.1:1"), "{unreachable}");
    let by_flag = bench.expect(0, &[&run[..], &["--fleet", address]].concat()).json();
    assert_eq!(due_and_completed(&by_flag), (100, 100));
}

#[test]
fn what_is_wrong_about_a_fleet_is_an_error_before_anything_is_done() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    for (fleet, expected) in [
        ("agents = 2", "`fleet.at` is missing"),
        ("at = \"127.0.0.1\"", "`fleet.at` of the plan file: \"127.0.0.1\" is no address of a broker"),
        ("at = \"nats://127.0.0.1:1\"\non_loss = \"stop\"", "did you mean `on-loss`?"),
        ("at = \"nats://127.0.0.1:1\"\non-loss = \"wait\"", "`fleet.on-loss` is `wait`"),
        ("at = \"nats://127.0.0.1:1\"\nname = \"a.b\"", "`fleet.name` of the plan file"),
    ] {
        write_plan(&bench, &target, &format!("[fleet]\n{fleet}"));
        let error = bench.expect(2, &["run", "-f", "plan.toml"]).err;
        assert!(error.contains(expected), "{fleet}: {error}");
    }
    write_plan(&bench, &target, "[fleet]\nat = \"nats://127.0.0.1:1\"");
    let elsewhere = bench.expect(2, &["tiers", "-f", "plan.toml"]).err;
    assert!(elsewhere.contains("has [fleet]"), "{elsewhere}");
    let alone = bench.expect(2, &["run", &target.url("/"), "--agents", "2"]).err;
    assert!(alone.contains("--agents needs a fleet"), "{alone}");
}
