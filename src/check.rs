//! Static checks of a code object: waits, wait states, registers, sizes. `wavelift check` does this for files.
//!
//! ```
//! use wavelift::{check, object};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let object = object::open(&std::fs::read("examples/saxpy/saxpy.gfx900.co")?, None)?;
//! for routine in check::routines(&object) {
//!     let report = routine.check();
//!     assert_eq!(report.defects().count(), 0, "{}", routine.name);
//! }
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::fmt;

use frontend::Gfx;
use runtime::foreign::Foreign;
use runtime::object::{ArgKind, CodeObject, Kernel, Setting};

pub use ::check::{
    Certainty, Code, Edit, Finding, Item, Report, Routine, Rule, Severity, WaitField, check_code,
    rules,
};

/// An instruction of a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its address there.
    pub address: u64,
    /// The instruction as LLVM prints it.
    pub text: String,
    /// File and line of the source, if the code object has lines.
    pub line: Option<(String, u32)>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:04x}  {}", self.address, self.text)?;
        match &self.line {
            Some((file, line)) => write!(f, " at {}:{line}", Foreign(file)),
            None => Ok(()),
        }
    }
}

/// A kernel or a function of a code object.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// Its name, as the linker knows it.
    pub name: &'a str,
    /// Its code and what its descriptor says.
    pub routine: Routine<'a>,
}

impl Named<'_> {
    /// Checks it.
    pub fn check(&self) -> Report {
        ::check::check(&self.routine)
    }

    /// May it, as a kernel, read a register that nobody has written?
    pub fn may_read_unwritten(&self) -> bool {
        ::check::may_read_unwritten(&self.routine)
    }
}

/// The kernels and functions of a code object, by address. A function without a size goes to the next
/// one.
pub fn routines(object: &CodeObject) -> Vec<Named<'_>> {
    let gfx = object.target.gfx;
    let mut begins: BTreeMap<u64, (&str, u64, Option<&Kernel>)> = BTreeMap::new();
    for function in &object.functions {
        let known = begins.entry(function.value);
        let known = known.or_insert((&function.name, function.size, None));
        known.1 = known.1.max(function.size);
    }
    for kernel in &object.kernels {
        let size = kernel.code.end - kernel.code.start;
        begins.insert(kernel.code.start, (&kernel.name, size, Some(kernel)));
    }
    let starts: Vec<u64> = begins.keys().copied().collect();
    let mut all = Vec::with_capacity(begins.len());
    for (number, (&address, &(name, size, kernel))) in begins.iter().enumerate() {
        let next = starts.get(number + 1).copied();
        let segment = object.segments.iter().find(|segment| {
            segment.execute && address.wrapping_sub(segment.address) < segment.data.len() as u64
        });
        let Some(segment) = segment else { continue };
        let end = segment.address + segment.data.len() as u64;
        let end = next.map_or(end, |next| next.min(end));
        let end = match size {
            0 => end,
            size => end.min(address.saturating_add(size)),
        };
        let bytes = (address - segment.address) as usize..(end - segment.address) as usize;
        all.push(Named {
            name,
            routine: Routine {
                gfx,
                xnack: object.target.xnack == Setting::On,
                address,
                code: &segment.data[bytes],
                kernel: kernel.map(|kernel| facts(kernel, gfx)),
            },
        });
    }
    all
}

/// What a kernel's descriptor and metadata say.
fn facts(kernel: &Kernel, gfx: Gfx) -> ::check::Kernel {
    let descriptor = &kernel.descriptor;
    let system = [
        descriptor.enable_workgroup_id_x(),
        descriptor.enable_workgroup_id_y(),
        descriptor.enable_workgroup_id_z(),
        descriptor.enable_workgroup_info(),
        descriptor.enable_private_segment(),
    ];
    let system = system.into_iter().filter(|enabled| *enabled).count() as u32;
    let vgprs = match gfx.has_unified_vgprs() {
        true => descriptor.vgpr_count(gfx).min(descriptor.accum_offset()),
        false => descriptor.vgpr_count(gfx),
    };
    let metadata = kernel.metadata.as_ref();
    let more_lds = metadata.is_none_or(|metadata| {
        let of_launch = |kind: &ArgKind| matches!(kind, ArgKind::DynamicSharedPointer);
        metadata.group_segment_fixed_size == 0
            || metadata.args.iter().any(|arg| of_launch(&arg.kind))
    });
    let dynamic_stack = metadata.is_none_or(|metadata| metadata.uses_dynamic_stack);
    ::check::Kernel {
        initial_sgprs: descriptor.user_sgpr_count() + system,
        initial_vgprs: match descriptor.workitem_id_vgprs() {
            _ if gfx.packs_work_item_ids() => 1,
            n => n.min(2) + 1,
        },
        sgprs: descriptor.sgpr_count(gfx),
        vgprs,
        lds: metadata
            .map(|metadata| metadata.group_segment_fixed_size)
            .filter(|_| !more_lds),
        scratch: metadata
            .map(|metadata| metadata.private_segment_fixed_size)
            .filter(|_| !dynamic_stack),
        one_wave: metadata
            .and_then(|metadata| metadata.max_flat_workgroup_size)
            .is_some_and(|items| items <= frontend::LANES as u32),
    }
}
