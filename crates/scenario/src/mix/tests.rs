use proptest::prelude::*;

use super::*;

fn sequence(weights: &[u32], count: usize) -> Vec<usize> {
    let mix = Mix::new(weights).unwrap();
    let mut turn = mix.start(0, 1);
    (0..count).map(|_| mix.next(&mut turn)).collect()
}

fn counts(sequence: &[usize], requests: usize) -> Vec<u32> {
    let mut counts = vec![0; requests];
    sequence.iter().for_each(|index| counts[*index] += 1);
    counts
}

#[test]
fn a_rare_request_stands_between_the_frequent_ones() {
    assert_eq!(sequence(&[1, 3], 8), [1, 0, 1, 1, 1, 0, 1, 1]);
}

#[test]
fn equal_weights_take_turns_in_the_order_of_the_file() {
    assert_eq!(sequence(&[7, 7, 7], 6), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn what_weights_share_does_not_lengthen_the_cycle() {
    assert_eq!(Mix::new(&[1000, 3000]).unwrap().cycle_len(), 4);
}

#[test]
fn many_requests_of_equal_weight_are_laid_out() {
    let mix = Mix::new(&vec![1; 100_000]).unwrap();
    assert_eq!(mix.cycle_len(), 100_000);
}

#[test]
fn weights_that_make_no_mix_are_refused() {
    assert_eq!(Mix::new(&[]), Err(MixError::Empty));
    assert_eq!(Mix::new(&[1, 0]), Err(MixError::Zero { index: 2 }));
    assert_eq!(Mix::new(&[u32::MAX, 1]), Err(MixError::TooLong { total: 1 << 32 }));
}

proptest! {
    #[test]
    fn every_cycle_holds_each_request_as_often_as_its_weight(
        weights in prop::collection::vec(1_u32..40, 1..12),
        worker in 0_u32..8,
    ) {
        let mix = Mix::new(&weights).unwrap();
        let mut turn = mix.start(worker, 8);
        let scale = weights.iter().sum::<u32>() / mix.cycle_len() as u32;
        for _ in 0..2 {
            let cycle: Vec<_> = (0..mix.cycle_len()).map(|_| mix.next(&mut turn)).collect();
            let scaled: Vec<u32> = counts(&cycle, weights.len()).iter().map(|count| count * scale).collect();
            prop_assert_eq!(&scaled, &weights);
        }
    }

    #[test]
    fn at_any_time_the_shares_are_within_a_few_requests_of_the_weights(
        weights in prop::collection::vec(1_u32..40, 2..6),
        length in 1_usize..200,
    ) {
        let total = f64::from(weights.iter().sum::<u32>());
        let counts = counts(&sequence(&weights, length), weights.len());
        for (count, weight) in counts.iter().zip(&weights) {
            let due = length as f64 * f64::from(*weight) / total;
            // Each request is due within half a place of its own, and so is each other one.
            prop_assert!((f64::from(*count) - due).abs() <= weights.len() as f64 / 2.0 + 0.5, "{count} for {due}");
        }
    }

    #[test]
    fn workers_start_in_different_places(workers in 2_u32..16) {
        let mix = Mix::new(&[5, 11, 16]).unwrap();
        let starts: Vec<_> = (0..workers).map(|worker| mix.start(worker, workers)).collect();
        for pair in starts.windows(2) {
            prop_assert_ne!(pair[0], pair[1]);
        }
    }
}
