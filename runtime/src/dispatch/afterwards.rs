//! What is looked for when a dispatch has ended: writes that no access check refuses.

use super::launch::KernelCode;
use crate::LoadedCode;
use crate::fault::{Fault, FaultKind};
use crate::memory::Memory;

/// Writes behind buffers, or to the kernel argument segment: its address and what was written there
/// before the dispatch. Kernels may only read it.
pub(super) fn find(
    memory: &Memory,
    code: &LoadedCode,
    kernel: &KernelCode,
    arguments: Option<(u64, &[u8])>,
) -> Option<Fault> {
    let overrun = memory.check_marks().map(FaultKind::Overrun);
    let written = arguments.and_then(|(address, bytes)| written(memory, address, bytes));
    let kind = overrun.or(written)?;
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

fn written(memory: &Memory, address: u64, before: &[u8]) -> Option<FaultKind> {
    let mut now = vec![0; before.len()];
    // The segment belongs to the dispatch, so that it can be read.
    memory.read_bytes(address, &mut now).ok()?;
    let mut pairs = before.iter().zip(&now);
    let offset = pairs.position(|(before, now)| before != now)?;
    Some(FaultKind::ArgumentsWritten {
        address,
        offset: offset as u64,
        bytes: before.len() as u64,
    })
}
