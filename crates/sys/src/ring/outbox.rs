//! Bytes on their way out that nobody else keeps.

/// Copies of what is being sent, each kept until the kernel has said that it is done with it.
#[derive(Default)]
pub(super) struct Outbox {
    letters: Vec<Letter>,
    free: Vec<u32>,
}

/// One copy. Its bytes are on the heap and are not touched while it is on its way, so that it may move itself.
struct Letter {
    bytes: Vec<u8>,
    token: u64,
}

impl Outbox {
    /// Copies `bytes`; gives the number of the copy and where it lies.
    pub(super) fn post(&mut self, bytes: &[u8], token: u64) -> (u32, *const u8) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.letters.push(Letter { bytes: Vec::new(), token });
            // All numbers may be free at the same time, and taking one back must not need memory.
            self.free.reserve(self.letters.len());
            self.letters.len() as u32 - 1
        });
        let letter = &mut self.letters[number as usize];
        letter.token = token;
        letter.bytes.clear();
        letter.bytes.extend_from_slice(bytes);
        (number, letter.bytes.as_ptr())
    }

    /// The kernel is done with this copy; gives the token that it was posted with.
    pub(super) fn delivered(&mut self, number: u32) -> u64 {
        self.free.push(number);
        self.letters[number as usize].token
    }
}
