//! Which processes are looked into.

/// The processes of a host whose threads, descriptors and connections are told of: those named here, their children,
/// and the processes on the same machine that they have connections to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// Ports that the processes listen on.
    pub ports: Vec<u16>,
    /// Process ids.
    pub pids: Vec<u32>,
    /// Names of programs as the kernel keeps them, which is the first fifteen bytes of a longer name.
    pub names: Vec<String>,
    /// Whatever serves other machines, but for what this process was started by: where the load of this machine comes from
    /// is not known, as on one that is looked at from afar.
    pub serving: bool,
}

/// What the kernel keeps of a program's name (`TASK_COMM_LEN`, without the zero at its end).
const NAME_BYTES: usize = 15;

impl Watched {
    /// Whether no process is named at all.
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty() && self.pids.is_empty() && self.names.is_empty() && !self.serving
    }

    /// Whether this process is named by its id or name.
    pub(crate) fn names(&self, pid: u32, name: &str) -> bool {
        let kept = |typed: &String| &typed.as_bytes()[..typed.len().min(NAME_BYTES)] == name.as_bytes();
        self.pids.contains(&pid) || self.names.iter().any(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_that_of_the_process_whose_name_the_kernel_cut() {
        let watched = Watched { names: vec!["prometheus-node-exporter".to_owned()], ..Watched::default() };
        assert!(watched.names(1, "prometheus-node"));
        assert!(!watched.names(1, "prometheus"));
    }
}
