//! One curve.

use super::kind::CurveKind;
use crate::findings::Part;

/// One figure of a host, or of a part of it, over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    pub kind: CurveKind,
    /// `generator` for the machine that makes the load.
    pub host: String,
    /// All processes of one name are one part.
    pub part: Part,
    /// A value for each window of the hosts, in the unit of the kind; `None` where it was not sampled.
    pub values: Vec<Option<f64>>,
}

impl Curve {
    /// Its highest value; 0 where nothing was sampled.
    pub fn peak(&self) -> f64 {
        self.values.iter().flatten().copied().fold(0.0, f64::max)
    }
}
