//! The rate of a thread, sampled as wrk samples it.

use std::time::Duration;

/// Turns the counts of one thread's intervals into wrk's samples of its rate.
///
/// wrk looks every 100 ms. An interval in which nothing was answered gives no sample; it lengthens the next.
#[derive(Debug, Clone, Default)]
pub struct RateSampler {
    elapsed: Duration,
}

impl RateSampler {
    /// How often wrk looks.
    pub const INTERVAL: Duration = Duration::from_millis(100);

    /// Takes in one interval of this length with so many responses; a sample in whole requests a second, if it gives
    /// one.
    pub fn observe(&mut self, responses: u64, interval: Duration) -> Option<u64> {
        self.elapsed += interval;
        if responses == 0 {
            return None;
        }
        let elapsed_s = std::mem::take(&mut self.elapsed).as_secs_f64();
        (elapsed_s > 0.0).then(|| (responses as f64 / elapsed_s) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_without_answers_lengthens_the_next() {
        let mut sampler = RateSampler::default();
        let samples = [50, 0, 0, 30, 7].map(|responses| sampler.observe(responses, RateSampler::INTERVAL));
        assert_eq!(samples, [Some(500), None, None, Some(100), Some(70)]);
    }
}
