//! Every row has conformance cases, and every modifier that a row takes is in one of them. Prints
//! what is missing.

use std::collections::{BTreeMap, BTreeSet};

use frontend::inst::{Form, Inst, Operand, Sdwa, Special, Unused, VCC_LO};
use frontend::{Encoding, Forms, Gfx, InstDesc, Op, Ty, isa};

use super::conformance::{for_each_head, named, targets};

/// Least number of `in -> out` lines for a row.
const LEAST: usize = 2;

/// What the cases of a row have.
#[derive(Default)]
struct Seen {
    lines: usize,
    modifiers: BTreeMap<&'static str, usize>,
}

/// Tells rows apart that share a name.
type Key = (&'static str, Encoding, [u16; Gfx::COUNT]);

fn key(desc: &'static InstDesc) -> Key {
    (desc.name, desc.encoding, desc.opcodes.0)
}

fn seen() -> BTreeMap<Key, Seen> {
    let mut seen: BTreeMap<Key, Seen> = BTreeMap::new();
    for_each_head(named, |on, block, insts| {
        let lines = block.lines.iter().filter(|line| on.holds(line)).count();
        let mut rows = Vec::new();
        for inst in insts {
            let row = seen.entry(key(inst.desc)).or_default();
            if !rows.contains(&key(inst.desc)) {
                rows.push(key(inst.desc));
                row.lines += lines;
            }
            for modifier in modifiers(inst) {
                *row.modifiers.entry(modifier).or_default() += 1;
            }
        }
    });
    seen
}

/// Names of the modifiers that an instruction uses.
fn modifiers(inst: &Inst) -> Vec<&'static str> {
    let mods = &inst.mods;
    let packed = inst.desc.encoding == Encoding::Vop3p;
    let sdwa = mods.sdwa;
    [
        ("abs", mods.abs != 0),
        ("neg", mods.neg != 0 && !packed),
        ("clamp", mods.clamp),
        ("omod", mods.omod != 0),
        ("op_sel", mods.op_sel != 0),
        (
            "op_sel_hi",
            packed && mods.op_sel_hi != 7 && mods.op_sel_hi != 3,
        ),
        ("neg_lo", packed && mods.neg != 0),
        ("neg_hi", packed && mods.neg_hi != 0),
        ("vop3", inst.form == Form::Vop3),
        ("sdwa", sdwa.is_some()),
        ("sdwa sext", sdwa.is_some_and(|s| s.sext != [false; 2])),
        (
            "sdwa preserve",
            sdwa.is_some_and(|s| s.dst_unused == Unused::Preserve),
        ),
        ("dpp", mods.dpp.is_some()),
        ("glc", inst.mem.glc),
        ("offset", inst.mem.offset != 0),
        ("idxen", inst.mem.idxen),
        ("offen", inst.mem.offen),
        ("lds", inst.mem.lds),
        ("addr64", inst.mem.addr64),
    ]
    .into_iter()
    .filter_map(|(name, there)| there.then_some(name))
    .collect()
}

/// The target that is named for a row: the first that has it.
fn first_target(desc: &InstDesc) -> Option<Gfx> {
    Gfx::ALL
        .into_iter()
        .find(|&g| desc.opcodes.get(g).is_some())
}

#[test]
fn every_row_has_cases() {
    let seen = seen();
    let (mut rows, mut lines, mut missing) = (0, 0, Vec::new());
    for desc in isa::all() {
        let Some(gfx) = first_target(desc) else {
            continue;
        };
        let have = seen.get(&key(desc)).map_or(0, |seen| seen.lines);
        rows += 1;
        lines += have;
        if have < LEAST {
            missing.push(format!("{} ({gfx}): {have}", desc.name_on(gfx)));
        }
    }
    println!("{rows} rows, {lines} cases of single rows");
    assert!(
        missing.is_empty(),
        "{} of {rows} rows have fewer than {LEAST} cases:\n{}",
        missing.len(),
        missing.join("\n")
    );
}

#[test]
fn every_row_has_cases_on_every_target() {
    let mut run = BTreeSet::new();
    for_each_head(targets, |on, block, insts| {
        if block.lines.iter().any(|line| on.holds(line)) {
            run.extend(insts.iter().map(|inst| (on.gfx, key(inst.desc))));
        }
    });
    let mut missing = Vec::new();
    for gfx in Gfx::ALL {
        let rows = isa::all().filter(|row| row.opcodes.get(gfx).is_some());
        let without = rows.filter(|row| !run.contains(&(gfx, key(row))));
        missing
            .extend(without.map(|row| format!("{gfx}: {:?} {}", row.encoding, row.name_on(gfx))));
    }
    assert!(
        missing.is_empty(),
        "{}:\n{}",
        missing.len(),
        missing.join("\n")
    );
}

/// The modifiers that a row takes and that a case of the row must use.
fn wanted(desc: &InstDesc) -> Vec<&'static str> {
    use Encoding::{Vop1, Vop2, Vop3, Vopc};
    let lacks = |form| !desc.forms.has(form);
    let on = |gfx| desc.opcodes.get(gfx).is_some();
    let gfx8 = on(Gfx::Gfx803) || on(Gfx::Gfx900) || on(Gfx::Gfx906);
    let mut wanted = Vec::new();
    let mut want = |name, yes: bool| wanted.extend(yes.then_some(name));
    want("clamp", desc.forms.has(Forms::INT_CLAMP));
    want("op_sel", desc.forms.has(Forms::OP_SEL));
    if desc.encoding == Encoding::Vop3p {
        let of = |types: &[Ty]| desc.dst.first().is_some_and(|ty| types.contains(ty));
        let halves = of(&[Ty::PkI16, Ty::PkU16, Ty::PkF16]);
        let floats = of(&[Ty::PkF16, Ty::PkF32]);
        let mix = matches!(desc.op, Op::Mix | Op::MixLo | Op::MixHi);
        let dot = desc.op == Op::Dot2 && of(&[Ty::F32]);
        want("op_sel", halves || floats || mix || of(&[Ty::PkB32]));
        want("op_sel_hi", halves || floats || mix);
        want("neg_lo", floats || mix || dot);
        want("neg_hi", floats || dot);
        want("abs", mix);
        want("clamp", floats || mix || dot);
        return wanted;
    }
    if !matches!(desc.encoding, Vop1 | Vop2 | Vop3 | Vopc) {
        return wanted;
    }
    let operands = !desc.src.is_empty();
    let promoted = desc.encoding != Vop3;
    want(
        "sdwa",
        promoted && operands && gfx8 && lacks(Forms::NO_SDWA),
    );
    want(
        "dpp",
        promoted && operands && gfx8 && desc.encoding != Vopc && lacks(Forms::NO_DPP),
    );
    if lacks(Forms::NO_VOP3) && !exempt_float(desc) {
        let is_float = |ty: &&Ty| matches!(ty, Ty::F16 | Ty::F32 | Ty::F64);
        let source = desc.src.iter().find(is_float).is_some();
        let result = desc.dst.iter().find(is_float).is_some();
        want("neg", source);
        want("abs", source && lacks(Forms::VOP3B));
        want("clamp", result);
        want("omod", result);
    }
    wanted
}

/// Float rows for which nothing says what their modifiers would do.
fn exempt_float(desc: &InstDesc) -> bool {
    matches!(
        desc.op,
        Op::DivScale
            | Op::DivFmas
            | Op::DivFixup
            | Op::TrigPreop
            | Op::Dot2c
            | Op::InterpP1
            | Op::InterpP1Ll
            | Op::InterpP1Lv
            | Op::InterpP2
            | Op::InterpMov
    )
}

#[test]
fn every_row_has_cases_for_its_modifiers() {
    let seen = seen();
    let mut missing = Vec::new();
    for desc in isa::all() {
        for modifier in wanted(desc) {
            let have = seen
                .get(&key(desc))
                .and_then(|seen| seen.modifiers.get(modifier));
            if have.is_none() {
                let gfx = first_target(desc).map_or("none", Gfx::name);
                missing.push(format!("{} ({gfx}) {modifier}", desc.name));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "{} modifiers of rows have no case:\n{}",
        missing.len(),
        missing.join("\n")
    );
}

#[test]
fn every_modifier_has_cases() {
    let seen = seen();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in seen.values() {
        for modifier in row.modifiers.keys() {
            *counts.entry(modifier).or_default() += 1;
        }
    }
    println!("rows by modifier: {counts:?}");
    for modifier in [
        "abs",
        "neg",
        "clamp",
        "omod",
        "op_sel",
        "op_sel_hi",
        "neg_lo",
        "neg_hi",
        "vop3",
        "sdwa",
        "sdwa sext",
        "sdwa preserve",
        "dpp",
        "glc",
        "offset",
        "idxen",
        "offen",
        "lds",
        "addr64",
    ] {
        assert!(counts.contains_key(modifier), "no case uses {modifier}");
    }
}

/// What an instruction shows of the fields that sdwa, dpp and the operand LDS_DIRECT have.
fn values(gfx: Gfx, inst: &Inst, found: &mut BTreeSet<String>) {
    let mods = &inst.mods;
    let mut add = |what: String| {
        found.insert(what);
    };
    let encoding = inst.desc.encoding;
    if inst.src.contains(&Operand::Special(Special::LdsDirect)) {
        add(format!("LDS_DIRECT in {:?} as {encoding:?}", inst.form));
    }
    let signs = |what: &str, add: &mut dyn FnMut(String)| {
        for i in 0..2 {
            let (abs, neg) = (mods.abs >> i & 1 == 1, mods.neg >> i & 1 == 1);
            if abs || neg {
                add(format!("{what} S{i} abs {abs}, neg {neg}"));
            }
        }
    };
    if let Some(sdwa) = mods.sdwa {
        let Sdwa {
            dst_sel,
            dst_unused,
            src_sel,
            sext,
        } = sdwa;
        let compare = encoding == Encoding::Vopc;
        for i in 0..inst.desc.src.len().min(2) {
            add(format!("sdwa S{i} {:?}, sext {}", src_sel[i], sext[i]));
            if !matches!(inst.src[i], Operand::Vgpr(_) | Operand::None) {
                add(format!("sdwa S{i} scalar, compare {compare}"));
            }
        }
        if compare {
            let vcc = inst.dst[0] == Operand::Sgpr(VCC_LO);
            add(format!("sdwab {gfx}, vcc {vcc}"));
            add(format!("sdwab clamp {} {gfx}", mods.clamp));
        } else {
            add(format!("sdwa D {dst_sel:?} {dst_unused:?}"));
            let float = matches!(inst.desc.dst[0], Ty::F16 | Ty::F32);
            add(format!("sdwa clamp {}, float {float} {gfx}", mods.clamp));
            add(format!("sdwa omod {} {gfx}", mods.omod));
        }
        signs("sdwa", &mut add);
    }
    if let Some(dpp) = mods.dpp {
        let control = if dpp.ctrl < 0x100 { 0 } else { dpp.ctrl };
        add(format!("dpp {control:#x}, bound_ctrl {}", dpp.bound_ctrl));
        add(format!("dpp rows {:x}", dpp.row_mask));
        add(format!("dpp banks {:x}", dpp.bank_mask));
        signs("dpp", &mut add);
    }
}

#[test]
fn every_value_of_sdwa_and_dpp_has_cases() {
    let mut found = BTreeSet::new();
    for_each_head(named, |on, _, insts| {
        for inst in insts {
            values(on.gfx, inst, &mut found);
        }
    });
    let mut wanted: Vec<String> = Vec::new();
    let sels = [
        "Byte0", "Byte1", "Byte2", "Byte3", "Word0", "Word1", "Dword",
    ];
    for sel in sels {
        for unused in [Unused::Pad, Unused::Sext, Unused::Preserve] {
            wanted.push(format!("sdwa D {sel} {unused:?}"));
        }
        for (i, sext) in [(0, false), (0, true), (1, false), (1, true)] {
            wanted.push(format!("sdwa S{i} {sel}, sext {sext}"));
        }
    }
    for what in ["sdwa", "dpp"] {
        for signs in [
            "abs true, neg false",
            "abs false, neg true",
            "abs true, neg true",
        ] {
            wanted.extend([0, 1].map(|i| format!("{what} S{i} {signs}")));
        }
    }
    for gfx in ["gfx803", "gfx900"] {
        for clamp in ["clamp true, float false", "clamp true, float true"] {
            wanted.push(format!("sdwa {clamp} {gfx}"));
        }
    }
    // gfx9 has output modifiers, scalar sources and a destination for masks; gfx8 a clamp of compares.
    wanted.extend((0..4).map(|omod| format!("sdwa omod {omod} gfx900")));
    for i in 0..2 {
        wanted.extend([false, true].map(|compare| format!("sdwa S{i} scalar, compare {compare}")));
    }
    wanted.extend([false, true].map(|vcc| format!("sdwab gfx900, vcc {vcc}")));
    wanted.push("sdwab clamp true gfx803".to_owned());
    let shifts = (0x100..0x130u16).filter(|control| control & 15 != 0);
    let controls = [0, 0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143];
    for control in shifts.chain(controls) {
        wanted.extend([false, true].map(|bound| format!("dpp {control:#x}, bound_ctrl {bound}")));
    }
    for mask in [0, 1, 2, 4, 8, 15] {
        wanted.extend(["rows", "banks"].map(|what| format!("dpp {what} {mask:x}")));
    }
    for (form, encoding) in [
        (Form::Native, Encoding::Vop1),
        (Form::Native, Encoding::Vop2),
        (Form::Native, Encoding::Vop3),
        (Form::Native, Encoding::Vopc),
        (Form::Vop3, Encoding::Vop2),
        (Form::Vop3, Encoding::Vopc),
    ] {
        wanted.push(format!("LDS_DIRECT in {form:?} as {encoding:?}"));
    }
    let missing: Vec<_> = wanted
        .iter()
        .filter(|value| !found.contains(*value))
        .collect();
    println!("{} values", wanted.len());
    assert!(
        missing.is_empty(),
        "no case has: {missing:#?}; found {found:#?}"
    );
}
