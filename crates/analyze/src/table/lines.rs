//! Lines of a figure, from rows.

use super::front::{alone, together_per_sec};
use super::row::{TableRow, alike};
use super::runs::RunRows;
use crate::Estimate;
use crate::groups::grouped;

/// One point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinePoint {
    /// The position on the axis: bytes or seconds.
    pub at: f64,
    pub throughput: Estimate,
    pub lower_bound: bool,
}

/// Throughput over the size of responses, for one number of cores.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeLine {
    /// The name of the rows' requests, if they have one.
    pub group: Option<String>,
    pub cores: f64,
    /// Sorted by size. Sizes within 5 % are merged, so that lines share them.
    pub points: Vec<LinePoint>,
}

/// Throughput over the hold time of requests.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldLines {
    pub front: Option<String>,
    /// Throughput through the front, sorted by time.
    pub through: Vec<LinePoint>,
    /// The sum of the tiers behind it, each measured alone.
    pub alone: Vec<LinePoint>,
}

impl RunRows {
    fn point(&self, index: usize, at: f64) -> LinePoint {
        let measured = &self.runs[index].measured;
        LinePoint { at, throughput: measured.throughput, lower_bound: measured.lower_bound }
    }

    /// Lines of throughput over response size, the fewest cores first; empty unless rows differ in both.
    pub fn size_lines(&self) -> Vec<SizeLine> {
        let sizes = sizes(&self.rows);
        let point = |(index, row): (usize, &TableRow)| {
            let (cores, bytes) = (row.cores?, row.response_bytes?);
            let at = sizes.iter().copied().find(|size| alike(*size, bytes)).unwrap_or(bytes);
            Some((row.group.clone(), cores, self.point(index, at)))
        };
        let points = self.rows.iter().enumerate().filter_map(point);
        let lines = grouped(points, |a, b| (&a.0, a.1) == (&b.0, b.1)).into_iter();
        let mut lines: Vec<SizeLine> = lines
            .map(|points| SizeLine {
                group: points[0].0.clone(),
                cores: points[0].1,
                points: points.into_iter().map(|(_, _, point)| point).collect(),
            })
            .collect();
        lines.sort_by(|a, b| a.group.cmp(&b.group).then(a.cores.total_cmp(&b.cores)));
        lines.iter_mut().for_each(|line| sort(&mut line.points));
        // A group in which no line has two sizes is left out.
        let of_groups = lines.chunk_by(|a, b| a.group == b.group).filter(|group| has_a_line(group));
        let lines = of_groups.flatten().cloned().collect::<Vec<_>>();
        let differ = lines.iter().any(|line| line.cores != lines[0].cores);
        if differ { lines } else { Vec::new() }
    }

    /// Lines of throughput over hold time, through a front and alone; `None` with fewer than two times.
    pub fn held_lines(&self) -> Option<HeldLines> {
        let mut lines = HeldLines { front: None, through: Vec::new(), alone: Vec::new() };
        for (index, row) in self.rows.iter().enumerate() {
            let Some(held_sec) = row.held_sec.filter(|_| alone(row).next().is_some()) else { continue };
            let sum = Estimate::exact(together_per_sec(row));
            lines.front = lines.front.or_else(|| row.front.clone());
            lines.through.push(self.point(index, held_sec));
            lines.alone.push(LinePoint { at: held_sec, throughput: sum, lower_bound: false });
        }
        sort(&mut lines.through);
        sort(&mut lines.alone);
        (lines.through.len() > 1).then_some(lines)
    }
}

fn has_a_line(lines: &[SizeLine]) -> bool {
    lines.iter().any(|line| line.points.len() > 1)
}

/// Sorts points by position; of several at one position the fastest is kept.
fn sort(points: &mut Vec<LinePoint>) {
    points.sort_by(|a, b| a.at.total_cmp(&b.at).then(b.throughput.value.total_cmp(&a.throughput.value)));
    points.dedup_by(|next, kept| next.at == kept.at);
}

/// The sizes of responses; of sizes within 5 % the smallest.
fn sizes(rows: &[TableRow]) -> Vec<f64> {
    let mut sizes: Vec<f64> = rows.iter().filter_map(|row| row.response_bytes).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup_by(|next, kept| alike(*next, *kept));
    sizes
}
