//! Goodput that is back, or is not, where chance has a part in it.

use std::cell::Cell;

use super::*;

/// Random numbers of a fixed seed, by splitmix64 (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    /// From 0 to 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// How many requests of a Poisson process with this mean fall due (Knuth).
    fn poisson(&mut self, mean: f64) -> u32 {
        let least = (-mean).exp();
        let mut product = self.uniform();
        let mut count = 0;
        while product > least {
            product *= self.uniform();
            count += 1;
        }
        count
    }
}

/// A service for Poisson arrivals that refuses at once what is beyond its capacity.
#[derive(Clone, Copy)]
struct Shop {
    capacity: f64,
    /// How long it takes for each request.
    service_sec: f64,
    /// The part of the requests that it is late for, however few there are.
    late: f64,
    /// Once it was overloaded it answers only this part of the requests, and the others never.
    left: f64,
}

impl Shop {
    fn service(self, seed: u64) -> Service {
        let mut random = Random(seed);
        let (mut now_sec, mut lost, mut is_overloaded) = (0.0, 0, false);
        let mut under_way: Vec<(f64, bool)> = Vec::new();
        Box::new(move |rate, sec| {
            let due = random.poisson(rate * sec);
            is_overloaded |= rate > self.capacity;
            let mut slot = Slot { due: Some(f64::from(due)), ..Slot::default() };
            for _ in 0..due {
                if is_overloaded && random.uniform() > self.left {
                    lost += 1;
                } else if random.uniform() * rate > self.capacity {
                    slot.refused += 1.0;
                } else {
                    let ends_sec = now_sec + random.uniform() * sec + self.service_sec;
                    under_way.push((ends_sec, random.uniform() < self.late));
                }
            }
            now_sec += sec;
            under_way.retain(|(ends_sec, is_late)| {
                let has_ended = *ends_sec <= now_sec;
                *(if *is_late { &mut slot.late } else { &mut slot.good }) += f64::from(u8::from(has_ended));
                !has_ended
            });
            slot.under_way = Some((under_way.len() + lost) as f64);
            slot
        })
    }

    /// What is found after a jump and a ramp to 1.2 times a rate that it holds, with other random numbers in each.
    fn found(self, rate: f64, slo: &Slo, seed: u64) -> Overload {
        let next = Cell::new(1000 * seed);
        let service = move || {
            next.set(next.get() + 1);
            self.service(next.get())
        };
        let mut made = Made { rate, slo: slo.clone(), service: Box::new(service), ..Made::of(shedding) };
        let hold = Some(Duration::from_secs(8));
        made.order = OverloadSpec { rate_per_sec: Some(rate), factors: vec![1.2], hold, ..made.order };
        // Ten windows of few requests.
        made.order.watch = (rate < 50.0).then_some(Duration::from_secs(50));
        found(&made)
    }
}

#[test]
fn a_slow_service_that_is_back_is_seen_to_be_back_at_once() {
    let shop = Shop { capacity: 104.0, service_sec: 0.3, late: 0.0, left: 1.0 };
    let mut at_once = 0;
    for seed in 0..15 {
        let overload = shop.found(100.0, &within(1000.0), seed);
        // How much is left of a few seconds of few requests is left to chance, but for half of it.
        assert!(matches!(overload.class, OverloadClass::Graceful | OverloadClass::Degrades), "seed {seed}");
        for step in &overload.steps {
            let Recovery::After { sec } = step.recovery else { panic!("seed {seed}: {:?}", step.recovery) };
            assert!(sec <= 5.0, "seed {seed}: {sec}");
            at_once += u32::from(sec == 0.0);
        }
    }
    assert!(at_once >= 25, "{at_once} of 30");
}

#[test]
fn a_service_of_few_slow_requests_is_well_at_its_base() {
    let shop = Shop { capacity: 10.4, service_sec: 1.5, late: 0.0, left: 1.0 };
    for seed in 0..15 {
        for step in &shop.found(10.0, &within(2000.0), seed).steps {
            assert_ne!(step.outcome, OverloadOutcome::Unknown(OverloadDoubt::Base), "seed {seed}");
            assert!(matches!(step.recovery, Recovery::After { .. }), "seed {seed}: {:?}", step.recovery);
        }
    }
}

#[test]
fn a_service_that_is_always_late_for_a_few_is_back_with_as_many() {
    let shop = Shop { capacity: 104.0, service_sec: 0.05, late: 0.03, left: 1.0 };
    let slo = Slo { latency: vec![LatencyLimit { percent: 95.0, limit_ms: 100.0 }], ..slo() };
    for seed in 0..15 {
        let overload = shop.found(100.0, &slo, seed);
        // How much is left of a few seconds of few requests is left to chance, but for half of it.
        assert!(matches!(overload.class, OverloadClass::Graceful | OverloadClass::Degrades), "seed {seed}");
        let is_back = |step: &OverloadStep| matches!(step.recovery, Recovery::After { .. });
        assert!(overload.steps.iter().all(is_back), "seed {seed}");
    }
}

#[test]
fn what_a_slow_service_never_answers_is_not_taken_for_chance() {
    for left in [0.0, 0.5, 0.7] {
        let shop = Shop { capacity: 104.0, service_sec: 0.3, late: 0.0, left };
        for step in &shop.found(100.0, &within(1000.0), 1).steps {
            let is_stuck = matches!(step.recovery, Recovery::Not { stuck: true, .. });
            assert!(is_stuck, "{left} at {}: {:?}", step.factor, step.recovery);
        }
    }
}

/// Once it was overloaded, so large a part of what it answers is late.
fn late_after(part: f64) -> Service {
    let (mut last, mut has_ended) = (0.0, false);
    Box::new(move |rate, sec| {
        has_ended |= rate < last;
        last = rate;
        let late = if has_ended { part * rate } else { 0.0 };
        let good = (rate - late).min(CAPACITY);
        Slot { good: good * sec, late: late * sec, refused: (rate - late - good) * sec, ..Slot::default() }
    })
}

#[test]
fn a_service_that_is_late_for_a_few_afterwards_is_not_back_and_not_down() {
    let few = overload(|| late_after(0.03));
    assert_eq!(few.class, OverloadClass::Graceful);
    for step in &few.steps {
        assert!(matches!(step.recovery, Recovery::Not { stuck: false, .. }), "{:?}", step.recovery);
    }
}

#[test]
fn a_service_that_goes_down_as_the_overload_ends_is_metastable_although_goodput_was_kept() {
    let most = overload(|| late_after(0.5));
    assert_eq!((most.class, most.at_factor), (OverloadClass::Metastable, Some(1.2)));
    assert!(most.steps.iter().all(|step| step.outcome == OverloadOutcome::Kept));
}
