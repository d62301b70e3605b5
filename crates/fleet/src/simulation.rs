//! A fleet in a simulated world: its network, its broker, its clocks and its crashes follow from a seed, so that a failure can be
//! reproduced.
//!
//! The code that numbers, keeps, resends, drops, confirms, translates and gives up is that of production. The network, the broker,
//! the disk and the workers are simulated. `PLIMSOLL_SEEDS=100000 cargo test -p plimsoll-fleet simulation` runs that many worlds,
//! `PLIMSOLL_SEED=7` only one.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_conductor::peers::OnLoss;
use plimsoll_testkit::Random;
use plimsoll_units::{Clock as _, RealClock};

use agent::SimAgent;
use conductor::SimConductor;
use weather::{Scale, Weather};
use world::World;

mod agent;
mod agents;
mod checks;
mod clock;
mod conductor;
mod content;
mod disk;
mod resume;
mod run;
mod stream;
mod weather;
mod world;

/// How many worlds are run by default.
const SEEDS: u64 = 2_000;
const VERSION: &str = "1";
const RUN: &str = "run";

/// The counts of one world, or of many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Played {
    events: u64,
    frames: u64,
    commits: u64,
    lost_agents: u64,
    /// Copies that the stream dropped, refused, lost and delivered again.
    dropped: u64,
    refused: u64,
    lost: u64,
    redelivered: u64,
    checked_bounds: u64,
    reported_clocks: u64,
    /// Steps whose start was compared with the truth.
    checked_starts: u64,
    unkept_max: u64,
    stream_max: u64,
    ended: u64,
    resumed: Resumed,
}

/// The counts of a world after conductors died.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Resumed {
    /// Conductors that resumed the run of one that had died.
    conductors: u64,
    /// Steps that these conductors began, and those among them that had been cut before.
    steps: u64,
    repeated: u64,
    /// Frames of those steps in the run file.
    frames: u64,
    /// Agents that stand by, and those whose generator had ended and restarted.
    standing_by: u64,
    begun_again: u64,
    /// Agents that are gone.
    gone: u64,
    /// States of a former conductor that agents did not obey.
    refused: u64,
    /// Runs whose plan was completed.
    whole: u64,
}

/// Prints how to reproduce a world that fails.
struct Repeat(String);

impl Drop for Repeat {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("this was the world of {}", self.0);
        }
    }
}

/// Agents are named by their number.
fn name(agent: usize) -> String {
    format!("a{agent}")
}

fn number_of(name: &str) -> usize {
    name[1..].parse().unwrap()
}

/// Runs the world of a seed, and checks the invariants of all worlds.
fn play(seed: u64, scale: impl FnOnce(&mut Random) -> Scale) -> Played {
    let mut random = Random::new(seed);
    let scale = scale(&mut random);
    let weather = Weather::new(&mut random, &scale);
    let on_loss = [OnLoss::Stop, OnLoss::Continue, OnLoss::Redistribute][random.within(0..3) as usize];
    // A full-size fleet continues without the agents that it loses.
    let on_loss = if scale.keeps_frames { on_loss } else { OnLoss::Redistribute };
    let fates = weather.fates.iter().enumerate();
    let remembers = scale.keeps_frames;
    let agents = fates.map(|(agent, fate)| SimAgent::new(agent, weather.orphan, fate, remembers)).collect();
    let conductor = SimConductor::new(&scale, on_loss);
    let mut world = World::new((scale, weather, random), on_loss, agents, conductor);
    world.play();
    world.check()
}

fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

#[test]
fn in_every_simulated_fleet_no_frame_is_lost_or_counted_twice_and_clocks_keep_their_bounds() {
    let mut all = Played::default();
    let (one, many) = (number_from_environment("PLIMSOLL_SEED"), number_from_environment("PLIMSOLL_SEEDS"));
    let seeds = one.map_or(0..many.unwrap_or(SEEDS), |seed| seed..seed + 1);
    let worlds = seeds.clone().count();
    for seed in seeds {
        let _repeat = Repeat(format!("PLIMSOLL_SEED={seed}"));
        all.add(&play(seed, Scale::small));
    }
    println!("{worlds} worlds: {all:?}");
    let every_trouble = [
        all.frames,
        all.lost_agents,
        all.dropped,
        all.refused,
        all.lost,
        all.redelivered,
        all.reported_clocks,
        all.checked_bounds,
        all.checked_starts,
    ];
    let Resumed { conductors, steps, repeated, frames, standing_by, begun_again, gone, refused, whole } =
        all.resumed;
    let every_resumption =
        [conductors, steps, repeated, frames, standing_by, begun_again, gone, refused, whole];
    let are_many = |counts: &[u64], least: u64| worlds < 1_000 || counts.iter().all(|count| *count > least);
    assert!(
        are_many(&every_trouble, 100) && are_many(&every_resumption, 50),
        "the worlds were worth playing"
    );
}

#[test]
fn a_simulated_fleet_is_the_same_each_time_it_is_played() {
    for seed in [1, 2, 3] {
        assert_eq!(play(seed, Scale::small), play(seed, Scale::small));
    }
}

/// `PLIMSOLL_FLEET=1000x16x3600` runs 1000 agents with 16 workers each for 3600 s, `PLIMSOLL_FLEET_SEEDS` times.
#[test]
fn a_simulated_fleet_is_as_large_as_the_environment_asks() {
    let asked = std::env::var("PLIMSOLL_FLEET").unwrap_or_else(|_| "40x16x20".to_owned());
    let numbers: Vec<u64> = asked.split('x').map(|number| number.parse().unwrap()).collect();
    let [agents, workers, load_sec] = numbers.try_into().unwrap();
    let load = Duration::from_secs(load_sec);
    let many = number_from_environment("PLIMSOLL_FLEET_SEEDS").unwrap_or(1);
    for seed in number_from_environment("PLIMSOLL_SEED").map_or(0..many, |seed| seed..seed + 1) {
        let _repeat = Repeat(format!("PLIMSOLL_FLEET={asked} PLIMSOLL_SEED={seed}"));
        let began = RealClock.now();
        let played = play(seed, |_| Scale::full(agents as usize, workers as u32, load));
        let (took, peak_kb) = (RealClock.now().since(began), peak_memory_kb());
        println!("{asked}, seed {seed}: {took:?}, at most {peak_kb} kB so far, {played:?}");
        assert!(played.frames > 0, "the world was worth playing");
    }
}

/// Peak memory of this process, in kB.
fn peak_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let fields: BTreeMap<&str, &str> = status.lines().filter_map(|line| line.split_once(':')).collect();
    fields["VmHWM"].trim().trim_end_matches(" kB").parse().unwrap()
}
