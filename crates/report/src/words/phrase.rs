//! Parts of sentences: lists, counts, places.

use plimsoll_analyze::{PlaceCount, Verdict};
use plimsoll_units::{grouped, significant};

/// Names joined as in a sentence.
pub(crate) fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

/// Places joined as in a sentence, several of one name as so many of it.
pub(super) fn places(places: &[PlaceCount]) -> String {
    let one = |place: &PlaceCount| match place.count {
        0 | 1 => place.place.to_string(),
        count => format!("{count} × {}", place.place),
    };
    joined(&places.iter().map(one).collect::<Vec<_>>())
}

/// Workers come in whole numbers, and one at least.
pub(super) fn whole(count: f64) -> String {
    grouped(count.round().max(1.0) as u64)
}

/// `1 connection`, `600 connections`.
pub(crate) fn connections(count: u32) -> String {
    counted(u64::from(count), "connection")
}

pub(super) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

pub(super) fn cores(cores: f64) -> String {
    if cores == 1.0 { "1 core".to_owned() } else { format!("{} cores", significant(cores)) }
}

/// What of a host a verdict is about; the host itself where it is about all of it.
pub(super) fn part_name(verdict: &Verdict) -> &str {
    match verdict.place.of_host().map(|part| part.name()) {
        Some(name) if !name.is_empty() => name,
        _ => verdict.host(),
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn names_are_joined_as_people_do() {
        let names = |names: &[&str]| joined(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(names(&["a"]), "a");
        assert_eq!(names(&["a", "b", "c"]), "a, b and c");
    }
}
