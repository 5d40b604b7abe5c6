//! Suppressed findings, each with its reason.

use std::path::Path;

use anyhow::{Context, ensure};
use runtime::foreign;
use serde::Deserialize;

use crate::cli::input::read_text;

/// A file of suppressions.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Suppressions {
    #[serde(default)]
    suppress: Vec<Suppression>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suppression {
    rule: String,
    /// `*`: all.
    kernel: String,
    /// The end of the code object's path, from the beginning of a name on.
    file: Option<String>,
    /// Of the instruction that goes wrong.
    address: Option<u64>,
    reason: String,
    #[serde(skip)]
    used: bool,
}

impl Suppressions {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> anyhow::Result<Suppressions> {
        let name = foreign::path(path);
        let text = read_text(path)?;
        let read: Suppressions = toml::from_str(&text).with_context(|| name.to_string())?;
        for (number, one) in read.suppress.iter().enumerate() {
            ensure!(
                !one.reason.trim().is_empty(),
                "{name}: suppression {} of `{}` has no reason",
                number + 1,
                one.rule
            );
        }
        Ok(read)
    }

    /// Is a finding suppressed?
    pub(super) fn has(&mut self, file: &str, routine: &str, rule: &str, address: u64) -> bool {
        let mut any = false;
        for one in &mut self.suppress {
            let suits = one.rule == rule
                && (one.kernel == "*" || one.kernel == routine)
                && one
                    .file
                    .as_deref()
                    .is_none_or(|end| Path::new(file).ends_with(end))
                && one.address.is_none_or(|wanted| wanted == address);
            one.used |= suits;
            any |= suits;
        }
        any
    }

    /// Those that have suppressed nothing, in words.
    pub(super) fn unused(&self) -> impl Iterator<Item = String> {
        let unused = self.suppress.iter().filter(|one| !one.used);
        unused.map(|one| {
            let address = one.address.map(|address| format!(" at {address:#x}"));
            format!(
                "`{}` of kernel `{}`{}",
                one.rule,
                one.kernel,
                address.unwrap_or_default()
            )
        })
    }
}
