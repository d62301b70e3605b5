//! The fuzzers' corpora, and a walk over what is near to their seeds.

use std::fs;
use std::path::Path;

/// All seeds of a fuzz target, in the order of their names.
///
/// # Panics
/// When the target has no corpus, or a seed cannot be read.
#[expect(clippy::expect_used, reason = "a test without its corpus has nothing to show")]
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(folder).expect("the fuzzer's corpus");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| fs::read(path).expect("a readable seed")).collect()
}

/// What a fuzzer tries first: small changes at places that are spread over a seed, to bound the time.
#[derive(Debug, Clone, Copy)]
pub struct Mutations<'a> {
    pub max_places: usize,
    /// Bytes that mean something, of which each is put in the place of another.
    pub special_bytes: &'a [u8],
    /// The length of the piece that comes twice, in bytes.
    pub repeated_bytes: usize,
}

impl Mutations<'_> {
    /// Shows every mutation of a seed.
    pub fn each(&self, seed: &[u8], mut inspect: impl FnMut(&[u8])) {
        let step = seed.len().div_ceil(self.max_places).max(1);
        for at in (0..seed.len()).step_by(step) {
            self.at(seed, at).iter().for_each(|mutated| inspect(mutated));
        }
    }

    /// At one place: another byte, one less, a piece twice, an early end.
    fn at(&self, seed: &[u8], at: usize) -> Vec<Vec<u8>> {
        let (before, after) = seed.split_at(at);
        let replaced = |byte: u8| [before, &[byte], &after[1..]].concat();
        let mut mutated: Vec<_> = self.special_bytes.iter().map(|byte| replaced(*byte)).collect();
        mutated.push(replaced(after[0] ^ 0x80));
        mutated.push(replaced(after[0].wrapping_add(1)));
        mutated.push([before, &after[1..]].concat());
        mutated.push([before, &after[..after.len().min(self.repeated_bytes)], after].concat());
        mutated.push(before.to_vec());
        mutated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_changed_in_every_way_at_no_more_places_than_asked() {
        let mutations = Mutations { max_places: 2, special_bytes: b"?", repeated_bytes: 2 };
        let mut seen = Vec::new();
        mutations.each(b"abc", |mutated| seen.push(mutated.to_vec()));
        let first: [&[u8]; 6] = [b"?bc", b"\xe1bc", b"bbc", b"bc", b"ababc", b""];
        let second: [&[u8]; 6] = [b"ab?", b"ab\xe3", b"abd", b"ab", b"abcc", b"ab"];
        assert_eq!(seen, [first, second].concat());
        mutations.each(b"", |mutated| panic!("nothing can be changed in {mutated:?}"));
    }
}
