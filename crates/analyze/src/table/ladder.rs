//! Rows of one target under different loads: whether throughput rises with the load, stays level, or falls.

use plimsoll_stats::usl::{self, Point, UslFit};

use super::row::{Pair, TableRow, apart};
use crate::findings::LoadEffect;
use crate::groups::grouped;

/// Throughput is higher if it exceeds another by this factor, as in a ladder of steps.
const MORE: f64 = 1.05;
/// Throughput still grows with the load from this exponent on: doubling the load gives a fifth more.
const GROWS: f64 = 0.25;
/// Throughput collapsed if it is at most this fraction of the throughput under less load.
const COLLAPSED: f64 = 0.9;
/// Throughput follows a resource nearly linearly from this exponent on.
pub(crate) const PROPORTIONAL: f64 = 0.8;
/// The fewest rows of a ladder.
const MIN_ROWS: usize = 3;

/// The figure in which the rows of a ladder differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LadderOf {
    Connections,
    /// Offered requests per second.
    Offered,
    LoadMachines,
    Cores,
    /// Machines or processes of the tier of this name.
    Instances(String),
    /// Workers or connections in the pool of the tier of this name.
    Pool(String),
}

/// How throughput changes along a ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LadderShape {
    Rising,
    Plateau,
    Collapse,
}

/// A ladder of rows of one target under different loads.
#[derive(Debug, Clone, PartialEq)]
pub struct RowLadder {
    pub of: LadderOf,
    /// The name of the rows' requests, if they have one.
    pub group: Option<String>,
    pub shape: LadderShape,
    pub first: LadderPoint,
    pub best: LadderPoint,
    pub last: LadderPoint,
    /// e = ln(X/X₁)/ln(N/N₁) of the last row against the best one with less load.
    pub exponent: f64,
    /// The Universal Scalability Law, for at least six rows, if it fits.
    pub usl: Option<usl::Usl>,
}

/// A load and its throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LadderPoint {
    pub load: f64,
    pub per_sec: f64,
}

/// The figure of a row along a ladder.
type Figure = dyn Fn(&TableRow) -> Option<f64>;

impl LadderOf {
    fn figure(&self) -> Box<Figure> {
        match self.clone() {
            Self::Connections => Box::new(|row| row.connections),
            Self::Offered => Box::new(|row| row.offered_per_sec),
            Self::LoadMachines => Box::new(|row| row.load_machines),
            Self::Cores => Box::new(|row| row.cores),
            Self::Instances(tier) => {
                Box::new(move |row| row.tiers.iter().find(|one| one.name == tier)?.instances)
            }
            Self::Pool(tier) => Box::new(move |row| row.tiers.iter().find(|one| one.name == tier)?.pool),
        }
    }

    /// All figures in which rows of a table can differ.
    fn all(rows: &[&TableRow]) -> Vec<Self> {
        let tiers = || rows.first().into_iter().flat_map(|row| &row.tiers);
        let of_load = [Self::Offered, Self::Connections, Self::LoadMachines, Self::Cores];
        let counted = tiers().filter(|tier| tier.instances.is_some());
        let counted = counted.map(|tier| Self::Instances(tier.name.clone()));
        let pools = tiers().filter(|tier| tier.pool.is_some()).map(|tier| Self::Pool(tier.name.clone()));
        of_load.into_iter().chain(counted).chain(pools).collect()
    }

    fn is_load(&self) -> bool {
        matches!(self, Self::Connections | Self::Offered | Self::LoadMachines)
    }

    /// True for two rows that differ in nothing but this figure and their results.
    fn is_all(&self, a: &TableRow, b: &TableRow) -> bool {
        let without = |row: &TableRow| {
            let mut row = TableRow { label: String::new(), tiers: Vec::new(), ..row.clone() };
            row.throughput_per_sec = 0.0;
            (row.response_sec, row.failed_ratio, row.refused_ratio) = (None, None, None);
            match self {
                Self::Offered => (row.offered_per_sec, row.connections) = (None, None),
                Self::Connections => row.connections = None,
                // More load machines also open more connections.
                Self::LoadMachines => (row.load_machines, row.connections) = (None, None),
                Self::Cores => row.cores = None,
                Self::Instances(_) | Self::Pool(_) => {}
            }
            row
        };
        without(a) == without(b) && self.arranged(a).eq(self.arranged(b))
    }

    /// The tiers of a row with their instances and pools, without this figure.
    fn arranged<'r>(&self, row: &'r TableRow) -> impl Iterator<Item = (&'r str, Option<f64>, Option<f64>)> {
        row.arranged().map(move |(name, instances, pool)| {
            let is_counted = matches!(self, Self::Instances(tier) if tier == name);
            let is_sized = matches!(self, Self::Pool(tier) if tier == name);
            (name, instances.filter(|_| !is_counted), pool.filter(|_| !is_sized))
        })
    }
}

/// The exponent with which throughput follows a figure from one row to another that has more of it.
fn exponent(figure: &Figure, less: &TableRow, more: &TableRow) -> Option<f64> {
    let (a, b) = (figure(less)?, figure(more)?);
    let is_known = a > 0.0 && b > a;
    is_known.then(|| (more.throughput_per_sec / less.throughput_per_sec).ln() / (b / a).ln())
}

/// What the rows of a target under other loads show about one of its rows.
pub(crate) fn load_effect(rows: &[&TableRow], row: &TableRow) -> LoadEffect {
    let others = || rows.iter().copied().filter(|other| row.is_same_target(other));
    let best = |rows: Vec<&TableRow>| {
        rows.into_iter().max_by(|a, b| a.throughput_per_sec.total_cmp(&b.throughput_per_sec)).cloned()
    };
    let more = best(others().filter(|other| other.is_loaded_more_than(row)).collect());
    let less = best(others().filter(|other| row.is_loaded_more_than(other)).collect());
    let here = row.throughput_per_sec;
    if let Some(more) = more.as_ref().filter(|more| more.throughput_per_sec >= MORE * here) {
        return LoadEffect::MoreGaveMore { per_sec: more.throughput_per_sec };
    }
    let Some(less) = less else {
        return if more.is_some() { LoadEffect::Level } else { LoadEffect::Untried };
    };
    if here <= COLLAPSED * less.throughput_per_sec {
        return LoadEffect::LessGaveMore { per_sec: less.throughput_per_sec };
    }
    let loads = [LadderOf::Offered, LadderOf::Connections, LadderOf::LoadMachines];
    let grows = loads.iter().find_map(|of| exponent(&*of.figure(), &less, row));
    match grows.filter(|exponent| *exponent >= GROWS && more.is_none()) {
        Some(exponent) => LoadEffect::StillGrows { exponent },
        None => LoadEffect::Level,
    }
}

/// The exponent with which throughput still grew with the load on fewer or smaller machines, if these gave as much under the load of this
/// row: then this row is not at the limit of its machines.
pub(crate) fn fewer_gave_as_much(rows: &[&TableRow], row: &TableRow) -> Option<f64> {
    let machines: Vec<LadderOf> = LadderOf::all(rows).into_iter().filter(|of| !of.is_load()).collect();
    let has_fewer = |other: &TableRow, of: &LadderOf| {
        let figure = of.figure();
        figure(row).zip(figure(other)).is_some_and(|(here, there)| here > there) && of.is_all(row, other)
    };
    let fewer = rows.iter().copied().filter(|other| machines.iter().any(|of| has_fewer(other, of)));
    let as_much = fewer.filter(|other| other.throughput_per_sec * MORE >= row.throughput_per_sec);
    let grows = as_much.filter_map(|other| match load_effect(rows, other) {
        LoadEffect::StillGrows { exponent } => Some(exponent),
        _ => None,
    });
    grows.reduce(f64::max)
}

/// The figure that the throughput of a row follows, among rows that differ only in cores, or in the instances or pool of a tier; with an
/// upper bound of the exponent.
pub(crate) fn followed(rows: &[&TableRow], row: &TableRow) -> Option<(LadderOf, f64)> {
    let exponent_of = |of: LadderOf| {
        let figure = of.figure();
        let here = figure(row)?;
        let is_less =
            |other: &&TableRow| figure(other).is_some_and(|other| here > other && apart(here, other));
        let others = rows.iter().copied().filter(|other| of.is_all(row, other)).filter(is_less);
        let next = others.max_by(|a, b| figure(a).unwrap_or(0.0).total_cmp(&figure(b).unwrap_or(0.0)))?;
        // An error of 5 % in throughput shifts the exponent by this much.
        let off = MORE.ln() / (here / figure(next)?).ln();
        Some((of, exponent(&*figure, next, row)? + off))
    };
    LadderOf::all(rows).into_iter().filter(|of| !of.is_load()).find_map(exponent_of)
}

/// True where more cores, machines or workers gave hardly more.
pub(crate) fn stands(rows: &[&TableRow], row: &TableRow) -> bool {
    followed(rows, row).is_some_and(|(_, exponent)| exponent < GROWS)
}

/// Returns the ladders of a table.
pub(super) fn ladders(pairs: &[Pair<'_>]) -> Vec<RowLadder> {
    let rows: Vec<&TableRow> = pairs.iter().map(|(row, _)| *row).collect();
    let of_kind = |of: LadderOf| {
        let groups = grouped(rows.iter().copied(), |a, b| of.is_all(a, b));
        groups.iter().filter_map(|rows| ladder(&of, rows)).collect::<Vec<_>>()
    };
    LadderOf::all(&rows).into_iter().flat_map(of_kind).collect()
}

fn ladder(of: &LadderOf, rows: &[&TableRow]) -> Option<RowLadder> {
    let figure = of.figure();
    let point = |row: &&TableRow| Some(LadderPoint { load: figure(row)?, per_sec: row.throughput_per_sec });
    let mut points: Vec<LadderPoint> =
        rows.iter().filter_map(point).filter(|point| point.load > 0.0).collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    points.dedup_by(|next, kept| next.load == kept.load);
    let (last, before) = points.split_last().filter(|_| points.len() >= MIN_ROWS)?;
    let by_throughput = |a: &&LadderPoint, b: &&LadderPoint| a.per_sec.total_cmp(&b.per_sec);
    let lower = before.iter().max_by(by_throughput)?;
    let exponent = (last.per_sec / lower.per_sec).ln() / (last.load / lower.load).ln();
    let shape = if last.per_sec <= COLLAPSED * lower.per_sec {
        LadderShape::Collapse
    } else if exponent >= GROWS {
        LadderShape::Rising
    } else {
        LadderShape::Plateau
    };
    let sizes: Vec<Point> = points
        .iter()
        .map(|point| Point { size: point.load, throughput: point.per_sec, interval: None })
        .collect();
    let usl = match usl::fit(&sizes) {
        UslFit::Fitted(usl) if *of != LadderOf::Offered => Some(usl),
        _ => None,
    };
    let (first, best) = (*points.first()?, *points.iter().max_by(by_throughput)?);
    Some(RowLadder {
        of: of.clone(),
        group: rows[0].group.clone(),
        shape,
        first,
        best,
        last: *last,
        exponent,
        usl,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(loads: &[(f64, f64)]) -> Vec<TableRow> {
        let row = |(connections, throughput_per_sec): &(f64, f64)| TableRow {
            throughput_per_sec: *throughput_per_sec,
            connections: Some(*connections),
            ..TableRow::default()
        };
        loads.iter().map(row).collect()
    }

    fn effects(loads: &[(f64, f64)]) -> Vec<LoadEffect> {
        let rows = rows(loads);
        let all: Vec<&TableRow> = rows.iter().collect();
        rows.iter().map(|row| load_effect(&all, row)).collect()
    }

    #[test]
    fn a_row_is_judged_by_what_other_loads_gave() {
        let effects = effects(&[(1.0, 100.0), (10.0, 800.0), (20.0, 810.0), (40.0, 500.0)]);
        assert_eq!(effects[0], LoadEffect::MoreGaveMore { per_sec: 810.0 });
        assert_eq!(effects[1..3], [LoadEffect::Level; 2]);
        assert_eq!(effects[3], LoadEffect::LessGaveMore { per_sec: 810.0 });
    }

    #[test]
    fn the_last_row_of_a_ladder_may_still_grow() {
        assert!(
            matches!(effects(&[(1.0, 100.0), (2.0, 190.0)])[1], LoadEffect::StillGrows { exponent } if exponent > 0.9)
        );
        assert_eq!(effects(&[(1.0, 100.0)]), [LoadEffect::Untried]);
    }

    #[test]
    fn throughput_that_follows_the_cores_is_found() {
        let row = |cores: f64, per_sec: f64| TableRow {
            throughput_per_sec: per_sec,
            cores: Some(cores),
            ..TableRow::default()
        };
        let rows = [row(1.0, 100.0), row(2.0, 195.0), row(4.0, 200.0)];
        let all: Vec<&TableRow> = rows.iter().collect();
        assert_eq!(followed(&all, &rows[0]), None);
        assert!(
            followed(&all, &rows[1])
                .is_some_and(|(of, exponent)| of == LadderOf::Cores && exponent >= PROPORTIONAL)
        );
        assert!(followed(&all, &rows[2]).is_some_and(|(_, exponent)| exponent < 0.2));
    }
}
