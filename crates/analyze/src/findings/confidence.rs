//! How well a verdict is founded.

/// How well a verdict is founded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confidence {
    /// An intervention moved it as predicted.
    Proven,
    /// Observed directly.
    Measured,
    /// By elimination, or from a law.
    Inferred,
    /// Not decided by the evidence.
    Unknown,
}

impl Confidence {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Measured => "measured",
            Self::Inferred => "inferred",
            Self::Unknown => "unknown",
        }
    }
}
