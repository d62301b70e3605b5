//! Throughput over the machines of a tier, with the line of linear growth.

use plimsoll_analyze::TierScaling;
use plimsoll_units::count_text;

use super::axis::Axis;
use super::chart::{Chart, Line, Mark, Side, highest, notes_of};
use super::look::{FAINT, Look, Place, Shape};
use crate::words::machines::tier_counts;

/// Up to so many machines every number has a place on the axis, so that the ideal line is straight.
const EVERY_MOST: u32 = 40;

pub(super) fn chart(title: &str, scaling: &TierScaling) -> Chart {
    let counts: Vec<u32> = scaling.points.iter().map(|(machines, ..)| *machines).collect();
    let (least, most) = (counts.first().copied().unwrap_or(1), counts.last().copied().unwrap_or(1));
    let rungs = if most <= EVERY_MOST { (least..=most).collect() } else { counts };
    let mark = |(machines, throughput, lower_bound): &(u32, plimsoll_analyze::Estimate, bool)| {
        let each = 100.0 * throughput.value / scaling.ideal_per_sec(*machines);
        Mark {
            connections: *machines,
            value: throughput.value,
            interval: throughput.interval,
            hollow: *lower_bound,
            label: Some(format!("{} ({each:.0} %)", count_text(throughput.value))),
        }
    };
    let measured = Line {
        legend: "measured (per cent of linear)".to_owned(),
        look: Place::Alone.throughput(),
        side: Side::Left,
        marks: scaling.points.iter().map(mark).collect(),
        labels_below: true,
    };
    let ideal = Line {
        legend: "linear from the fewest machines".to_owned(),
        look: Look { color: FAINT, shape: Shape::Diamond, dashed: true },
        side: Side::Left,
        marks: rungs
            .iter()
            .map(|machines| Mark {
                connections: *machines,
                value: scaling.ideal_per_sec(*machines),
                interval: None,
                hollow: false,
                label: None,
            })
            .collect(),
        labels_below: false,
    };
    let runs = vec![vec![measured, ideal]];
    Chart {
        title: format!("Scaling of {}: {title}", scaling.tier),
        detail: match tier_counts(&scaling.others) {
            none if none.is_empty() => none,
            others => format!("with {others}"),
        },
        rungs,
        rung_label: "machines",
        left: Axis::from_zero("QPS", highest(&runs, Side::Left)),
        right: None,
        notes: notes_of(&runs),
        runs,
    }
}
