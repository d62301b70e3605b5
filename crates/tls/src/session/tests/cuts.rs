//! How the bytes are cut never changes the outcome.

use std::sync::LazyLock;

use proptest::prelude::*;
use rustls::SupportedProtocolVersion;

use super::peer::{BOTH, Pair, World};
use crate::TlsFailure;

static WORLDS: LazyLock<[World; 2]> = LazyLock::new(|| BOTH.map(World::new));

fn outcome(world: &World, script: &Script, cuts: &[usize]) -> (Vec<u8>, Vec<u8>, Result<(), TlsFailure>) {
    let mut pair = Pair::new(&world.client, &world.config);
    let mut turn = 0;
    let mut cut = |_| {
        turn += 1;
        cuts[turn % cuts.len()]
    };
    pair.settle_cut(&mut cut);
    for body in &script.bodies {
        pair.client_says(body);
        pair.server_says(body);
        if script.new_keys && world.version() == BOTH[1] {
            pair.server.refresh_traffic_keys().unwrap();
        }
        pair.settle_cut(&mut cut);
    }
    if script.goodbye {
        pair.server.send_close_notify();
    }
    if let Some(position) = script.flip {
        pair.server_says(b"the last words are changed on their way");
        let mut flight = pair.flight();
        let position = position % flight.len();
        flight[position] ^= 0x80;
        let mut rest = flight.as_mut_slice();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at_mut(cut(0).clamp(1, rest.len()));
            pair.hear(piece);
            rest = after;
        }
    } else {
        pair.settle_cut(&mut cut);
    }
    (pair.client_read, pair.server_read, pair.client.end())
}

#[derive(Debug, Clone)]
struct Script {
    bodies: Vec<Vec<u8>>,
    new_keys: bool,
    goodbye: bool,
    flip: Option<usize>,
}

fn scripts() -> impl Strategy<Value = Script> {
    let body = (0..40_000_usize, any::<u8>()).prop_map(|(bytes, byte)| vec![byte; bytes]);
    let bodies = proptest::collection::vec(body, 0..4);
    (bodies, any::<bool>(), any::<bool>(), proptest::option::of(any::<usize>()))
        .prop_map(|(bodies, new_keys, goodbye, flip)| Script { bodies, new_keys, goodbye, flip })
}

impl World {
    fn version(&self) -> &'static SupportedProtocolVersion {
        if std::ptr::eq(self, &raw const WORLDS[0]) { BOTH[0] } else { BOTH[1] }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn cuts_never_change_the_outcome(
        script in scripts(),
        cuts in proptest::collection::vec(prop_oneof![1..8_usize, 1..400_usize, 1..40_000_usize], 1..20),
    ) {
        for world in WORLDS.iter() {
            let whole = outcome(world, &script, &[usize::MAX]);
            prop_assert!(outcome(world, &script, &cuts) == whole);
        }
    }
}
