//! Every row of the tables has an arm: each instruction is executed once on every target that has
//! it, with plain operands, and only those on a list are refused.

use std::collections::BTreeSet;

use frontend::inst::{Inst, MemMods, Mods, Operand};
use frontend::registers::loads_to_lds;
use frontend::{Encoding, Form, Gfx, InstDesc, Op, Ty};

use crate::code::LoadedCode;
use crate::engine::{Group, Scratch, Stats};
use crate::fault::FaultKind;
use crate::interp::image::tests::descriptor;
use crate::interp::step;
use crate::interp::testing::Machine;

/// Instructions that need absent hardware, or are undocumented.
fn refused(desc: &InstDesc) -> bool {
    let name = desc.name;
    let starts = |list: &[&str]| list.iter().any(|prefix| name.starts_with(prefix));
    starts(&[
        "v_interp_",
        "ds_ordered_count",
        "s_rfe_",
        "image_gather4_c_",
        "image_gather4h",
        "image_get_lod",
        "image_sample_c_",
    ]) || ["image_sample_c", "image_gather4_c", "s_trap"].contains(&name)
}

fn vector(ty: Ty, register: u8) -> Operand {
    match ty {
        Ty::Mask => Operand::Sgpr(30),
        Ty::Imm => Operand::Imm(0),
        _ => Operand::Vgpr(register),
    }
}

/// The instruction of a row with operands where the contract puts them.
fn plain(desc: &'static InstDesc) -> Inst {
    let mut inst = Inst {
        desc,
        form: Form::Native,
        len: 8,
        dst: [Operand::None; 2],
        src: [Operand::None; 4],
        mods: Mods {
            op_sel_hi: 7,
            ..Mods::default()
        },
        mem: MemMods {
            // Compare-and-swap takes two dwords.
            dmask: if desc.name.contains("cmpswap") { 3 } else { 1 },
            dfmt: 4,
            nfmt: 4,
            ..MemMods::default()
        },
    };
    let zero = Operand::Inline { code: 128, bits: 0 };
    match desc.encoding {
        Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc | Encoding::Sopk | Encoding::Sopp => {
            for (i, _) in desc.dst.iter().enumerate() {
                inst.dst[i] = Operand::Sgpr(40);
            }
            for (i, ty) in desc.src.iter().enumerate() {
                inst.src[i] = match ty {
                    Ty::Imm => Operand::Imm(1),
                    _ => Operand::Sgpr(44 + 4 * i as u8),
                };
            }
        }
        Encoding::Smem => {
            if !desc.dst.is_empty() {
                inst.dst[0] = Operand::Sgpr(40);
            }
            inst.src[0] = Operand::Sgpr(if desc.src.first() == Some(&Ty::B128) {
                8
            } else {
                0
            });
            inst.src[2] = Operand::Sgpr(60);
        }
        Encoding::Ds => {
            if !desc.dst.is_empty() {
                inst.dst[0] = Operand::Vgpr(40);
            }
            for (i, _) in desc.src.iter().enumerate() {
                inst.src[i] = Operand::Vgpr([1, 8, 12][i]);
            }
        }
        Encoding::Flat | Encoding::Global | Encoding::Scratch => {
            if !desc.dst.is_empty() {
                inst.dst[0] = Operand::Vgpr(40);
            }
            let scratch = desc.encoding == Encoding::Scratch;
            inst.src[0] = Operand::Vgpr(if scratch { 1 } else { 2 });
            inst.src[1] = Operand::Vgpr(8);
        }
        Encoding::Mubuf | Encoding::Mtbuf | Encoding::Mimg => {
            let image = desc.encoding == Encoding::Mimg;
            if !desc.dst.is_empty() {
                inst.dst[0] = Operand::Vgpr(40);
            }
            inst.src[0] = if image {
                Operand::Vgpr(4)
            } else {
                Operand::None
            };
            inst.src[1] = Operand::Sgpr(if image { 16 } else { 8 });
            inst.src[2] = if image { Operand::Sgpr(24) } else { zero };
            inst.src[3] = Operand::Vgpr(8);
            inst.mem.lds = desc.op == Op::StoreLds;
        }
        Encoding::Exp => {}
        _ => {
            for (i, ty) in desc.dst.iter().enumerate() {
                inst.dst[i] = match desc.op {
                    Op::ReadLane | Op::ReadFirstLane => Operand::Sgpr(40),
                    _ => vector(*ty, 40),
                };
            }
            for (i, ty) in desc.src.iter().enumerate() {
                inst.src[i] = match (desc.op, i) {
                    (Op::ReadLane | Op::WriteLane, 1) | (Op::WriteLane, 0) => zero,
                    _ => vector(*ty, 8 + 4 * i as u8),
                };
            }
        }
    }
    inst.mem.lds |= loads_to_lds(desc);
    inst
}

#[test]
fn every_row_has_its_arm() {
    let mut refusals = BTreeSet::new();
    let mut count = 0;
    for gfx in Gfx::ALL {
        let mut m = Machine::new(gfx);
        let area = m.memory.alloc(1 << 16, 256).unwrap();
        let code = LoadedCode::from_bytes(&m.memory, gfx, &[0; 4]).unwrap();
        for desc in frontend::isa::all() {
            if desc.opcodes.get(gfx).is_none() {
                continue;
            }
            m.wave.set_exec(3);
            m.wave.mode = crate::interp::testing::MODE;
            m.wave.pc = 0x1000;
            m.set64(0, area).set64(102, area).set64(104, area);
            // Buffer: UINT of 32 bits. Image: linear, 8 x 8. Sampler: all zero.
            m.wave.sgpr[8..12].copy_from_slice(&[area as u32, (area >> 32) as u32, 4096, 0x24fac]);
            m.wave.sgpr[16..24].copy_from_slice(&descriptor(gfx, area, [8, 8], 64));
            m.wave.sgpr[24..28].fill(0);
            m.wave.sgpr[124] = 256;
            if desc.op == Op::MovRelS || desc.op == Op::MovRelD || desc.op == Op::MovRelSD {
                m.wave.sgpr[124] = 2;
            }
            // A join needs something to join.
            m.wave.mode |= 1 << 29;
            for register in 0..64 {
                m.wave.vgpr[register] = [0; 64];
            }
            for lane in 0..2 {
                m.set_lane64(2, lane, area);
            }
            let wide_texel = matches!(desc.op, Op::Image(frontend::op::ImageOp::Atomic(_)));
            if wide_texel {
                m.wave.sgpr[17] = m.wave.sgpr[17] & !(63 << 20) | 4 << 20;
            }
            let inst = plain(desc);
            let mut stats = Stats::default();
            let mut group = Group {
                memory: &m.memory,
                code: &code,
                gfx,
                lds: &mut m.lds,
                scratch: Scratch {
                    hidden_base: area,
                    base: area,
                    lane_bytes: 64,
                },
                workgroup: [0; 3],
                wave: 0,
                waves: 1,
                checked: false,
                dispatch: 0,
                counting: false,
                stats: &mut stats,
            };
            count += 1;
            if let Err(fault) = step(&mut m.wave, &mut group, &inst) {
                let expected = refused(desc)
                    && matches!(
                        fault.kind,
                        FaultKind::Unsupported { .. } | FaultKind::Trap { .. }
                    );
                if !expected {
                    refusals.insert(format!("{} on {gfx}: {}", desc.name, fault.kind));
                }
            } else if refused(desc) {
                refusals.insert(format!("{} on {gfx} runs", desc.name));
            }
        }
    }
    assert!(refusals.is_empty(), "{refusals:#?}");
    assert!(count > 5000, "{count}");
}
