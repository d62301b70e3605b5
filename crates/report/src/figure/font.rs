//! The embedded font: figures look the same on a machine that has none.

use std::sync::OnceLock;

use plotters::style::{FontStyle, register_font};

use super::FigureError;

/// What SVG readers are asked for; in the PNG the same name stands for the embedded font.
pub(super) const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// A subset of DejaVu Sans: Latin, Greek and punctuation. Its licence stands beside it.
pub(super) const BYTES: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

/// Makes the embedded font known to the drawing library, once per process.
pub(super) fn register() -> Result<(), FigureError> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let registered = REGISTERED.get_or_init(|| register_font(FAMILY, FontStyle::Normal, BYTES).is_ok());
    if *registered { Ok(()) } else { Err(FigureError::Font) }
}
