//! Suppressed findings, each with its reason.

use std::path::{Path, PathBuf};

use runtime::foreign;
use wavelift::manifest::Suppression;

use crate::cli::input::read_text;

/// Suppressions of a file.
#[derive(Default)]
pub(super) struct Suppressions {
    file: PathBuf,
    all: Vec<Suppression>,
    used: Vec<bool>,
}

impl Suppressions {
    /// Those that a file has.
    pub(super) fn new(file: &Path, all: Vec<Suppression>) -> Suppressions {
        Suppressions {
            file: file.to_owned(),
            used: vec![false; all.len()],
            all,
        }
    }

    /// Reads a file.
    pub(super) fn read(path: &Path) -> anyhow::Result<Suppressions> {
        let text = read_text(path)?;
        Ok(Suppressions::new(path, Suppression::parse(path, &text)?))
    }

    /// Is a finding suppressed?
    pub(super) fn has(&mut self, file: &str, routine: &str, rule: &str, address: u64) -> bool {
        let mut any = false;
        for (one, used) in self.all.iter().zip(&mut self.used) {
            let suits = one.suits(Path::new(file), routine, rule, address);
            *used |= suits;
            any |= suits;
        }
        any
    }

    /// Those that have suppressed nothing, in words. `ran`: were findings of this rule looked for?
    pub(super) fn unused(&self, ran: impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
        let all = self.all.iter().zip(&self.used);
        let unused = all.filter(move |(one, used)| !**used && ran(&one.rule));
        unused.map(|(one, _)| {
            let address = one.address.map(|address| format!(" at {address:#x}"));
            format!(
                "{}:{}: note: nothing is suppressed by `{}` of kernel `{}`{}",
                foreign::path(&self.file),
                one.place.line,
                one.rule,
                one.kernel,
                address.unwrap_or_default()
            )
        })
    }
}
