//! Go programs, from the pages of their packages expvar and net/http/pprof.

use plimsoll_record::metric::go;
use plimsoll_record::{CounterSet, Metric, Source, Subject};
use serde_json::Value;

use super::error::ServerError;
use super::page::Page;
use crate::collector::{Collector, Missing, Read};

/// Fields of `memstats` (Go's runtime.MemStats), each with the divisor to our unit.
const MEMSTATS: &[(&str, Metric, u64)] = &[
    ("NumGC", go::GC_CYCLES, 1),
    ("PauseTotalNs", go::GC_PAUSE_US, 1000),
    ("HeapAlloc", go::HEAP_BYTES, 1),
    ("HeapSys", go::HEAP_RESERVED_BYTES, 1),
    ("NextGC", go::NEXT_GC_BYTES, 1),
    ("TotalAlloc", go::ALLOCATED_BYTES, 1),
    ("Mallocs", go::ALLOCATIONS, 1),
    ("Sys", go::SYSTEM_BYTES, 1),
];

/// The expected page, as error messages name it.
const EXPECTED: &str = "an expvar page with memstats";

/// Returns a collector of a Go program's memory and garbage collection, and of its goroutine count if it also serves
/// `/debug/pprof/`. The count comes from the list of profiles, which is cheap; the profile itself would stop the program to
/// walk all stacks.
pub(super) fn collector(url: &str) -> Collector {
    let variables = Page::new(url);
    // `None` once the program has refused to serve it.
    let mut profiles = Some(variables.sibling("/debug/pprof/"));
    Collector::new(move || {
        let counters = counters(&variables, &mut profiles);
        vec![Read::new(Source::Go, Subject::Named(variables.address()), counters)]
    })
}

fn counters(page: &Page, profiles: &mut Option<Page>) -> Result<CounterSet, Missing> {
    let text = page.text().map_err(|error| failed(page, error))?;
    let mut counters = memory(&text).map_err(|error| failed(page, error))?;
    match profiles.as_ref().map(|page| (page, page.text())) {
        None => {}
        Some((_, Ok(text))) => counters.put(go::GOROUTINES, profile_count(&text, "goroutine")),
        Some((_, Err(ServerError::Refused { .. }))) => *profiles = None,
        Some((page, Err(error))) => return Err(failed(page, error)),
    }
    Ok(counters)
}

fn failed(page: &Page, error: ServerError) -> Missing {
    error.at(&format!("go program at {}", page.address()))
}

/// Parses the counters of an expvar page.
pub(super) fn memory(page: &str) -> Result<CounterSet, ServerError> {
    let variables: Value =
        serde_json::from_str(page).map_err(|reason| ServerError::malformed(page, EXPECTED, &reason))?;
    let stats = variables.get("memstats").and_then(Value::as_object);
    let stats = stats.ok_or_else(|| ServerError::unexpected(page, EXPECTED))?;
    let value = |name: &str, divisor: u64| Some(stats.get(name)?.as_u64()? / divisor);
    Ok(MEMSTATS.iter().map(|(name, metric, divisor)| (*metric, value(name, *divisor))).collect())
}

/// Returns the count in front of a profile's name in the page's table: `<td>7</td><td><a href='…'>goroutine</a>`.
fn profile_count(page: &str, profile: &str) -> Option<u64> {
    let row = page.split("<tr>").find(|row| row.contains(&format!(">{profile}</a>")))?;
    row.split_once("<td>")?.1.split_once("</td>")?.0.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_was_cut_says_why_it_cannot_be_read() {
        let Missing::Failed(why) = memory("{\"memstats\":{\"NumGC\":3").unwrap_err().at("go program") else {
            panic!("a cut page is a failed read")
        };
        assert!(why.contains("memstats") && why.contains("EOF while parsing"), "{why}");
    }

    #[test]
    fn a_field_that_is_no_number_is_unknown_and_not_zero() {
        let counters = memory("{\"memstats\":{\"NumGC\":\"three\",\"HeapAlloc\":9}}").unwrap();
        assert_eq!((counters.get(go::GC_CYCLES), counters.get(go::HEAP_BYTES)), (None, Some(9)));
    }
}
