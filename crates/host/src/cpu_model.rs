//! What the processor is called.

use std::fs;
use std::path::Path;

/// The name that the processor's maker gave it, from `/proc/cpuinfo`; `None` where the kernel does not tell, as on most
/// ARM machines.
pub fn cpu_model(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join("proc/cpuinfo")).ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::tree;

    #[test]
    fn the_name_is_that_of_the_first_core() {
        let text = "processor\t: 0\nmodel name\t: Ship's Engine 9000\nmodel name\t: other\n";
        let root = tree(&[("proc/cpuinfo", text)]);
        assert_eq!(cpu_model(root.path()), Some("Ship's Engine 9000".to_owned()));
        assert_eq!(cpu_model(tree(&[("proc/cpuinfo", "processor: 0\n")]).path()), None);
    }
}
