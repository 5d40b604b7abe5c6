//! The addresses of an access, for those who look at waves from outside.

use frontend::{Encoding, Inst, LANES, Op, WaveState};

use super::operand::Exec;
use crate::engine::Group;

/// The address that each lane of an instruction at the wave's PC accesses in global memory; that of
/// a scalar instruction in all lanes. `None` where it is not known, or is not one address.
pub(crate) fn addresses(
    wave: &mut WaveState,
    group: &mut Group<'_>,
    inst: &Inst,
) -> Option<[u64; LANES]> {
    let gfx = group.gfx;
    let next_pc = wave.pc.wrapping_add(u64::from(inst.len));
    let active = wave.exec();
    let exec = Exec {
        wave,
        group,
        inst,
        gfx,
        next_pc,
        active,
        observer: (),
    };
    match inst.desc.encoding {
        Encoding::Smem => {
            let (Op::Load(space, _) | Op::Store(space, _) | Op::Atomic(space, _)) = inst.op()
            else {
                return None;
            };
            let address = exec.smem_target(space).ok()?.dword(0)?;
            Some([address; LANES])
        }
        Encoding::Flat | Encoding::Global => exec.flat_addresses().ok(),
        Encoding::Mubuf => exec.buffer_addresses().ok(),
        Encoding::Ds
        | Encoding::Scratch
        | Encoding::Mtbuf
        | Encoding::Mimg
        | Encoding::Sop2
        | Encoding::Sopk
        | Encoding::Sop1
        | Encoding::Sopc
        | Encoding::Sopp
        | Encoding::Vop1
        | Encoding::Vop2
        | Encoding::Vopc
        | Encoding::Vop3
        | Encoding::Vop3p
        | Encoding::Vintrp
        | Encoding::Exp => None,
    }
}
