//! The processes that serve a port.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::Path;

use plimsoll_units::{Clock, RealClock};

use super::owners::SocketOwners;
use super::stat::SmallFiles;
use super::table::{ProcessTable, Scope};
use crate::collector::Missing;
use crate::net::tcp_table::TcpTable;

/// The processes that listen on a TCP port of the machine whose file tree begins at `root`, and their children; none if
/// no process does that this user may read.
///
/// # Errors
/// When processes or sockets cannot be listed.
pub fn serving(root: &Path, port: u16) -> io::Result<Vec<u32>> {
    let mut table = ProcessTable::new(root, Scope::Machine);
    table.refresh(&mut SmallFiles::new())?;
    let listening = TcpTable::new(root, None).listening().map_err(|missing| match missing {
        Missing::Absent => io::Error::new(io::ErrorKind::NotFound, "this system lists no TCP sockets"),
        Missing::Failed(why) => io::Error::other(why),
    })?;
    let on_port = listening.iter().filter(|socket| socket.local.port() == port);
    let inodes: HashSet<u64> = on_port.map(|socket| socket.inode).collect();
    let mut owners = SocketOwners::new(root);
    owners.find_listeners(RealClock.now(), &inodes, &inodes, table.entries().keys().copied());
    let found = inodes.iter().flat_map(|inode| owners.of(*inode)).copied();
    let mut pids: BTreeSet<u32> = found.filter(|pid| table.is_watchable(*pid)).collect();
    table.add_descendants(&mut pids);
    Ok(pids.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_process_that_listens_is_found_and_none_where_none_does() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(serving(Path::new("/"), port).unwrap().contains(&std::process::id()));
        drop(listener);
        assert!(!serving(Path::new("/"), port).unwrap().contains(&std::process::id()));
    }
}
