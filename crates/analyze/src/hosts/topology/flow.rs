//! The number of connections into each tier and out of it, step by step.

use plimsoll_record::Metric;

use super::{TierEdge, TierNode, Topology};
use crate::findings::Place;
use crate::hosts::track::Track;
use crate::hosts::tracks::StepSamples;

/// A figure of each step; `None` where it was not sampled.
pub(crate) type Figures = Vec<Option<f64>>;

/// Connections out of a tier.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outflow {
    /// The index of the tier that they lead to.
    pub(crate) to: usize,
    pub(crate) connections: Figures,
}

/// A tier with its observations in each step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tier {
    pub(crate) node: TierNode,
    /// Its name if its host is not known to be sampled: the name that the plan gives its host, or else its address.
    pub(crate) outside: Option<String>,
    /// Connections with something still to be read.
    pub(crate) unread: Figures,
    /// Connections that are not accepted yet.
    pub(crate) queue: Figures,
    /// All connections into it, including those that are not accepted yet.
    pub(crate) established: Figures,
    pub(crate) out: Vec<Outflow>,
    /// True if the connections of its processes are known, even if there are none.
    pub(crate) out_known: bool,
}

impl Tier {
    /// The name of its processes; empty if it is not known.
    pub(crate) fn process(&self) -> &str {
        self.node.process.as_deref().unwrap_or("")
    }

    /// True if its host is sampled, or may be: its listener is known.
    pub(crate) fn is_sampled(&self) -> bool {
        self.outside.is_none()
    }

    /// True for two instances of one service: processes of one name that are reached at the same port.
    pub(crate) fn is_of_same_service(&self, other: &Self) -> bool {
        self.node.process.is_some()
            && self.node.process == other.node.process
            && self.node.endpoint == other.node.endpoint
    }

    /// The connections out of it to the tier that most of them lead to at a step; `None` where none were listed there.
    pub(crate) fn main_outflow(&self, step: usize) -> Option<&Outflow> {
        let listed = self.out.iter().filter_map(|flow| Some((flow, flow.connections[step]?)));
        listed.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(flow, _)| flow)
    }

    /// Where it is: its process, or all of its host where that is not known.
    pub(crate) fn place(&self) -> Place {
        Place::process(&self.node.host, self.process())
    }

    /// Adds connections to another tier; `most` is the highest number of them at a time.
    pub(super) fn lead_to(&mut self, to: usize, most: u64, more: Outflow) {
        match self.node.downstream.iter_mut().find(|edge| edge.to == to) {
            Some(edge) => edge.connections += most,
            None => self.node.downstream.push(TierEdge { to, connections: most }),
        }
        match self.out.iter_mut().find(|flow| flow.to == to) {
            Some(flow) => add(&mut flow.connections, &more.connections),
            None => self.out.push(more),
        }
    }
}

/// All tiers that requests pass, each before those that it uses.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Flow {
    pub(crate) tiers: Vec<Tier>,
}

/// The connections of a run in which no host was sampled.
pub(crate) static NO_FLOW: Flow = Flow { tiers: Vec::new() };

impl Flow {
    /// The tiers that the target's address leads to, as far as their hosts are sampled.
    pub(crate) fn front(&self) -> Vec<usize> {
        let is_front = |tier: &Tier| tier.node.depth == 1 && tier.is_sampled();
        (0..self.tiers.len()).filter(|index| is_front(&self.tiers[*index])).collect()
    }

    /// The tiers without their observations in each step.
    pub(crate) fn topology(&self) -> Topology {
        Topology { tiers: self.tiers.iter().map(|tier| tier.node.clone()).collect() }
    }
}

fn add(sum: &mut Figures, more: &Figures) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = sum.zip(*more).map(|(a, b)| a + b).or(*sum).or(*more);
    }
}

/// A gauge of listeners, summed over them.
pub(super) fn at_the_door(samples: &StepSamples<'_>, listeners: &[&Track<'_>], gauge: Metric) -> Figures {
    samples.each(|span| listeners.iter().filter_map(|track| track.mean(gauge, span)).reduce(|a, b| a + b))
}
