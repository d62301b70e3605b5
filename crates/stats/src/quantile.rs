//! Confidence intervals of quantiles by order statistics. They hold for any distribution.

use statrs::distribution::{Binomial, DiscreteCDF};

use crate::Z_95;

/// Each bound of a quantile may be wrong in at most this ratio of cases. With fewer samples than that requires, there is no bound.
const ONE_SIDED_ERROR: f64 = 0.05;

/// Up to this many samples the ranks are exact. Beyond, np(1 − p) is at least 99 for p99.9, and the normal approximation differs by
/// about one rank among thousands.
const MAX_EXACT: u64 = 100_000;

/// Returns the smallest number of samples whose maximum bounds the quantile `p` from above.
///
/// All n samples lie below the quantile with probability pⁿ; from n = ln 0.05 / ln p on, the largest sample is an upper
/// bound with 95 % confidence.
///
/// ```
/// # use plimsoll_stats::quantile::min_samples;
/// assert_eq!([0.5, 0.99, 0.999].map(min_samples), [5, 299, 2995]);
/// ```
pub fn min_samples(p: f64) -> u64 {
    (ONE_SIDED_ERROR.ln() / p.ln()).ceil() as u64
}

/// Returns the rank, from 1, of the quantile `p` of `n` samples by the nearest-rank method: ⌈pn⌉, and at least 1.
///
/// The product is lowered by a billionth of n: floating point may place 0.9·n just above a whole number, and that must not become
/// the next rank.
pub fn rank(n: u64, p: f64) -> u64 {
    ((p * n as f64 - 1e-9 * n as f64).ceil() as u64).max(1)
}

/// Returns ranks l and r, from 1, such that the quantile `p` of `n` samples lies between these samples with 95 % confidence.
///
/// The number of samples at or below the quantile is Bin(n, p), so P(x₍ₗ₎ ≤ q ≤ x₍ᵣ₎) = P(l ≤ Bin(n, p) ≤ r − 1) (David and
/// Nagaraja, *Order Statistics*, 2003, section 7.1). If no sample bounds the quantile on one side with 97.5 %, the extreme sample
/// is used. From [`min_samples`] on, the largest sample is an upper bound with 95 % or more.
///
/// ```
/// # use plimsoll_stats::quantile::interval_ranks;
/// // Ten values and the median: ranks 2 and 9 hold with 97.9 %, 3 and 8 would only with 89 %.
/// assert_eq!(interval_ranks(10, 0.5), (2, 9));
/// ```
pub fn interval_ranks(n: u64, p: f64) -> (u64, u64) {
    let (low, high) = match Binomial::new(p, n) {
        Ok(binomial) if n <= MAX_EXACT => (binomial.inverse_cdf(0.025), binomial.inverse_cdf(0.975) + 1),
        _ => normal_ranks(n as f64, p),
    };
    (low.clamp(1, n), high.clamp(1, n))
}

fn normal_ranks(n: f64, p: f64) -> (u64, u64) {
    let margin = Z_95 * (n * p * (1.0 - p)).sqrt();
    ((n * p - margin).floor() as u64, (n * p + margin).ceil() as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_and_approximate_ranks_agree_where_they_meet() {
        for p in [0.5, 0.9, 0.99, 0.999] {
            let exact = interval_ranks(MAX_EXACT, p);
            let normal = normal_ranks(MAX_EXACT as f64, p);
            assert!(
                exact.0.abs_diff(normal.0) <= 3 && exact.1.abs_diff(normal.1) <= 3,
                "{exact:?} {normal:?}"
            );
        }
    }

    #[test]
    fn a_whole_product_is_its_own_rank() {
        assert_eq!([rank(1000, 0.9), rank(10, 0.9), rank(1001, 0.5), rank(1, 0.5)], [900, 9, 501, 1]);
    }
}
