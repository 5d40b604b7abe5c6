//! What is looked for when a dispatch has ended: writes that no access check refuses.

use super::launch::KernelCode;
use crate::LoadedCode;
use crate::fault::{Fault, FaultKind};
use crate::memory::Memory;

/// Writes behind buffers.
pub(super) fn find(memory: &Memory, code: &LoadedCode, kernel: &KernelCode) -> Option<Fault> {
    let kind = memory.check_marks().map(FaultKind::Overrun)?;
    Some(Fault {
        kind,
        kernel: kernel.name.clone(),
        pc: code.local(kernel.entry),
        symbol: None,
        instruction: String::new(),
        workgroup: [0; 3],
        wave: 0,
        lane: None,
        exec: 0,
        checked: memory.is_exact(),
        waits: None,
    })
}
