//! The cheapest mix of machines of several sizes that carries a rate.

/// The most combinations that are tried; the cheapest of them is returned.
const MAX_TRIED: u32 = 2_000_000;
/// Rates that differ by less than this ratio are equal.
const ROUNDING: f64 = 1e-9;
/// Two costs that differ by less than this ratio are equal.
const EQUAL: f64 = 1e-12;

/// A machine that can be bought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Offer {
    /// Requests per second of one machine, above 0.
    pub(super) per_sec: f64,
    pub(super) per_hour: f64,
}

/// The number of machines of each offer, and their cost.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CheapestMix {
    pub(super) counts: Vec<u64>,
    pub(super) per_hour: f64,
    /// False if there were too many combinations to try all of them.
    pub(super) is_exact: bool,
}

/// A search by branch and bound, over offers sorted by the cost of a request. A branch is left once the rest of the rate, carried
/// by the next offer without rounding, cannot be cheaper than the best combination.
struct Search<'a> {
    offers: &'a [(usize, Offer)],
    best: Option<(f64, Vec<u64>)>,
    counts: Vec<u64>,
    tried: u32,
    /// Rates below this are rounding errors of 0.
    rounding_per_sec: f64,
}

/// The cheapest combination that carries the rate; of equally cheap ones that with the fewest machines. `None` without offers.
pub(super) fn cheapest(offers: &[Offer], rate_per_sec: f64) -> Option<CheapestMix> {
    let mut sorted: Vec<(usize, Offer)> = offers.iter().copied().enumerate().collect();
    let cost = |offer: &Offer| offer.per_hour / offer.per_sec;
    sorted.sort_by(|(_, a), (_, b)| cost(a).total_cmp(&cost(b)).then(b.per_sec.total_cmp(&a.per_sec)));
    let rounding_per_sec = rate_per_sec * ROUNDING;
    let counts = vec![0; sorted.len()];
    let mut search = Search { offers: &sorted, best: None, counts, tried: 0, rounding_per_sec };
    search.add(0, rate_per_sec, 0.0);
    let is_exact = search.tried < MAX_TRIED;
    let (per_hour, by_cost) = search.best?;
    let mut counts = vec![0; offers.len()];
    for ((index, _), count) in sorted.iter().zip(by_cost) {
        counts[*index] = count;
    }
    Some(CheapestMix { counts, per_hour, is_exact })
}

impl Search<'_> {
    /// Tries all counts of the offer at `place`, the largest first.
    fn add(&mut self, place: usize, left_per_sec: f64, spent: f64) {
        let Some((_, offer)) = self.offers.get(place) else { return };
        let most = machines(left_per_sec, offer.per_sec);
        let least = if place + 1 == self.offers.len() { most } else { 0 };
        for count in (least..=most).rev() {
            let left = left_per_sec - count as f64 * offer.per_sec;
            let spent = spent + count as f64 * offer.per_hour;
            let is_carried = left <= self.rounding_per_sec;
            if self.tried == MAX_TRIED {
                break;
            }
            if !self.may_be_cheaper(place, left, spent) {
                // Fewer machines of this offer leave more of the rate to dearer ones.
                if is_carried { continue } else { break }
            }
            self.tried += 1;
            self.counts[place] = count;
            if is_carried {
                self.keep(spent);
            } else {
                self.add(place + 1, left, spent);
            }
        }
        self.counts[place] = 0;
    }

    fn may_be_cheaper(&self, place: usize, left_per_sec: f64, spent: f64) -> bool {
        let Some((best, counts)) = &self.best else { return true };
        let next = self.offers.get(place + 1).map_or(0.0, |(_, offer)| offer.per_hour / offer.per_sec);
        let least = spent + left_per_sec.max(0.0) * next;
        let as_many = self.counts[..place].iter().sum::<u64>() >= counts.iter().sum();
        least < best * (1.0 - EQUAL) || (least <= best * (1.0 + EQUAL) && !as_many)
    }

    fn keep(&mut self, per_hour: f64) {
        let is_better = |(best, counts): &(f64, Vec<u64>)| {
            let is_fewer = self.counts.iter().sum::<u64>() < counts.iter().sum();
            per_hour < best * (1.0 - EQUAL) || (per_hour <= best * (1.0 + EQUAL) && is_fewer)
        };
        if self.best.as_ref().is_none_or(is_better) {
            self.best = Some((per_hour, self.counts.clone()));
        }
    }
}

/// The machines that carry a rate; an excess within rounding error needs no extra machine.
fn machines(rate_per_sec: f64, each_per_sec: f64) -> u64 {
    (rate_per_sec / each_per_sec * (1.0 - ROUNDING)).ceil().max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(per_sec: f64, per_hour: f64) -> Offer {
        Offer { per_sec, per_hour }
    }

    /// The cheapest of all combinations up to so many of each.
    fn by_trying_all(offers: &[Offer], rate: f64, most: u64) -> f64 {
        let mut costs = vec![(0.0, 0.0)];
        for offer in offers {
            let with = |(per_sec, cost): (f64, f64)| {
                (0..=most)
                    .map(move |n| (per_sec + n as f64 * offer.per_sec, cost + n as f64 * offer.per_hour))
            };
            costs = costs.into_iter().flat_map(with).collect();
        }
        costs
            .into_iter()
            .filter(|(per_sec, _)| *per_sec >= rate)
            .map(|(_, cost)| cost)
            .fold(f64::MAX, f64::min)
    }

    #[test]
    fn a_small_machine_fills_what_large_ones_leave() {
        // 2,100/s: three large ones cost 3.00, two large and a small one 2.60.
        let mix = cheapest(&[offer(400.0, 0.6), offer(1_000.0, 1.0)], 2_100.0).unwrap();
        assert_eq!((mix.counts, mix.is_exact), (vec![1, 2], true));
        assert!((mix.per_hour - 2.6).abs() < 1e-12);
    }

    #[test]
    fn the_mix_is_the_cheapest_of_all() {
        let mut noise = plimsoll_testkit::Noise::new(7);
        for _ in 0..200 {
            let mut drawn = || noise.normal().abs() + 0.2;
            let offers = [
                offer(100.0 * drawn(), drawn()),
                offer(100.0 * drawn(), drawn()),
                offer(100.0 * drawn(), drawn()),
            ];
            let rate = 200.0 * drawn();
            let mix = cheapest(&offers, rate).unwrap();
            let carried: f64 =
                mix.counts.iter().zip(&offers).map(|(n, offer)| *n as f64 * offer.per_sec).sum();
            assert!(carried >= rate * (1.0 - 1e-6), "{mix:?} of {offers:?}");
            let all = by_trying_all(&offers, rate, 40);
            assert!((mix.per_hour - all).abs() < 1e-6 * all, "{mix:?} of {offers:?}: {all}");
        }
    }

    #[test]
    fn of_equally_dear_mixes_that_of_the_fewest_machines_is_taken() {
        let mix = cheapest(&[offer(500.0, 0.5), offer(1_000.0, 1.0)], 3_000.0).unwrap();
        assert_eq!(mix.counts, [0, 3]);
    }

    #[test]
    fn a_long_search_ends_with_what_it_found() {
        let offers: Vec<Offer> =
            (0..8).map(|n| offer(1.0 + f64::from(n) * 0.37, 1.0 + f64::from(n) * 0.37)).collect();
        let mix = cheapest(&offers, 1e5).unwrap();
        assert!(mix.per_hour < 1.001e5, "{mix:?}");
        assert_eq!(cheapest(&[], 1.0), None);
    }
}
