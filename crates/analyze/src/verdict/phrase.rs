//! How figures read in a verdict.

pub(crate) use plimsoll_units::share_text as percent;
use plimsoll_units::{duration_text, significant};

use super::scene::Scene;
use crate::Resource;

/// What a request costs of a processor: ` (81 µs a request)`; empty where it is not known.
pub(super) fn cost(scene: &Scene<'_>, resource: &Resource) -> String {
    // What was used at the plateau over its throughput: what stands beside it in the sentence.
    let used = resource.used[scene.step].filter(|_| scene.throughput() > 0.0);
    used.map_or_else(String::new, |cores| {
        format!(" ({} a request)", duration_text(cores / scene.throughput() * 1e9))
    })
}

/// Bits per second with the unit that people use: `200 Mbit/s`.
pub(crate) fn bits_text(bits_per_sec: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    let unit = units.iter().find(|(size, _)| bits_per_sec >= *size).unwrap_or(&(1.0, "bit/s"));
    format!("{} {}", significant(bits_per_sec / unit.0), unit.1)
}

/// Names joined as in a sentence.
pub(crate) fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_read_in_the_units_of_links() {
        assert_eq!(bits_text(200e6), "200 Mbit/s");
        assert_eq!(bits_text(2.5e9), "2.50 Gbit/s");
        assert_eq!(bits_text(12.0), "12.0 bit/s");
    }

    #[test]
    fn names_are_joined_as_people_do() {
        let names = |names: &[&str]| joined(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(names(&["a"]), "a");
        assert_eq!(names(&["a", "b", "c"]), "a, b and c");
    }
}
