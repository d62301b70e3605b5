//! Agents on machines that can make different rates: their shares follow from what each was calibrated to.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use plimsoll_plan::Shares;
use serde_json::{Value, json};

use super::{Ended, Fleet, due_and_completed};
use crate::bench::{Bench, Called, Target};

/// What one worker can make on either machine.
const CEILINGS: [u64; 2] = [300, 100];

/// The only file in a cache, with its name.
fn calibration(cache: &Path) -> (PathBuf, Value) {
    let files = fs::read_dir(cache.join("plimsoll")).unwrap();
    let files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    (files[0].clone(), serde_json::from_slice(&fs::read(&files[0]).unwrap()).unwrap())
}

/// A cache with a calibration of this machine by which one worker can make so much.
pub(super) fn cache(bench: &Bench, measured: &Path, per_sec: u64) -> PathBuf {
    let (file, mut made) = calibration(measured);
    let second = 1_000_000_000_u64;
    made["closed"] = json!([{
        "workers": 1, "connections": 100, "completed": per_sec,
        "span_ns": second, "user_ns": second, "system_ns": 0, "starved_ns": 0,
    }]);
    let cache = bench.path(&format!("cache-{per_sec}"));
    fs::create_dir_all(cache.join("plimsoll")).unwrap();
    fs::write(cache.join("plimsoll").join(file.file_name().unwrap()), made.to_string()).unwrap();
    cache
}

/// Requests that fell due and connections that were open at most, for each worker of a run.
fn by_worker(file: &Path) -> Vec<(u64, u64)> {
    let run = rusqlite::Connection::open(file).unwrap();
    let sql = "SELECT sum(intended), max(connections) FROM frame GROUP BY worker ORDER BY worker";
    let mut rows = run.prepare(sql).unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// A cache with a calibration of this machine.
pub(super) fn measured(bench: &Bench) -> PathBuf {
    let measured = bench.path("measured");
    let mut calibrate = bench.command(&["calibrate", "--budget", "2s"]);
    let called = Called::from(calibrate.env("XDG_CACHE_HOME", &measured).output().unwrap());
    assert_eq!(called.code, 0, "{}", called.err);
    measured
}

#[test]
fn agents_of_different_ceilings_make_different_shares_and_are_judged_by_them() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let measured = measured(&bench);
    let caches = CEILINGS.map(|per_sec| cache(&bench, &measured, per_sec));

    let mut up = bench.command(&["fleet", "up", "--local", "1", "--calibrate"]);
    let up = Called::from(up.env("XDG_CACHE_HOME", &caches[0]).output().unwrap());
    assert_eq!(up.code, 0, "{}", up.err);
    assert!(
        up.err.contains("one worker can make 300 requests/s here, by a stored calibration"),
        "{}",
        up.err
    );
    let fleet = Fleet { bench: &bench, address: up.out.trim().to_owned() };
    bench.expect(0, &["fleet", "keys", "plimsoll-fleet/keys", "--agents", "slow"]);
    let mut slow =
        bench.command(&["agent", "--join", &fleet.address, "--name", "slow", "--allow", "127.0.0.1"]);
    slow.args(["--credentials", "plimsoll-fleet/keys/agents/slow.creds", "--calibrate"]);
    slow.env("XDG_CACHE_HOME", &caches[1]);
    let mut slow = Ended(slow.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = BufReader::new(slow.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    let known = said.next().unwrap();
    assert!(known.contains("one worker can make 100 requests/s here, by a stored calibration"), "{known}");
    let joins = said.next().unwrap();
    assert!(joins.contains("waits for runs"), "{joins}");

    let shares = Shares::by_ceiling(&CEILINGS.map(|per_sec| (1, Some(per_sec))));
    let url = target.url("/");
    let load = [url.as_str(), "-t", "1", "--agents", "2"];
    let run = fleet.run(&[&load[..], &["-R", "400", "-d", "2s", "--out", "open"]].concat());
    assert_eq!(due_and_completed(&run), (800, 800), "the shares of the schedule add up to it");
    let file = bench.run_file("open");
    let due: Vec<u64> = by_worker(&file).into_iter().map(|(due, _)| due).collect();
    let dealt = |worker| shares.portion(worker).dealt().take_while(|number| *number < 800).count() as u64;
    assert_eq!(due, [dealt(0), dealt(1)]);
    assert!(due[0].abs_diff(600) <= 2, "{due:?}");

    let generators = run["fleet"][0]["generators"].as_array().unwrap();
    for ((generator, name), worker) in generators.iter().zip(["agent-1", "slow"]).zip(0..) {
        assert_eq!(generator["name"], name);
        assert_eq!(generator["ceiling_per_sec"], CEILINGS[worker as usize]);
        let share = generator["share"].as_f64().unwrap();
        // Run files have it in millionths.
        assert!((share - shares.ratio(worker, 1)).abs() < 1e-6, "{generator}");
    }
    assert_eq!(generators.len(), 2);
    // Each makes all that it can by its calibration.
    let causes = run["generator"]["causes"].as_array().unwrap();
    let near = causes.iter().filter(|cause| cause["id"] == "near_ceiling").count();
    assert_eq!(near, 2, "{causes:?}");
    let text = bench.expect(0, &["report", &file.display().to_string(), "--full"]).out;
    assert!(text.contains("agent-1 was not healthy") && text.contains("slow was not healthy"), "{text}");

    let beyond = fleet.run(&[&load[..], &["-R", "800", "-n", "8", "--out", "beyond"]].concat());
    let is_named = |event: &Value| {
        event["kind"] == "limit_met" && event["text"].as_str().unwrap().contains("agents can make 400 ")
    };
    assert!(beyond["events"].as_array().unwrap().iter().any(is_named), "{}", beyond["events"]);

    let counted = fleet.run(&[&load[..], &["-c", "8", "-n", "1000", "--out", "closed"]].concat());
    assert_eq!(due_and_completed(&counted), (1000, 1000));
    let parts = by_worker(&bench.run_file("closed"));
    assert_eq!(parts.iter().map(|(_, connections)| *connections).collect::<Vec<_>>(), [6, 2]);
    assert_eq!(parts.iter().map(|(due, _)| *due).collect::<Vec<_>>(), [750, 250]);
}
