//! A table of open connections, indexed by token.

/// Slots for connections. A token consists of a slot and its generation, so that an event or a timer of a closed connection
/// never reaches the connection that uses the slot now.
pub(crate) struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

fn token(index: u32, generation: u32) -> u64 {
    u64::from(generation) << 32 | u64::from(index)
}

fn index(token: u64) -> usize {
    (token & u64::from(u32::MAX)) as usize
}

impl<T> Slots<T> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    /// Inserts the value that `make` creates from its token; returns the token, or `None` if nothing was created or no slot is
    /// left.
    pub(crate) fn insert_with(&mut self, make: impl FnOnce(u64) -> Option<T>) -> Option<u64> {
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.grow()?,
        };
        let slot = &mut self.slots[index as usize];
        let token = token(index, slot.generation);
        slot.value = make(token);
        if slot.value.is_none() {
            self.free.push(index);
            return None;
        }
        Some(token)
    }

    /// The value with this token, if it is still there.
    #[inline]
    pub(crate) fn get_mut(&mut self, token: u64) -> Option<&mut T> {
        let slot = self.slots.get_mut(index(token))?;
        if u64::from(slot.generation) == token >> 32 { slot.value.as_mut() } else { None }
    }

    /// Removes and returns the value with this token, if it is still there.
    pub(crate) fn remove(&mut self, token: u64) -> Option<T> {
        self.get_mut(token)?;
        let slot = &mut self.slots[index(token)];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index(token) as u32);
        slot.value.take()
    }

    fn grow(&mut self) -> Option<u32> {
        let index = u32::try_from(self.slots.len()).ok().filter(|index| *index < u32::MAX)?;
        self.slots.push(Slot { generation: 0, value: None });
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_does_not_reach_who_took_the_place() {
        let mut slots = Slots::new();
        let first = slots.insert_with(|_| Some('a')).unwrap();
        let other = slots.insert_with(|_| Some('b')).unwrap();
        assert_eq!(slots.remove(first), Some('a'));
        let second = slots.insert_with(|_| Some('c')).unwrap();
        assert_eq!(slots.slots.len(), 2, "the place is used again");
        assert_eq!(slots.get_mut(first), None);
        assert_eq!(slots.remove(first), None);
        assert_eq!(slots.get_mut(second), Some(&mut 'c'));
        assert_eq!(slots.get_mut(other), Some(&mut 'b'));
        assert_eq!(slots.get_mut(u64::MAX), None);
    }

    #[test]
    fn a_place_that_stayed_empty_is_given_out_again() {
        let mut slots = Slots::new();
        assert_eq!(slots.insert_with(|_| None::<char>), None);
        assert_eq!(slots.insert_with(|_| Some('a')), Some(0));
    }
}
