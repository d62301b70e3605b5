//! Values as they are typed.

use plimsoll_plan::{PlanError, checked_name};

/// The folder in which runs are kept by default.
pub(crate) const RUNS_FOLDER: &str = "plimsoll-runs";

/// A name that files can carry.
pub(crate) fn name(text: &str) -> Result<String, PlanError> {
    checked_name(text.to_owned())
}

/// A ratio: `0.9995`, or `99.95%`.
pub(crate) fn ratio(text: &str) -> Result<f64, String> {
    let (number, scale) =
        text.trim().strip_suffix('%').map_or((text.trim(), 1.0), |number| (number.trim(), 100.0));
    let value: f64 =
        number.parse().map_err(|_| format!("`{text}` is not a ratio such as 0.9995 or 99.95%"))?;
    let ratio = value / scale;
    if (0.0..=1.0).contains(&ratio) {
        return Ok(ratio);
    }
    Err(format!("`{text}` is not between 0 and 1; for per cent write {text}%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_a_number_up_to_one_or_per_cent() {
        assert_eq!(ratio("0.9995"), Ok(0.9995));
        assert!((ratio("99.95%").unwrap() - 0.9995).abs() < 1e-12);
        assert_eq!(ratio("5 %"), Ok(0.05));
        assert!(ratio("99.95").unwrap_err().contains("99.95%"));
        assert!(ratio("many").is_err());
    }
}
