//! Lints of the instruction rows, and the whole table as a golden file, so that every edit of a row
//! is a diff to review. `BLESS=1` rewrites the golden file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use frontend::desc::{Effects, Encoding, Forms, InstDesc};
use frontend::{Gfx, Ty, isa};

const EFFECTS: [(&str, Effects); 9] = [
    ("reads_scc", Effects::READS_SCC),
    ("reads_vcc", Effects::READS_VCC),
    ("writes_exec", Effects::WRITES_EXEC),
    ("reads_m0", Effects::READS_M0),
    ("writes_m0", Effects::WRITES_M0),
    ("cross_lane", Effects::CROSS_LANE),
    ("reads_d", Effects::READS_D),
    ("reads_exec", Effects::READS_EXEC),
    ("ignores_exec", Effects::IGNORES_EXEC),
];

const FORMS: [(&str, Forms); 10] = [
    ("no_sdwa", Forms::NO_SDWA),
    ("no_dpp", Forms::NO_DPP),
    ("no_vop3", Forms::NO_VOP3),
    ("vop3b", Forms::VOP3B),
    ("op_sel", Forms::OP_SEL),
    ("int_clamp", Forms::INT_CLAMP),
    ("sdwa_gfx8", Forms::SDWA_GFX8),
    ("literal_k", Forms::LITERAL_K),
    ("keeps_hi16", Forms::KEEPS_HI16),
    ("float_mods", Forms::FLOAT_MODS),
];

fn is_alu(row: &InstDesc) -> bool {
    matches!(
        row.encoding,
        Encoding::Sop1
            | Encoding::Sop2
            | Encoding::Sopk
            | Encoding::Sopc
            | Encoding::Sopp
            | Encoding::Vop1
            | Encoding::Vop2
            | Encoding::Vopc
            | Encoding::Vop3
            | Encoding::Vop3p
            | Encoding::Vintrp
    )
}

/// The names that a row has on the targets where it exists.
fn names(row: &InstDesc) -> BTreeSet<&'static str> {
    Gfx::ALL
        .into_iter()
        .filter(|&gfx| row.opcodes.get(gfx).is_some())
        .map(|gfx| row.name_on(gfx))
        .collect()
}

#[test]
fn golden_table() {
    let mut table = String::from(
        "# encoding name | opcode on gfx600 gfx700 gfx803 gfx900 gfx906 gfx908 gfx90a gfx942 | D <- S | \
         operation | the rest\n",
    );
    for row in isa::all() {
        let mut opcodes = String::new();
        for gfx in Gfx::ALL {
            match row.opcodes.get(gfx) {
                Some(n) => write!(opcodes, " {n:03x}"),
                None => write!(opcodes, " ---"),
            }
            .expect("writing to a String does not fail");
        }
        let mut rest = String::new();
        if row.rev {
            rest.push_str(" rev");
        }
        if row.scc != frontend::Scc::Keep {
            write!(rest, " scc:{:?}", row.scc).expect("writing to a String does not fail");
        }
        for (name, effect) in EFFECTS {
            if row.effects.has(effect) {
                write!(rest, " {name}").expect("writing to a String does not fail");
            }
        }
        for (name, form) in FORMS {
            if row.forms.has(form) {
                write!(rest, " {name}").expect("writing to a String does not fail");
            }
        }
        for (gfx, name) in row.renames {
            write!(rest, " {gfx}:{name}").expect("writing to a String does not fail");
        }
        writeln!(
            table,
            "{:?} {} |{opcodes} | {:?} <- {:?} | {:?} |{rest}",
            row.encoding, row.name, row.dst, row.src, row.op
        )
        .expect("writing to a String does not fail");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/table.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &table).unwrap_or_else(|e| panic!("{path}: {e}"));
        return;
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    for (i, (old, new)) in golden.lines().zip(table.lines()).enumerate() {
        assert_eq!(old, new, "line {} of {path}; BLESS=1 rewrites it", i + 1);
    }
    assert_eq!(
        golden.lines().count(),
        table.lines().count(),
        "{path} lacks rows or has too many; BLESS=1 rewrites it"
    );
}

#[test]
fn names_are_unique_on_every_target() {
    for gfx in Gfx::ALL {
        let mut seen = BTreeMap::new();
        for row in isa::all().filter(|row| row.opcodes.get(gfx).is_some()) {
            let name = row.name_on(gfx);
            if let Some(other) = seen.insert(name, row) {
                panic!("{name} on {gfx}: {other:?} and {row:?}");
            }
        }
        assert!(
            seen.len() > 600,
            "only {} instructions on {gfx}",
            seen.len()
        );
    }
}

/// Is `token` of a name (`u32`, `f16`) a way to say `ty`?
fn fits(token: &str, ty: Ty) -> bool {
    let (kind, bits) = token.split_at(1);
    let bits: u32 = bits.parse().expect("a width");
    if kind == "f" {
        return match bits {
            16 => matches!(ty, Ty::F16 | Ty::PkF16 | Ty::B64),
            32 => matches!(
                ty,
                Ty::F32 | Ty::PkF32 | Ty::F32x4 | Ty::F32x16 | Ty::F32x32
            ),
            _ => matches!(ty, Ty::F64 | Ty::B256),
        };
    }
    let unsigned = matches!(ty, Ty::U16 | Ty::U32 | Ty::U64 | Ty::PkU16 | Ty::Mask);
    if ty.is_float() || (kind == "i" && unsigned) || (kind == "u" && ty.is_signed()) {
        return false;
    }
    match bits {
        // Parts of a wider, untyped register.
        4 | 8 => ty.bits() >= 32,
        16 => ty.bits() == 16 || ty.bits() >= 32,
        24 => ty.bits() == 32,
        _ => {
            ty.bits() == bits
                || matches!(
                    (ty, bits),
                    (Ty::PkB32 | Ty::B128 | Ty::B512 | Ty::B1024, 32)
                )
        }
    }
}

#[test]
fn names_agree_with_types() {
    for row in isa::all().filter(|row| is_alu(row)) {
        for name in names(row) {
            let is_type = |token: &&str| {
                token.len() >= 2
                    && matches!(token.as_bytes()[0], b'b' | b'u' | b'i' | b'f')
                    && token[1..].bytes().all(|b| b.is_ascii_digit())
            };
            let mut tokens: Vec<&str> = name.split('_').filter(is_type).collect();
            // `v_mul_i32_i24`: the second is the width of the factors.
            tokens.retain(|token| !token.ends_with("24"));
            let (Some(&first), Some(&last)) = (tokens.first(), tokens.last()) else {
                continue;
            };
            // The old names of additions with carry say i32, the carry is unsigned.
            if row.dst.get(1) == Some(&Ty::Mask) && first == "i32" && row.dst[0] == Ty::U32 {
                continue;
            }
            // Of floats of 8 bits, which are parts of a register, only the sources have a type here.
            if name.contains("_fp8_f32") || name.contains("_bf8_f32") {
                continue;
            }
            // The first interpolation steps give f32 out of f16 parameters.
            if name.starts_with("v_interp_p1l") {
                continue;
            }
            let result = match (row.dst, row.src) {
                ([Ty::Mask], [s, ..]) | ([], [s, ..]) | ([s, ..], _) => *s,
                ([], []) => continue,
            };
            assert!(
                fits(first, result),
                "{name} names {first}, but its row has {result:?}"
            );
            if tokens.len() > 1 {
                let source = row.src[0];
                assert!(
                    fits(last, source),
                    "{name} names {last}, but its first source is {source:?}"
                );
            }
        }
    }
}

#[test]
fn rev_rows_are_those_that_say_rev() {
    for row in isa::all().filter(|row| is_alu(row)) {
        for name in names(row) {
            // `bfrev` and `s_brev` reverse bits.
            let says = name
                .split('_')
                .any(|part| part.ends_with("rev") && !matches!(part, "brev" | "bfrev"));
            assert_eq!(row.rev, says, "{name}");
        }
    }
}

/// Sources and destinations by position fit into an instruction, and flags go with the right
/// encodings.
#[test]
fn shapes() {
    for row in isa::all() {
        let name = row.name;
        assert!(row.dst.len() <= 2 && row.src.len() <= 4, "{name}");
        assert!(
            Gfx::ALL.iter().any(|&gfx| row.opcodes.get(gfx).is_some()),
            "{name} is on no target"
        );
        if row.rev {
            assert!(row.src.len() >= 2, "{name}");
        }
        let scalar = matches!(
            row.encoding,
            Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopk | Encoding::Sopc | Encoding::Sopp
        );
        if row.scc != frontend::Scc::Keep {
            assert!(scalar, "{name} writes SCC");
        }
        if row.encoding == Encoding::Vopc {
            assert_eq!(row.dst, [Ty::Mask], "{name}");
        }
        if row.forms.has(Forms::VOP3B) {
            assert_eq!(row.dst.get(1), Some(&Ty::Mask), "{name}");
        }
        for (gfx, _) in row.renames {
            assert!(
                row.opcodes.get(*gfx).is_some(),
                "{name} renamed where absent"
            );
        }
    }
}

/// Every operation has a row; the variants are read from the source, where they stand in groups.
#[test]
fn every_operation_is_used() {
    let source = include_str!("../../frontend/src/op.rs");
    let start = source.find("\noperations! {").expect("the operations");
    let body = &source[start..start + source[start..].find("\n}").expect("their end")];
    let mut variants = BTreeSet::new();
    for line in body.lines().skip(1) {
        let text = line.trim_start();
        if text.starts_with(|c: char| c.is_ascii_uppercase()) {
            let end = text
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(text.len());
            variants.insert(&text[..end]);
        }
    }
    assert!(variants.len() > 150, "the operations were not read well");
    let mut used = BTreeSet::new();
    for row in isa::all() {
        let text = format!("{:?}", row.op);
        let end = text
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(text.len());
        used.insert(text[..end].to_owned());
    }
    // Came with gfx10; the engines have it already.
    let later = ["MovRelSD2"];
    let unused: Vec<_> = variants
        .iter()
        .filter(|variant| !used.contains(**variant) && !later.contains(variant))
        .collect();
    assert!(unused.is_empty(), "no row has {unused:?}");
}

/// Every row that the errata mention exists.
#[test]
fn errata_name_rows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/frontend/ERRATA.md");
    let Ok(errata) = std::fs::read_to_string(path) else {
        return;
    };
    let known: BTreeSet<&str> = isa::all().flat_map(names).collect();
    for code in errata.split('`').skip(1).step_by(2) {
        let is_name = ["v_", "s_", "ds_", "flat_", "buffer_", "image_"]
            .iter()
            .any(|prefix| code.starts_with(prefix))
            && code
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        assert!(
            !is_name || known.contains(code),
            "ERRATA.md: no row `{code}`"
        );
    }
}
