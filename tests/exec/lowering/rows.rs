use std::collections::BTreeMap;

use frontend::inst::{Dpp, Form, Inst, Operand, Sdwa, Sel, Unused};
use frontend::isa;

use frontend::desc::{Encoding, InstDesc};
use frontend::op::{DsOp, Op};
use frontend::target::Gfx;
use frontend::ty::Ty;
use lower::ir::build::Build;
use lower::ir::{Block, Func, Op as Ir, Term, text, verify};
use lower::lift::arms::{Lowered, Sites, lower};
use lower::lift::guest::Guest;
use lower::lift::support::*;

/// Lowers an instruction as a block of its own; the verifier must accept it.
fn lowered(inst: &Inst, gfx: Gfx, mode: u32) -> Option<Block> {
    let b = Build::new();
    let mut g = Guest::new(&b, gfx, mode);
    let mut sites = Sites::default();
    if lower(&mut g, inst, 0x1000, &mut sites) == Lowered::Fallback {
        assert_eq!(
            b.effect_count(),
            0,
            "{} falls back after an effect",
            inst.desc.name
        );
        let (scalars, lanes) = g.writes();
        assert!(
            scalars.is_empty() && lanes.is_empty(),
            "{} changed registers",
            inst.desc.name
        );
        return None;
    }
    let block = g.block(0x1000, 1, Term::End);
    let func = Func::of(block.clone(), mode, sites.0);
    if let Err(error) = verify::func(&func) {
        panic!(
            "{} on {gfx}: {error}\n{}",
            inst.desc.name,
            text::block(&block)
        );
    }
    Some(block)
}

const MODE: u32 = 0x3f0;

/// What the interpreter runs, and why.
fn may_fall_back(desc: &InstDesc) -> Option<&'static str> {
    Some(match desc.op {
        Op::Ds(
            DsOp::GwsInit
            | DsOp::GwsBarrier
            | DsOp::GwsSemaV
            | DsOp::GwsSemaBr
            | DsOp::GwsSemaP
            | DsOp::GwsSemaReleaseAll,
        ) => "global wave sync",
        _ => return None,
    })
}

#[test]
fn every_row_is_lowered_or_has_a_reason() {
    let mut counts: BTreeMap<(Gfx, Support), usize> = BTreeMap::new();
    for desc in isa::all() {
        for gfx in Gfx::ALL {
            let Some(support) = support(desc, gfx) else {
                continue;
            };
            *counts.entry((gfx, support)).or_default() += 1;
            let reason = may_fall_back(desc);
            assert_eq!(
                support == Support::Interp,
                reason.is_some(),
                "{} on {gfx}: {support:?}, {reason:?}",
                desc.name_on(gfx)
            );
        }
    }
    println!("{counts:?}");
}

#[test]
fn every_row_verifies_under_every_mode() {
    for desc in isa::all() {
        for gfx in Gfx::ALL {
            if desc.opcodes.get(gfx).is_none() || is_control(desc.op) {
                continue;
            }
            let inst = plain(desc, gfx);
            for mode in [MODE, 0, 0x3ff, 0x005, 0x80_02f0] {
                lowered(&inst, gfx, mode);
            }
        }
    }
}

#[test]
fn modifiers_verify() {
    for desc in isa::all() {
        for gfx in Gfx::ALL {
            let vector = matches!(
                desc.encoding,
                Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc | Encoding::Vop3 | Encoding::Vop3p
            );
            if desc.opcodes.get(gfx).is_none() || !vector {
                continue;
            }
            let mut inst = plain(desc, gfx);
            inst.mods.abs = 5;
            inst.mods.neg = 3;
            inst.mods.neg_hi = 6;
            inst.mods.clamp = true;
            inst.mods.omod = 3;
            inst.mods.op_sel = 0xa;
            inst.mods.op_sel_hi = 2;
            for mode in [MODE, 0x0c5, 0] {
                lowered(&inst, gfx, mode);
            }
            if matches!(desc.encoding, Encoding::Vop3 | Encoding::Vop3p) {
                continue;
            }
            let words = |ty: &Ty| ty.bits() <= 32 || *ty == Ty::Mask;
            if !desc.src.iter().chain(desc.dst).all(words) {
                continue;
            }
            for dst_unused in [Unused::Pad, Unused::Sext, Unused::Preserve] {
                inst.form = Form::Sdwa;
                inst.mods.sdwa = Some(Sdwa {
                    dst_sel: Sel::Byte2,
                    dst_unused,
                    src_sel: [Sel::Word1, Sel::Byte3],
                    sext: [true, false],
                });
                lowered(&inst, gfx, MODE);
            }
            inst.mods.sdwa = None;
            for bound_ctrl in [false, true] {
                inst.form = Form::Dpp;
                inst.mods.dpp = Some(Dpp {
                    ctrl: 0x111,
                    bound_ctrl,
                    row_mask: 0xa,
                    bank_mask: 0xf,
                });
                lowered(&inst, gfx, MODE);
            }
        }
    }
}

fn row(name: &str, gfx: Gfx) -> &'static InstDesc {
    isa::all()
        .find(|desc| desc.name_on(gfx) == name && desc.opcodes.get(gfx).is_some())
        .unwrap_or_else(|| panic!("no row {name}"))
}

/// Operations of the nodes that what the block writes needs.
fn needed(block: &Block) -> Vec<Ir> {
    let mut live = vec![false; block.nodes.len()];
    let roots = block
        .writes_s
        .iter()
        .map(|w| w.1)
        .chain(block.writes_v.iter().map(|w| w.1));
    roots
        .chain(block.effects.iter().copied())
        .for_each(|v| live[v.index()] = true);
    for i in (0..live.len()).rev() {
        if live[i] {
            block.nodes[i]
                .args
                .iter()
                .for_each(|arg| live[arg.index()] = true);
        }
    }
    let kept = block.nodes.iter().zip(live).filter(|(_, live)| *live);
    kept.map(|(node, _)| node.op).collect()
}

#[test]
fn a_carry_chain_becomes_one_addition() {
    let gfx = Gfx::Gfx900;
    let b = Build::new();
    let mut g = Guest::new(&b, gfx, MODE);
    let mut sites = Sites::default();
    // v_add_co_u32 v0, vcc, v2, v4; v_addc_co_u32 v1, vcc, v3, v5, vcc; global_load_dword v6, v[0:1]
    let vcc = Operand::Sgpr(106);
    let mut low = plain(row("v_add_co_u32", gfx), gfx);
    (low.dst, low.src[0], low.src[1]) =
        ([Operand::Vgpr(0), vcc], Operand::Vgpr(2), Operand::Vgpr(4));
    let mut high = plain(row("v_addc_co_u32", gfx), gfx);
    high.dst = [Operand::Vgpr(1), vcc];
    (high.src[0], high.src[1], high.src[2]) = (Operand::Vgpr(3), Operand::Vgpr(5), vcc);
    let mut load = plain(row("global_load_dword", gfx), gfx);
    (load.dst[0], load.src[0]) = (Operand::Vgpr(6), Operand::Vgpr(0));
    for inst in [low, high, load] {
        assert_eq!(lower(&mut g, &inst, 0, &mut sites), Lowered::Done);
    }
    let (nodes, effects) = b.finish();
    let address = &nodes[nodes[effects[0].index()].args[0].index()];
    assert_eq!(address.op, Ir::Add, "the address is one 64-bit sum");
    for arg in address.args.iter() {
        assert_eq!(nodes[arg.index()].op, Ir::Pair);
    }
}

#[test]
fn uniform_operands_stay_wave_values() {
    let gfx = Gfx::Gfx900;
    for name in [
        "v_add_u32",
        "v_mul_lo_u32",
        "v_lshlrev_b32",
        "v_add_f32",
        "v_mad_u32_u24",
    ] {
        let mut inst = plain(row(name, gfx), gfx);
        inst.src.iter_mut().zip(8..).for_each(|(src, n)| {
            if let Operand::Vgpr(_) = src {
                *src = Operand::Sgpr(n);
            }
        });
        let block = lowered(&inst, gfx, MODE).expect("lowered");
        let (_, merged) = block.writes_v[0];
        let select = &block.nodes[merged.index()];
        assert_eq!(select.op, Ir::Select, "{name}");
        let value = &block.nodes[select.args[1].index()];
        assert_eq!(value.ty.vary, lower::ir::Vary::Wave, "{name}");
    }
}

#[test]
fn the_lane_number_is_recognised() {
    let gfx = Gfx::Gfx900;
    let b = Build::new();
    let mut g = Guest::new(&b, gfx, MODE);
    let mut sites = Sites::default();
    let minus_one = Operand::Inline {
        code: 193,
        bits: 0xffff_ffff,
    };
    let mut lo = plain(row("v_mbcnt_lo_u32_b32", gfx), gfx);
    (lo.dst[0], lo.src[0], lo.src[1]) = (
        Operand::Vgpr(0),
        minus_one,
        Operand::Inline { code: 128, bits: 0 },
    );
    let mut hi = plain(row("v_mbcnt_hi_u32_b32", gfx), gfx);
    (hi.dst[0], hi.src[0], hi.src[1]) = (Operand::Vgpr(0), minus_one, Operand::Vgpr(0));
    lower(&mut g, &lo, 0, &mut sites);
    lower(&mut g, &hi, 0, &mut sites);
    let v0 = g.read_v(0);
    assert_eq!(b.parts(v0).0, Ir::LaneId);
}

#[test]
fn shifts_by_a_wave_amount_are_native() {
    let gfx = Gfx::Gfx900;
    let mut inst = plain(row("v_lshlrev_b32", gfx), gfx);
    let by_lane = needed(&lowered(&inst, gfx, MODE).expect("lowered"));
    assert!(by_lane.iter().any(|op| matches!(op, Ir::Call(..))));
    inst.src[0] = Operand::Sgpr(4);
    let by_wave = needed(&lowered(&inst, gfx, MODE).expect("lowered"));
    assert!(by_wave.contains(&Ir::Shl));
    assert!(!by_wave.iter().any(|op| matches!(op, Ir::Call(..))));
}

#[test]
fn a_compare_clears_the_bits_of_inactive_lanes() {
    let gfx = Gfx::Gfx900;
    let mut inst = plain(row("v_cmp_lt_u32", gfx), gfx);
    inst.dst[0] = Operand::Sgpr(106);
    let block = lowered(&inst, gfx, MODE).expect("lowered");
    let text = text::block(&block);
    assert!(
        text.contains("ExecMask") && text.contains("Ballot") && text.contains("vcc <- "),
        "{text}"
    );
    let ops = needed(&block);
    assert!(ops.contains(&Ir::And), "{text}");
}
