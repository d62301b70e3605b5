//! Reads what the rules judge: the files git knows or would add, and the crates of the workspace.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand};

/// One text file of the repository.
pub(crate) struct Source {
    /// Path from the root of the repository.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    #[cfg(test)]
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// The crate whose product code this file is part of, by the name of its folder; `None` for tests, and for the testkit,
    /// which is one.
    pub(crate) fn product_of(&self) -> Option<&str> {
        let (owner, file) = self.path.strip_prefix("crates/")?.split_once("/src/")?;
        let of_tests = self.stem() == "tests" || file.contains("tests/") || owner == "testkit";
        (self.is_rust() && !of_tests).then_some(owner)
    }

    /// File name without folder and ending.
    pub(crate) fn stem(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.split('.').next().unwrap_or(name)
    }
}

/// One package of the workspace.
pub(crate) struct Crate {
    /// The package's name without the `plimsoll-` before it; the binary's package is `cli`.
    pub(crate) name: String,
    /// Path of its Cargo.toml from the root of the repository.
    pub(crate) manifest: String,
    pub(crate) dependencies: Vec<Dependency>,
}

/// One dependency of a package, named as [`Crate::name`] when it is one of ours.
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// In the same workspace.
    pub(crate) ours: bool,
    /// Only for tests, benches and examples.
    pub(crate) dev: bool,
}

/// The root of the repository.
pub(crate) fn root() -> Result<PathBuf, Box<dyn Error>> {
    Ok(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?)
}

/// Every text file that is committed or would be by `git add --all`; files that are not UTF-8 have no words or code.
pub(crate) fn read_sources() -> Result<Vec<Source>, Box<dyn Error>> {
    let root = root()?;
    let listing = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output()
        .map_err(|error| format!("could not start git, which lists the files to check: {error}"))?;
    if !listing.status.success() {
        let complaint = String::from_utf8_lossy(&listing.stderr);
        return Err(format!("git could not list the repository's files: {complaint}").into());
    }
    let names = String::from_utf8(listing.stdout)?;
    Ok(names.split_terminator('\0').filter_map(|path| read_source(&root, path)).collect())
}

/// A file that was deleted but not yet committed as deleted is listed and cannot be read: it breaks no rule.
fn read_source(root: &Path, path: &str) -> Option<Source> {
    let text = fs::read_to_string(root.join(path)).ok()?;
    Some(Source { path: path.to_owned(), text })
}

/// ARCHITECTURE.md, where every crate edge has its line.
pub(crate) fn read_architecture() -> Result<String, Box<dyn Error>> {
    let path = root()?.join("ARCHITECTURE.md");
    fs::read_to_string(&path).map_err(|error| {
        format!("could not read {}, which explains every crate edge: {error}", path.display()).into()
    })
}

/// The workspace's packages as their manifests state them.
pub(crate) fn read_crates() -> Result<Vec<Crate>, Box<dyn Error>> {
    let root = root()?;
    let metadata = MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec()?;
    let mut crates = Vec::new();
    for package in &metadata.packages {
        let manifest = package.manifest_path.as_std_path().strip_prefix(&root)?;
        crates.push(Crate {
            name: short_name(package.name.as_str()).to_owned(),
            manifest: manifest.display().to_string(),
            dependencies: package.dependencies.iter().map(read_dependency).collect(),
        });
    }
    Ok(crates)
}

fn read_dependency(dependency: &cargo_metadata::Dependency) -> Dependency {
    Dependency {
        name: short_name(&dependency.name).to_owned(),
        ours: dependency.path.is_some(),
        dev: dependency.kind == DependencyKind::Development,
    }
}

/// The folder's name under crates/, which is how people speak of a crate.
fn short_name(package: &str) -> &str {
    match package {
        "plimsoll" => "cli",
        other => other.strip_prefix("plimsoll-").unwrap_or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_file_and_this_crate_are_among_what_is_read() {
        let sources = read_sources().unwrap();
        assert!(sources.iter().any(|source| source.path == "crates/testkit/tests/tidy/sources.rs"));
        let crates = read_crates().unwrap();
        let testkit = crates.iter().find(|one| one.name == "testkit").unwrap();
        assert_eq!(testkit.manifest, "crates/testkit/Cargo.toml");
        let metadata = testkit.dependencies.iter().find(|one| one.name == "cargo_metadata").unwrap();
        assert!(metadata.dev && !metadata.ours);
    }

    #[test]
    fn product_code_is_what_is_in_src_and_no_test() {
        let owner = |path: &str| Source::new(path, "").product_of().map(ToOwned::to_owned);
        assert_eq!(owner("crates/host/src/net/tcp.rs").as_deref(), Some("host"));
        for path in [
            "crates/host/tests/a.rs",
            "crates/host/src/net/tests.rs",
            "crates/testkit/src/lib.rs",
            "fuzz/a.rs",
        ] {
            assert_eq!(owner(path), None, "{path}");
        }
    }

    #[test]
    fn packages_go_by_the_name_of_their_folder() {
        assert_eq!(short_name("plimsoll"), "cli");
        assert_eq!(short_name("plimsoll-engine"), "engine");
        assert_eq!(short_name("serde"), "serde");
    }
}
