//! Files beside the run file: the .dat and the figures. None is overwritten unless that was asked for.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use plimsoll_analyze::Findings;
use plimsoll_report::dat;
use plimsoll_report::figure::{self, Caption, Figure, Series};

/// A file to be written.
#[derive(Debug)]
pub(crate) struct Output {
    name: String,
    content: Vec<u8>,
}

impl Output {
    /// A file of this name with this content.
    pub(crate) fn new(name: String, content: impl Into<Vec<u8>>) -> Self {
        Self { name, content: content.into() }
    }

    /// What a ladder leaves behind: the table of wrktest.sh and its two figures.
    pub(crate) fn ladder(stem: &str, findings: &Findings) -> anyhow::Result<Vec<Self>> {
        let (caption, series) = (Caption::of(findings), Series::of(findings));
        let speeds = figure::sweep_qps_ttlb(&caption, &series)?;
        let success = figure::sweep_successrate(&caption, &series)?;
        let mut outputs = vec![Self::new(format!("{stem}.dat"), dat::render(findings))];
        outputs.extend(Self::figure(&format!("{stem}_qps_ttlb"), speeds));
        outputs.extend(Self::figure(&format!("{stem}_successrate"), success));
        Ok(outputs)
    }

    /// The two files of a figure.
    pub(crate) fn figure(stem: &str, figure: Figure) -> [Self; 2] {
        [Self::new(format!("{stem}.png"), figure.png), Self::new(format!("{stem}.svg"), figure.svg)]
    }
}

/// Fails if one of these files is there already.
pub(crate) fn refuse_existing(folder: &Path, names: &[String]) -> anyhow::Result<()> {
    match names.iter().map(|name| folder.join(name)).find(|path| path.exists()) {
        None => Ok(()),
        Some(path) => bail!("{} exists; --force overwrites it, -n NAME gives another name", path.display()),
    }
}

/// Writes all files and gives their paths.
pub(crate) fn write_all(folder: &Path, outputs: &[Output], force: bool) -> anyhow::Result<Vec<PathBuf>> {
    if !force {
        let names: Vec<String> = outputs.iter().map(|output| output.name.clone()).collect();
        refuse_existing(folder, &names)?;
    }
    fs::create_dir_all(folder).with_context(|| format!("could not make the folder {}", folder.display()))?;
    outputs.iter().map(|output| write(folder, output)).collect()
}

fn write(folder: &Path, output: &Output) -> anyhow::Result<PathBuf> {
    let path = folder.join(&output.name);
    fs::write(&path, &output.content).with_context(|| {
        format!("could not write {}; is the disk full, or the folder read-only?", path.display())
    })?;
    Ok(path)
}

/// The names of what a ladder leaves behind, in the order of [`Output::ladder`].
pub(crate) fn ladder_names(stem: &str) -> Vec<String> {
    let names = ["", "_qps_ttlb", "_qps_ttlb", "_successrate", "_successrate"];
    let endings = ["dat", "png", "svg", "png", "svg"];
    names.iter().zip(endings).map(|(name, ending)| format!("{stem}{name}.{ending}")).collect()
}
