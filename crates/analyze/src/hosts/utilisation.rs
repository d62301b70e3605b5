//! The shares by which the use of a resource is judged. `docs/method.md`, section 9, gives the reason for each.

/// From this share on a resource is busy. The rest would not carry another ninth of the load, which is less than the 5 % by which two
/// steps of a ladder must differ together with the scatter of the reads of a capped resource.
pub(crate) const BUSY: f64 = 0.90;
/// From this share on a resource is used up: the rest is within the 2 % to which a steady step is known and the error of
/// the reads.
pub(crate) const FULL: f64 = 0.97;
/// Below this share a resource would carry 1.4 times the load, and is ruled out.
pub(crate) const FREE: f64 = 0.70;
/// Limits closer to each other than this are a tie: it is the tolerance of the plateau itself.
pub(crate) const TIE: f64 = 0.05;
