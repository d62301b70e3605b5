//! Remarks about the costs of switches, in words.

use plimsoll_analyze::NoNoise;

/// Returns why the variation from one run to the next is not known.
pub(crate) fn no_noise(why: NoNoise) -> String {
    let why = match why {
        NoNoise::Single => "no combination was run twice",
        NoNoise::TooFew => {
            "too few combinations were run twice to separate noise from what differs between rounds"
        }
        NoNoise::Equal => {
            "the runs of each combination agree to the last digit, like one run written down twice"
        }
    };
    format!("{why}, so these figures cannot be distinguished from noise")
}
