//! Who serves a port.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::Path;

use plimsoll_units::{Clock, RealClock};

use crate::holders::Holders;
use crate::roster::{Roster, Scope};
use crate::small_files::SmallFiles;
use crate::source::Missing;
use crate::tcp_table::TcpTable;

/// The processes that listen on a TCP port of the machine whose file tree begins at `root`, and their children; none if
/// nobody does, or nobody who may be looked into.
///
/// # Errors
/// When processes or sockets cannot be listed.
pub fn serving(root: &Path, port: u16) -> io::Result<Vec<u32>> {
    let mut roster = Roster::new(root, Scope::Machine);
    roster.refresh(&mut SmallFiles::new())?;
    let listening = TcpTable::new(root, None).listening().map_err(|missing| match missing {
        Missing::Absent => io::Error::new(io::ErrorKind::NotFound, "this system lists no TCP sockets"),
        Missing::Failed(why) => io::Error::other(why),
    })?;
    let on_port = listening.iter().filter(|socket| socket.local.port() == port);
    let inodes: HashSet<u64> = on_port.map(|socket| socket.inode).collect();
    let mut holders = Holders::new(root);
    holders.find(RealClock.now(), &inodes, &inodes, roster.entries().keys().copied());
    let held = inodes.iter().flat_map(|inode| holders.of(*inode)).copied();
    let mut pids: BTreeSet<u32> = held.filter(|pid| roster.is_watchable(*pid)).collect();
    roster.add_descendants(&mut pids);
    Ok(pids.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn who_listens_is_found_and_nobody_where_nobody_does() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(serving(Path::new("/"), port).unwrap().contains(&std::process::id()));
        drop(listener);
        assert!(!serving(Path::new("/"), port).unwrap().contains(&std::process::id()));
    }
}
