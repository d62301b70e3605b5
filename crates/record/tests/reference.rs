//! The reference page of the metrics is generated from their table.
#![expect(clippy::unwrap_used, reason = "in tests, a failed step is the failure")]

use std::fmt::Write as _;

use plimsoll_record::{Metric, MetricKind, Source, SubjectKind};

const HEAD: &str = "\
# Metrics

This page is generated from `crates/record/src/metric`. To regenerate it: `UPDATE_DOCS=1 cargo test -p plimsoll-record`.

A host sample consists of these counters. They are in the column `counters` of a [run file](run-file.md) and in the lines of
`plimsoll probe --stream` ([probe.md](probe.md)), and every statement of a report about a host rests on them. A sample has a source
and a subject, the part of the host that it describes. A counter is a total since boot, or since its subject began; only its
growth means something. A gauge is a level at the instant of the read. All values are whole numbers. A value that a host does
not report is left out, never zero. A source has no samples of a subject that has ended.
";

/// How a subject is written.
fn subject(kind: SubjectKind) -> &'static str {
    match kind {
        SubjectKind::Host => "empty, for the host itself",
        SubjectKind::Core => "the number of a core",
        SubjectKind::Disk => "the name of a disk, `sda`",
        SubjectKind::Interface => "the name of an interface, `eth0`",
        SubjectKind::Group => "the path of a group; empty for the host's own",
        SubjectKind::Process => "a process, `1234 nginx`",
        SubjectKind::Thread => "a thread of a process, `1234/1240 nginx`",
        SubjectKind::Address => "an address, `10.0.0.1:80` or `unix:/run/app.sock`",
        SubjectKind::Component => "the address of the component, `10.0.0.1:6379`",
        SubjectKind::Jvm => "a process, `1234 java`, or the address of its page",
        SubjectKind::Cap => "a cap: `cores`, `link_out`, `link_in`, `packets`, `memory` or `disk`",
        SubjectKind::Probe => "the name of a probe, `local`",
    }
}

fn row(metric: Metric) -> String {
    let kind = match metric.kind {
        MetricKind::Counter => "counter",
        MetricKind::Gauge => "gauge",
    };
    format!("| `{}` | {kind} | {} | {} |\n", metric.name, metric.unit.symbol(), metric.meaning)
}

fn section(source: Source) -> String {
    let mut text = format!("\n## `{source}`\n\n{}.\n\n", source.meaning());
    writeln!(text, "Subject: {}.", subject(source.subject_kind())).unwrap();
    if let Some(made) = source.made_names() {
        writeln!(text, "\nThe names of its metrics are known only at the time of the read: {made}.").unwrap();
    }
    if !source.metrics().is_empty() {
        text += "\n| metric | kind | unit | meaning |\n| --- | --- | --- | --- |\n";
        source.metrics().iter().for_each(|metric| text += &row(*metric));
    }
    text
}

#[test]
fn the_reference_page_is_that_of_this_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let current = HEAD.to_owned() + &Source::all().map(section).collect::<String>();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    let published = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        published == current,
        "docs/metrics.md is stale; regenerate it: UPDATE_DOCS=1 cargo test -p plimsoll-record"
    );
}
