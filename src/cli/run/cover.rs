//! `--coverage`: merges what a run has executed into a file.

use std::path::Path;

use anyhow::Context as _;
use coverage::{CoverageError, CoverageFile};
use runtime::foreign;
use runtime::object::{self, TargetId};
use wavelift::Module;
use wavelift::manifest::read_whole;

use crate::cli::new_file::Unwritten;
use crate::cli::session::Session;

/// The coverage of a run.
pub(super) struct Cover<'a> {
    path: &'a Path,
    /// Each with its ELF file.
    modules: Vec<(Module, Vec<u8>)>,
}

impl<'a> Cover<'a> {
    /// Of a session that has not run yet. What cannot be written is reported now.
    pub(super) fn new(
        path: &'a Path,
        session: &Session,
        target: Option<&str>,
    ) -> anyhow::Result<Cover<'a>> {
        CoverageFile::check(path)?;
        let target: Option<TargetId> = target.map(str::parse).transpose()?;
        let mut modules: Vec<(Module, Vec<u8>)> = Vec::new();
        let dispatches = session.manifest.dispatches.iter();
        for (dispatch, planned) in dispatches.zip(&session.dispatches) {
            let module = planned.kernel.module();
            let id = module.code().id();
            if modules.iter().any(|(known, _)| known.code().id() == id) {
                continue;
            }
            let shown = || format!("cannot read {}", foreign::path(&dispatch.code_object));
            let bytes = read_whole(&dispatch.code_object).with_context(shown)?;
            let elf = object::select_kernel(&bytes, target.as_ref(), planned.kernel.name());
            modules.push((module.clone(), elf.with_context(shown)?));
        }
        Ok(Cover { path, modules })
    }

    /// Merges what has been executed.
    pub(super) fn finish(self, session: &Session) -> anyhow::Result<()> {
        let mut file = CoverageFile::default();
        for (module, elf) in &self.modules {
            file.add(
                elf,
                session.device.take_coverage(module).unwrap_or_default(),
            );
        }
        match file.merge_into(self.path) {
            Err(CoverageError::Write { path, error }) => {
                Err(Unwritten::new(path.display().to_string(), error).into())
            }
            result => Ok(result?),
        }
    }
}
