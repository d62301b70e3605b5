//! How full is full: the shares by which the use of a resource is judged. `docs/method.md`, section 9, says why each stands
//! where it does.

/// From this share on a resource is busy: what is left would not carry another ninth of the load, which is less than two
/// steps of a ladder must differ by, 5 %, and what the reads of a capped resource scatter by together.
pub(crate) const BUSY: f64 = 0.90;
/// From this share on a resource is used up: what is missing is within the 2 % to which a steady step is known and what
/// the reads themselves are off by.
pub(crate) const FULL: f64 = 0.97;
/// Below this share a resource would carry 1.4 times the load, and is ruled out.
pub(crate) const FREE: f64 = 0.70;
/// Limits nearer to each other than this are a tie: it is the tolerance of the plateau itself.
pub(crate) const TIE: f64 = 0.05;
