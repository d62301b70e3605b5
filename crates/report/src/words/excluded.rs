//! What is not the limit, a sentence each.

use plimsoll_analyze::{Excluded, Verdict};
use plimsoll_units::{count_text, share_text};

use super::resource;

/// The sentences of a verdict.
pub(crate) fn excluded(verdict: &Verdict) -> Vec<String> {
    verdict.excluded.iter().map(sentence).collect()
}

fn sentence(excluded: &Excluded) -> String {
    match excluded {
        Excluded::MostUsed(used) => format!(
            "{}: its busiest other resource was {}, {}",
            used.resource.host,
            resource::name(&used.resource),
            share_text(used.share)
        ),
        Excluded::Unobserved { host, why } => {
            let why = why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
            format!("{host}: its CPU was not observed{why}, so it is not ruled out")
        }
        Excluded::Generator(busiest) => {
            format!("the load generator: its busiest worker used {} of a core", share_text(*busiest))
        }
        Excluded::NotRaised { suspect, per_sec } => format!(
            "{} of {}: it was not raised, and carried {} requests/s",
            suspect.limit.name(),
            suspect.place,
            count_text(*per_sec)
        ),
    }
}
