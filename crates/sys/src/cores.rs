//! Which cores a thread may run on.

use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A set of cores. Threads inherit that of the thread that starts them.
#[derive(Debug, Clone, Copy)]
pub struct Cores(CpuSet);

impl Cores {
    /// Those that the calling thread may run on.
    ///
    /// # Errors
    /// When the kernel does not say, as in some sandboxes.
    pub fn allowed() -> io::Result<Self> {
        Ok(Self(sched_getaffinity(None)?))
    }

    /// One core alone.
    pub fn only(core: u32) -> Self {
        Self::of(&[core])
    }

    /// These cores.
    pub fn of(cores: &[u32]) -> Self {
        let mut set = CpuSet::new();
        for core in cores {
            set.set(*core as usize);
        }
        Self(set)
    }

    /// The numbers of the cores, lowest first.
    pub fn numbers(&self) -> Vec<u32> {
        (0..CpuSet::MAX_CPU).filter(|core| self.0.is_set(*core)).map(|core| core as u32).collect()
    }

    /// Binds the calling thread, and those that it starts from now on, to these cores.
    ///
    /// # Errors
    /// When none of them is allowed, or the kernel refuses.
    pub fn bind(&self) -> io::Result<()> {
        Ok(sched_setaffinity(None, &self.0)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_thread_runs_on_its_core_alone_and_so_do_those_it_starts() {
        let core = Cores::allowed().unwrap().numbers()[0];
        let seen = std::thread::spawn(move || {
            Cores::only(core).bind().unwrap();
            std::thread::spawn(|| Cores::allowed().unwrap().numbers()).join().unwrap()
        });
        assert_eq!(seen.join().unwrap(), [core]);
    }
}
