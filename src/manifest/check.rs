//! How a manifest is to be checked, and suppressed findings.

use std::path::{Path, PathBuf};

use runtime::foreign::Foreign;

use super::error::{ManifestError, Place};
use super::keys;
use super::tree::{Node, Source, Table};
use crate::{check, sanitizer};

/// How `wavelift check` checks a manifest. Options of the command line decide over it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Dynamic checks are made as well as static ones.
    pub dynamic: bool,
    /// Dynamic checks also run workgroups and waves in the order of this seed.
    pub shuffle: Option<u64>,
    /// Notes are reported.
    pub notes: bool,
    /// Findings that are known.
    pub suppressions: Vec<Suppression>,
}

/// Findings that are known and not reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// Where it stands.
    pub place: Place,
    /// The rule's name.
    pub rule: String,
    /// The kernel or function; `*` is all.
    pub kernel: String,
    /// The end of the path of the code object or manifest, from the beginning of a name on; `None` is any.
    pub file: Option<PathBuf>,
    /// Address in the code object of the instruction that goes wrong; `None` is any.
    pub address: Option<u64>,
    /// Why it is known.
    pub reason: String,
}

/// Why a suppression without a reason is refused.
pub const NO_REASON: &str = "the reason is empty; say why the finding is known";

impl Suppression {
    /// The entries `[[suppress]]` of a file's text; `path` is for messages.
    pub fn parse(path: &Path, text: &str) -> Result<Vec<Suppression>, ManifestError> {
        let source = Source { path, text };
        let tree = source.parse(text)?;
        let root = Table::root(&source, &tree);
        root.only(["suppress"])?;
        suppressions(&root)
    }

    /// May it stand for something found in a kernel or function?
    pub fn suits_kernel(&self, routine: &str) -> bool {
        self.kernel == "*" || self.kernel == routine
    }

    /// May it stand for something found in a file?
    pub fn suits_file(&self, file: &Path) -> bool {
        let end = self.file.as_ref();
        end.is_none_or(|end| file.ends_with(end))
    }

    /// Does it stand for something found in a file?
    pub fn suits(&self, file: &Path, routine: &str, rule: &str, address: u64) -> bool {
        self.rule == rule
            && self.suits_kernel(routine)
            && self.suits_file(file)
            && self.address.is_none_or(|wanted| wanted == address)
    }
}

/// The table `[check]`.
pub(super) fn table(node: &Node<'_>) -> Result<Check, ManifestError> {
    let table = node.table("a table such as { dynamic = true }")?;
    table.only(keys::CHECK.names())?;
    let is_set = |name| match table.get(name) {
        Some(node) => node.boolean(),
        None => Ok(false),
    };
    Ok(Check {
        dynamic: is_set("dynamic")?,
        shuffle: number(&table, "shuffle")?,
        notes: is_set("notes")?,
        suppressions: suppressions(&table)?,
    })
}

/// The entries `suppress` of a table.
fn suppressions(table: &Table<'_>) -> Result<Vec<Suppression>, ManifestError> {
    let Some(node) = table.get("suppress") else {
        return Ok(Vec::new());
    };
    let nodes = node.array("an array of tables with `rule`, `kernel` and `reason`")?;
    nodes.iter().map(suppression).collect()
}

fn suppression(node: &Node<'_>) -> Result<Suppression, ManifestError> {
    let table = node.table("a table with `rule`, `kernel` and `reason`")?;
    table.only(keys::SUPPRESS.names())?;
    let file = table.get("file");
    let file = file
        .map(|node| node.string("the end of a path"))
        .transpose()?;
    let kernel = table.need("kernel")?;
    Ok(Suppression {
        place: node.place(),
        rule: rule(&table.need("rule")?)?,
        kernel: kernel
            .string("a kernel's name, or \"*\" for all")?
            .to_owned(),
        file: file.map(PathBuf::from),
        address: number(&table, "address")?,
        reason: reason(&table.need("reason")?)?,
    })
}

/// A number of 64 bits.
fn number(table: &Table<'_>, key: &str) -> Result<Option<u64>, ManifestError> {
    let number = table.get(key).map(|node| node.integer_in(0..1 << 64));
    Ok(number.transpose()?.map(|number| number as u64))
}

/// The name of a rule that there is.
fn rule(node: &Node<'_>) -> Result<String, ManifestError> {
    let name = node.string("the name of a rule")?;
    match check::rules().chain(sanitizer::rules()).any(|rule| rule.id == name) {
        true => Ok(name.to_owned()),
        false => Err(node.error(format!(
            "unknown rule `{}`; give the name that a finding has in brackets, such as wait-read or race-lds",
            Foreign(name)
        ))),
    }
}

fn reason(node: &Node<'_>) -> Result<String, ManifestError> {
    let text = node.string("the reason why it is known")?;
    match text.trim() {
        "" => Err(node.error(NO_REASON)),
        _ => Ok(text.to_owned()),
    }
}
