//! `--profile` and `plimsoll profile`, with a real Go program and the real perf.

use plimsoll_testkit::{GoProgram, refused_address};

use crate::bench::{Bench, Called};

/// A short load on a Go program, with a profile from this source.
fn profiled(bench: &Bench, program: &GoProgram, source: &str, name: &str) -> Called {
    let load = ["-c", "4", "-d", "1s", "--profile-time", "2s", "--no-probe", "-o", name];
    bench.call(&[&["run", &program.url(), "--full", "--profile", source][..], &load].concat())
}

fn page(program: &GoProgram) -> String {
    format!("http://{}/debug/pprof/profile", program.address())
}

#[test]
fn a_run_tells_where_the_time_of_its_target_went_and_so_does_its_file() {
    let (bench, program) = (Bench::new(), GoProgram::start().unwrap());
    let live = profiled(&bench, &program, &page(&program), "runs");
    assert_eq!(live.code, 0, "{}", live.err);
    assert!(live.out.contains(&format!("CPU profile of {}", page(&program))), "{}", live.out);
    assert!(live.out.contains("without the profiler"), "{}", live.out);
    let serve = live.out.lines().find(|line| line.ends_with(" net/http.(*conn).serve"));
    let share: f64 = serve.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap();
    assert!(share > 30.0, "{}", live.out);
    let file = bench.run_file("runs").to_str().unwrap().to_owned();
    assert_eq!(bench.expect(0, &["report", &file, "--full"]).out, live.out);
    let steps = bench.expect(0, &["report", &file, "--json"]).json()["steps"].as_array().unwrap().len();
    assert_eq!(steps, 1, "the held step is no part of the load");

    let table = bench.expect(0, &["profile", &file, "--top", "5", "--svg", "flame.svg"]).out;
    assert_eq!(table.lines().filter(|line| line.contains(" %  ")).count(), 5, "{table}");
    let svg = std::fs::read_to_string(bench.path("flame.svg")).unwrap();
    assert!(svg.contains("<title>net/http.(*conn).serve (") && svg.ends_with("</svg>"), "{svg}");
    let there = bench.expect(1, &["profile", &file, "--svg", "flame.svg"]);
    assert!(there.err.contains("--force"), "{}", there.err);
    let same = bench.expect(0, &["profile", &file, "--diff", &file]).out;
    assert!(same.contains("No function differs"), "{same}");
}

#[test]
fn a_ladder_holds_its_plateau_for_the_profile_and_keeps_its_table() {
    let (bench, program) = (Bench::new(), GoProgram::start().unwrap());
    let ladder = ["--ladder", "1,2,4", "--step", "500ms", "--profile-time", "1s", "--no-probe"];
    let asked = ["sweep", &program.url(), "--name", "go", "--profile", &page(&program)];
    let live = bench.expect(0, &[&asked[..], &ladder].concat());
    let text = live.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("CPU profile: plimsoll profile last"), "{}", live.out);
    let dat = std::fs::read_to_string(bench.path("plimsoll-runs/go.dat")).unwrap();
    assert_eq!(dat.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count(), 3, "{dat}");
}

#[test]
fn what_cannot_be_profiled_is_refused_before_the_load() {
    let (bench, program) = (Bench::new(), GoProgram::start().unwrap());
    let refused = |source: &str, expected: &str| {
        let called = profiled(&bench, &program, source, "runs");
        assert_eq!(called.code, 1, "{source}: {}{}", called.out, called.err);
        assert!(called.err.contains(expected), "{source}: {}", called.err);
        assert!(!bench.path("runs").exists(), "no run was begun");
    };
    refused(&program.url(), "no profile of pprof");
    refused(&format!("http://{}/debug/pprof/no-such", program.address()), "status 404");
    refused(&format!("http://{}/debug/pprof/profile", refused_address()), "cannot be asked");
    refused("perf:4294967295", "no process 4294967295");
    refused(&format!("perf::{}", refused_address().port()), "no process that may be looked into");
    let usage = profiled(&bench, &program, "pprof", "runs");
    assert_eq!(usage.code, 2);
    assert!(usage.err.contains("perf::PORT"), "{}", usage.err);
}

#[test]
fn a_run_without_a_profile_says_how_to_take_one() {
    let (bench, program) = (Bench::new(), GoProgram::start().unwrap());
    bench.expect(0, &["run", &program.url(), "-n", "10", "-c", "1", "--no-probe"]);
    let file = bench.run_file("plimsoll-runs").to_str().unwrap().to_owned();
    let shown = bench.expect(1, &["profile", &file]);
    assert!(shown.err.contains("--profile perf"), "{}", shown.err);
}

#[test]
fn perf_tells_of_a_program_without_a_page() {
    let (bench, program) = (Bench::new(), GoProgram::start().unwrap());
    let live = profiled(&bench, &program, "perf", "runs");
    if live.code == 1
        && ["perf is not installed", "perf cannot profile"].iter().any(|why| live.err.contains(why))
    {
        eprintln!("skipped: {}", live.err.trim());
        return;
    }
    assert_eq!(live.code, 0, "{}", live.err);
    assert!(live.out.contains("CPU profile of perf of process"), "{}", live.out);
    assert!(live.out.contains(" net/http.(*conn).serve"), "{}", live.out);
}
