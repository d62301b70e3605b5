//! The calibration of a machine before its agents join.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use plimsoll_conductor::{CalibrateError, CalibrationOptions, usual_driver};
use plimsoll_record::{CalibratedLevel, Calibration};
use plimsoll_units::{grouped, share_text};

use crate::calibrations;
use crate::terminal::{remark, with_causes};

/// The consequence of a calibration without a ceiling.
const COUNTS_AS_MEAN: &str = "an agent here counts as the mean of the others";

/// Measures for about this time how many requests one worker can make here, unless a known calibration says so. The result is
/// stored, or else kept in memory. Without a result this machine has no ceiling, which is printed.
///
/// # Errors
/// When the user ends it.
pub(super) fn calibrate(time: Duration, interrupted: &AtomicBool) -> Result<(), CalibrateError> {
    if let Some(per_sec) = ceiling(&calibrations::known()) {
        remark(&format!("plimsoll: {}, by a stored calibration", sentence(per_sec)));
        return Ok(());
    }
    remark(&format!(
        "plimsoll: no ceiling of this machine is stored: calibrates for about {} s",
        time.as_secs_f64()
    ));
    let tool_version = env!("CARGO_PKG_VERSION");
    let options = CalibrationOptions { budget: time, driver: None, tool_version, interrupted };
    match plimsoll_conductor::calibrate(&options, &mut |_| {}) {
        Err(CalibrateError::Interrupted) => return Err(CalibrateError::Interrupted),
        Err(error) => {
            remark(&format!(
                "plimsoll: the calibration failed, so {COUNTS_AS_MEAN}: {}",
                with_causes(&error)
            ));
        }
        Ok(made) => remember(made),
    }
    Ok(())
}

/// As [`calibrate`], for agents that are processes of this machine: they read the stored result.
///
/// # Errors
/// When the user ends it.
pub(super) fn once_for_all(time: Duration, interrupted: &AtomicBool) -> Result<(), CalibrateError> {
    calibrate(time, interrupted)?;
    if ceiling(&calibrations::stored()).is_none() {
        remark("plimsoll: agents find no stored ceiling, so they count alike");
    }
    Ok(())
}

/// Returns the most requests per second that one worker can make with the default driver; `None` if it is not known.
fn ceiling(known: &[Calibration]) -> Option<u64> {
    let driver = usual_driver().ok()?;
    known.iter().find(|calibration| calibration.key.driver == driver.name())?.known_ceiling_per_sec()
}

/// Stores a calibration; one without a ceiling does not replace what is stored.
fn remember(made: Calibration) {
    let Some(per_sec) = made.known_ceiling_per_sec() else {
        let busy = share_text(made.ceiling().map_or(0.0, CalibratedLevel::busy_ratio));
        remark(&format!(
            "plimsoll: the calibration gives no ceiling, so {COUNTS_AS_MEAN}: its worker used {busy} of a core and was not the limit; \
             it takes two cores that nothing else uses"
        ));
        return;
    };
    match calibrations::remember(&made) {
        Ok(path) => remark(&format!("plimsoll: {}; wrote {}", sentence(per_sec), path.display())),
        Err(error) => {
            remark(&format!(
                "plimsoll: {}; kept in memory: {}",
                sentence(per_sec),
                with_causes(error.as_ref())
            ));
            calibrations::keep(made);
        }
    }
}

fn sentence(per_sec: u64) -> String {
    format!("one worker can make {} requests/s here", grouped(per_sec))
}
