//! The documents of a run next to its text: a page, a summary in Markdown, JUnit XML; their flags, and where they are written.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use plimsoll_analyze::Findings;
use plimsoll_record::Run;
use plimsoll_report::json::PageDocument;
use plimsoll_report::{Values, html, junit, junit_of_failure, markdown, markdown_of_failure, page_run};

use crate::args::values;
use crate::exit::UsageError;
use crate::files::{Output, Written, refuse_existing};
use crate::terminal::result;

/// The file that GitHub Actions shows as the summary of a step.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";
/// The file name that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DocumentArgs {
    #[command(flatten)]
    page: PageArgs,
    #[command(flatten)]
    markdown: MarkdownArgs,
    /// Write each condition as a test in JUnit XML as well: FILE, or - for standard output in place of the text
    #[arg(long, value_name = "FILE", value_parser = values::written_file)]
    junit: Option<PathBuf>,
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PageArgs {
    /// Write a page as well, one file that is read without a network: FILE, or NAME.html next to the other files
    #[arg(long, value_name = "FILE", num_args = 0..=1, value_parser = values::written_file)]
    html: Option<Option<PathBuf>>,
}

impl PageArgs {
    /// Returns where the page goes; `None` if none is asked for.
    ///
    /// # Errors
    /// When it needs a file and has none.
    pub(crate) fn place(&self, usual: Usual<'_>) -> Result<Option<Place>, UsageError> {
        self.html.as_ref().map(|file| Place::new(Kind::Html, file.as_deref(), usual)).transpose()
    }
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct MarkdownArgs {
    /// Write a summary in Markdown as well: FILE, - for standard output in place of the text, or without FILE the summary of
    /// the step in GitHub Actions, and elsewhere NAME.md next to the run file
    #[arg(long, value_name = "FILE", num_args = 0..=1, value_parser = values::written_file)]
    markdown: Option<Option<PathBuf>>,
}

/// The kinds of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Html,
    Markdown,
    Junit,
}

impl Kind {
    fn flag(self) -> &'static str {
        match self {
            Self::Html => "--html",
            Self::Markdown => "--markdown",
            Self::Junit => "--junit",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Junit => "xml",
        }
    }
}

/// Where a document goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    File {
        folder: PathBuf,
        name: String,
    },
    /// The summary of a CI step, to which the document is appended.
    Summary(PathBuf),
    /// Standard output, in place of the text.
    StandardOutput,
}

/// The default folder, and the file name without its ending; `None` if nothing else is written.
pub(crate) type Usual<'a> = Option<(&'a Path, &'a str)>;

impl Place {
    /// Returns where a document goes whose flag was given with this file, or without one.
    ///
    /// # Errors
    /// When no file is named and there is no usual one, or it cannot get this document.
    fn new(kind: Kind, file: Option<&Path>, usual: Usual<'_>) -> Result<Self, UsageError> {
        let Some(file) = file else { return Self::usual(kind, usual) };
        if file == Path::new(STANDARD_OUTPUT) {
            return match kind {
                Kind::Html => Err(UsageError("a page is no text; name a file: --html FILE".to_owned())),
                Kind::Markdown | Kind::Junit => Ok(Self::StandardOutput),
            };
        }
        let name = file.file_name().map(OsString::from).and_then(|name| name.into_string().ok());
        let name =
            name.ok_or_else(|| UsageError(format!("{} {}: name a file", kind.flag(), file.display())))?;
        let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        Ok(Self::File { folder: folder.unwrap_or(Path::new(".")).to_owned(), name })
    }

    fn usual(kind: Kind, usual: Usual<'_>) -> Result<Self, UsageError> {
        let summary = env::var_os(STEP_SUMMARY).filter(|path| kind == Kind::Markdown && !path.is_empty());
        if let Some(path) = summary {
            return Ok(Self::Summary(path.into()));
        }
        let (folder, stem) = usual.ok_or_else(|| {
            let flag = kind.flag();
            UsageError(format!("nothing else is written, so name the file: {flag} FILE"))
        })?;
        Ok(Self::File { folder: folder.to_owned(), name: format!("{stem}.{}", kind.ending()) })
    }

    /// Fails if the document would replace an existing file.
    pub(crate) fn refuse_existing(&self) -> anyhow::Result<()> {
        match self {
            Self::File { folder, name } => refuse_existing([&folder.join(name)], "name another file"),
            Self::Summary(_) | Self::StandardOutput => Ok(()),
        }
    }

    /// Writes a document, or keeps the error with which it could not be made. The caller prints one for standard output.
    pub(crate) fn write(&self, content: anyhow::Result<String>, force: bool) -> Written {
        match self {
            Self::File { folder, name } => {
                Written::to(folder, content.map(|content| vec![Output::new(name.clone(), content)]), force)
            }
            Self::Summary(path) => {
                let appended = content.and_then(|content| append(path, &content));
                Written {
                    paths: appended.is_ok().then(|| path.clone()).into_iter().collect(),
                    trouble: appended.err(),
                }
            }
            Self::StandardOutput => Written::default(),
        }
    }
}

fn append(path: &Path, content: &str) -> anyhow::Result<()> {
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(content.as_bytes()))
        .with_context(|| format!("could not append to {}, which {STEP_SUMMARY} names", path.display()))
}

impl MarkdownArgs {
    /// Returns where the summary goes; `None` if none is asked for.
    pub(crate) fn place(&self, usual: Usual<'_>) -> Result<Option<Place>, UsageError> {
        self.markdown.as_ref().map(|file| Place::new(Kind::Markdown, file.as_deref(), usual)).transpose()
    }
}

impl DocumentArgs {
    /// Returns the documents that are asked for, and where each goes.
    ///
    /// # Errors
    /// When one of them has no place, or two go to standard output.
    pub(crate) fn documents(&self, usual: Usual<'_>) -> Result<Documents, UsageError> {
        let junit = self.junit.as_ref().map(|file| Place::new(Kind::Junit, Some(file), usual)).transpose()?;
        let all = [
            (Kind::Html, self.page.place(usual)?),
            (Kind::Markdown, self.markdown.place(usual)?),
            (Kind::Junit, junit),
        ];
        let documents = Documents(all.into_iter().filter_map(|(kind, place)| Some((kind, place?))).collect());
        if documents.on_standard_output().count() > 1 {
            let text = "--markdown - and --junit - both write to standard output; give one of them a file";
            return Err(UsageError(text.to_owned()));
        }
        Ok(documents)
    }
}

/// The data for the documents of a run.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) run: &'a Run,
    pub(crate) findings: &'a Findings,
    pub(crate) values: Values,
    /// Whether a result that is no evidence counts as a failure.
    pub(crate) strict: bool,
}

/// Something that has documents.
pub(crate) trait Documented {
    /// Renders the document of this kind.
    fn document(&self, kind: Kind) -> anyhow::Result<String>;
}

impl Documented for Source<'_> {
    fn document(&self, kind: Kind) -> anyhow::Result<String> {
        let Self { run, findings, values, strict } = *self;
        Ok(match kind {
            Kind::Html => html(&PageDocument::new(vec![page_run(run, findings, values)?], None))?,
            Kind::Markdown => markdown(run, findings, values),
            Kind::Junit => junit(run, findings, values, strict)?,
        })
    }
}

/// The documents that were asked for.
#[derive(Debug)]
pub(crate) struct Documents(Vec<(Kind, Place)>);

impl Documents {
    fn on_standard_output(&self) -> impl Iterator<Item = Kind> {
        self.0.iter().filter(|(_, place)| *place == Place::StandardOutput).map(|(kind, _)| *kind)
    }

    /// Fails if a document goes to standard output and another flag that was given also writes there.
    pub(crate) fn refuse_second_output(&self, flags: &[(&str, bool)]) -> Result<(), UsageError> {
        let other = flags.iter().find(|(_, given)| *given);
        match self.on_standard_output().next().zip(other) {
            None => Ok(()),
            Some((kind, (flag, _))) => {
                let own = kind.flag();
                Err(UsageError(format!("{own} - and {flag} both write to standard output; write {own} FILE")))
            }
        }
    }

    /// Fails if a document would replace an existing file.
    pub(crate) fn refuse_existing(&self) -> anyhow::Result<()> {
        self.0.iter().try_for_each(|(_, place)| place.refuse_existing())
    }

    /// Returns the document that is printed in place of the text, if there is one.
    pub(crate) fn printed(&self, source: &impl Documented) -> anyhow::Result<Option<String>> {
        self.on_standard_output().next().map(|kind| source.document(kind)).transpose()
    }

    /// Writes the documents of a run that did not begin, with the reason. A page shows a run, so there is none.
    ///
    /// # Errors
    /// When one cannot be printed.
    pub(crate) fn write_failure(&self, name: &str, why: &str, force: bool) -> anyhow::Result<Written> {
        let mut written = Written::default();
        for (kind, place) in &self.0 {
            let document = match kind {
                Kind::Html => continue,
                Kind::Markdown => markdown_of_failure(name, why),
                Kind::Junit => junit_of_failure(name, why)?,
            };
            match place {
                Place::StandardOutput => result(&document)?,
                place => written.extend(place.write(Ok(document), force)),
            }
        }
        Ok(written)
    }

    /// Writes all documents that do not go to standard output.
    pub(crate) fn write(&self, source: &impl Documented, force: bool) -> Written {
        let mut written = Written::default();
        let others = self.0.iter().filter(|(_, place)| *place != Place::StandardOutput);
        for (kind, place) in others {
            written.extend(place.write(source.document(*kind), force));
        }
        written
    }
}
