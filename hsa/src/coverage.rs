//! The coverage that is merged into a file at the end of the program.

use std::path::Path;

use coverage::CoverageFile;

use crate::guard::say;
use crate::lock::lock;
use crate::state::Runtime;

/// Merges the program's coverage into a file.
pub(crate) fn write(rt: &Runtime, path: &Path) {
    let mut file = CoverageFile::default();
    for module in lock(&rt.modules.0).iter() {
        let Some(counts) = runtime::coverage::take(&*rt.engine, module.code()) else {
            continue;
        };
        match module.elf(rt) {
            Ok(elf) => file.add(&elf, counts),
            Err(error) => say(format_args!("no coverage of a code object: {error}")),
        }
    }
    if let Err(error) = file.merge_into(path) {
        say(format_args!("no coverage: {error}"));
    }
}
