//! The disk of a host: its device, and the files with which a control group caps it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The file for both caps of a group of version 2.
pub(super) const LIMIT_V2: &str = "io.max";

/// The files for the caps of a group of version 1: reads and writes.
pub(super) const LIMITS_V1: [&str; 2] = ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"];

/// Why the disk cannot be capped without a control group.
pub(super) const NO_GROUP: &str = "it takes a control group that may be written (controller io of version 2, or blkio of \
                                   version 1) and a kernel with CONFIG_BLK_DEV_THROTTLING";

/// The device of a folder in the form `254:0` that control groups take; or why the folder has no device.
pub(super) fn device_of(folder: &Path) -> Result<String, &'static str> {
    let number = fs::metadata(folder).map_err(|_| "the lab's own folder cannot be read")?.dev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    whole_device(Path::new("/sys/dev/block"), &format!("{major}:{minor}")).ok_or(
        "the lab's own folder is on no disk of its own, but in memory, on layers or on a file system of several disks (Btrfs, ZFS); \
         set TMPDIR to a folder on ext4 or XFS, or leave `disk` out",
    )
}

/// Replaces a partition by its whole device, because only whole devices can be capped. `devices` is the folder that lists block
/// devices by number.
fn whole_device(devices: &Path, number: &str) -> Option<String> {
    let device: PathBuf = fs::canonicalize(devices.join(number)).ok()?;
    if !device.join("partition").exists() {
        return Some(number.to_owned());
    }
    let whole = fs::read_to_string(device.parent()?.join("dev")).ok()?;
    Some(whole.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_partition_stands_for_its_disk_and_what_is_no_device_for_nothing() {
        let tree = tempfile::tempdir().unwrap();
        let (disk, devices) = (tree.path().join("sda"), tree.path().join("block"));
        fs::create_dir_all(disk.join("sda1")).unwrap();
        fs::create_dir(&devices).unwrap();
        fs::write(disk.join("dev"), "8:0\n").unwrap();
        fs::write(disk.join("sda1/partition"), "1\n").unwrap();
        symlink(&disk, devices.join("8:0")).unwrap();
        symlink(disk.join("sda1"), devices.join("8:1")).unwrap();
        assert_eq!(whole_device(&devices, "8:0").as_deref(), Some("8:0"));
        assert_eq!(whole_device(&devices, "8:1").as_deref(), Some("8:0"));
        assert_eq!(whole_device(&devices, "0:25"), None, "a file system in memory");
    }
}
