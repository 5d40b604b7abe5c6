//! The README's status table is made here from the rows and the translator's own account of them, so that
//! it cannot go stale. `BLESS=1` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use frontend::decode;
use frontend::{Encoding, Gfx, isa};
use harness::random::Random;
use harness::snippet::{self, Bench, Outcome};
use harness::words::{self, As};
use lower::lift::support::{Support, support, support_of};
use runtime::Exit;
use runtime::engine::Emitter;
use runtime::jit::{JitEngine, JitOptions};

const BEGIN: &str = "<!-- status: written by tests/exec/status.rs, BLESS=1 -->\n";
const END: &str = "<!-- end of status -->\n";

/// Names as the manual has them, in its order.
const ENCODINGS: [(Encoding, &str); 20] = [
    (Encoding::Sop2, "SOP2"),
    (Encoding::Sopk, "SOPK"),
    (Encoding::Sop1, "SOP1"),
    (Encoding::Sopc, "SOPC"),
    (Encoding::Sopp, "SOPP"),
    (Encoding::Smem, "SMEM"),
    (Encoding::Vop1, "VOP1"),
    (Encoding::Vop2, "VOP2"),
    (Encoding::Vopc, "VOPC"),
    (Encoding::Vop3, "VOP3"),
    (Encoding::Vop3p, "VOP3P"),
    (Encoding::Vintrp, "VINTRP"),
    (Encoding::Ds, "DS"),
    (Encoding::Flat, "FLAT"),
    (Encoding::Global, "GLOBAL"),
    (Encoding::Scratch, "SCRATCH"),
    (Encoding::Mubuf, "MUBUF"),
    (Encoding::Mtbuf, "MTBUF"),
    (Encoding::Mimg, "MIMG"),
    (Encoding::Exp, "EXP"),
];

fn table() -> String {
    let mut out = String::from("Opcodes that decode, print and run, by encoding and target:\n\n|");
    let _ = write!(out, " encoding |");
    for gfx in Gfx::ALL {
        let _ = write!(out, " {gfx} |");
    }
    out.push_str("\n|---|");
    out.push_str(&"--:|".repeat(Gfx::COUNT));
    out.push('\n');
    let count = |gfx: Gfx, encoding: Encoding| {
        isa::all()
            .filter(|d| d.encoding == encoding && d.opcodes.get(gfx).is_some())
            .count()
    };
    for (encoding, name) in ENCODINGS {
        let _ = write!(out, "| {name} |");
        for gfx in Gfx::ALL {
            match count(gfx, encoding) {
                0 => out.push_str("  |"),
                n => {
                    let _ = write!(out, " {n} |");
                }
            }
        }
        out.push('\n');
    }
    out.push_str(
        "\nHow the translator treats them (native: host instructions; function: with a call of a \
         whole-wave function;\ncontrol: the region's own flow of control; interpreter: one call of \
         the interpreter, counted in `--json`;\nrefused: hardware that does not exist here, a \
         fault on both engines; the share is of the others):\n\n| target | native | function | \
         control | interpreter | refused | share translated |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut handed: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut refusals: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for gfx in Gfx::ALL {
        let mut counts = [0usize; 5];
        for desc in isa::all() {
            let Some(how) = support(desc, gfx) else {
                continue;
            };
            counts[match how {
                Support::Native => 0,
                Support::Helper => 1,
                Support::Control => 2,
                Support::Interp => 3,
                Support::Refused => 4,
            }] += 1;
            let names = match how {
                Support::Interp => &mut handed,
                Support::Refused => &mut refusals,
                _ => continue,
            };
            if gfx <= Gfx::Gfx906 {
                names
                    .entry(desc.name_on(gfx))
                    .or_default()
                    .push(gfx.to_string());
            }
        }
        let [native, helper, control, interp, refused] = counts;
        let all = native + helper + control + interp;
        let share = 100.0 * (all - interp) as f64 / all as f64;
        let _ = writeln!(
            out,
            "| {gfx} | {native} | {helper} | {control} | {interp} | {refused} | {share:.1} % |"
        );
    }
    // Families are told by the first two words of the name.
    let mut families: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for &name in handed.keys() {
        let family = match name.split('_').next().unwrap_or(name) {
            "exp" => "exports: recorded by the interpreter",
            "tbuffer" => "typed buffers",
            _ => "",
        };
        families.entry(family.to_owned()).or_default().push(name);
    }
    out.push_str("\nHanded to the interpreter on gfx600 to gfx906:\n\n");
    if families.is_empty() {
        out.push_str("* no row\n");
    }
    for (family, names) in families {
        if family.is_empty() {
            let list: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
            let _ = writeln!(out, "* {}", list.join(", "));
        } else {
            let _ = writeln!(out, "* {} {family}", names.len());
        }
    }
    let (flat, others): (Vec<&str>, Vec<&str>) = exceptions()
        .into_iter()
        .partition(|name| name.starts_with("flat_"));
    let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
    let _ = writeln!(
        out,
        "\nThe tables count one plain instance of each row. Of random instances, those with other operands and modifiers, the \
         interpreter executes some of {}, and of {} FLAT rows (with TFE, gfx700 and gfx803). Not among these: `v_swap_b32` and \
         instructions with accumulation registers under GPR indexing, and image instructions whose descriptor begins in the last scalar registers. All are counted in `--json`.",
        others.join(", "),
        flat.len()
    );
    let compares = |name: &&&str| name.starts_with("image_") && name.contains("_c");
    let list = refusals.keys().filter(|name| !compares(name));
    let list: Vec<String> = list.map(|n| format!("`{n}`")).collect();
    let _ = writeln!(
        out,
        "\nRefused: {}, and {} image instructions with a depth comparison (`image_sample_c*`, \
         `image_gather4_c*`)",
        list.join(", "),
        refusals.keys().filter(compares).count()
    );
    out
}

/// Random instances of a row in each of its forms that [`exceptions`] looks at.
const INSTANCES: usize = 100;

/// Rows of gfx600 to gfx906 that the translator translates, but not in all of their instances.
fn exceptions() -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    for gfx in Gfx::ALL.into_iter().filter(|gfx| *gfx <= Gfx::Gfx906) {
        let mut r = Random::new(1);
        let translated = |how| matches!(how, Support::Native | Support::Helper);
        let rows = isa::all().filter(|desc| support(desc, gfx).is_some_and(translated));
        for desc in rows {
            let forms = [As::Native, As::Sdwa, As::Dpp].repeat(INSTANCES);
            let handed = forms.into_iter().any(|form| {
                let inst = words::random(&mut r, gfx, desc, form);
                let inst = inst.and_then(|bytes| decode(gfx, &bytes).ok());
                inst.is_some_and(|inst| support_of(&inst, gfx) == Support::Interp)
            });
            if handed {
                found.insert(desc.name_on(gfx));
            }
        }
    }
    found
}

#[test]
fn readme_has_the_status_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = std::fs::read_to_string(&path).expect("the README is there");
    let start = readme
        .find(BEGIN)
        .expect("the README has the status marker")
        + BEGIN.len();
    let end = readme
        .find(END)
        .expect("the README has the closing status marker");
    let want = format!("\n{}\n", table());
    if std::env::var_os("BLESS").is_some() {
        let new = format!("{}{want}{}", &readme[..start], &readme[end..]);
        std::fs::write(&path, new).expect("the README can be written");
    } else {
        assert!(
            readme[start..end] == want,
            "the README's status table is stale; run with BLESS=1 and review the difference"
        );
    }
}

/// Runs words on the translator with fallbacks ruled out.
fn without_fallbacks(gfx: Gfx, emitter: Emitter, words: &[u32]) -> Outcome {
    let options = JitOptions {
        no_fallback: true,
        emitter,
        ..JitOptions::default()
    };
    let engine = JitEngine::new(options).expect("the translator runs on this host");
    let bench = Bench::new();
    let words = words.iter().chain(&[snippet::BARRIER, snippet::END]);
    let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    let code = bench.load(gfx, &bytes);
    let before = bench.random_state(&mut Random::new(1), gfx);
    bench.run(&engine, &code, &before)
}

#[test]
fn moves_of_scalar_registers_run_with_fallbacks_ruled_out() {
    for gfx in Gfx::ALL {
        let op = if gfx.is_gfx6_7() { 0x2e } else { 0x2a };
        for emitter in [Emitter::Cranelift, Emitter::Wide] {
            let sop1 = |op: u32, d: u32, s: u32| 0xbe80_0000 | d << 16 | op << 8 | s;
            let moves = [
                sop1(op, 0, 2),
                sop1(op + 1, 106, 2),
                sop1(op + 2, 4, 253),
                sop1(op + 3, 4, 126),
            ];
            let ran = without_fallbacks(gfx, emitter, &moves);
            assert_eq!((ran.exit, &ran.fallbacks[..]), (Exit::End, &[][..]));
            // SCC has no number to add M0 to.
            let ran = without_fallbacks(gfx, emitter, &[sop1(op, 0, 253)]);
            assert!(matches!(ran.exit, Exit::Fault(_)), "{:?}", ran.exit);
        }
    }
}

/// Words of each frequent mnemonic that are tried.
const WORDS: usize = 12;

#[test]
fn frequent_mnemonics_do_not_fall_back() {
    let list = include_str!("../golden/frequent.txt");
    let names = list.lines().filter(|line| !line.starts_with('#'));
    let mut seen = 0;
    for line in names {
        let mnemonic = line.split(' ').next().unwrap_or(line);
        let forms = [
            ("_e32", As::Native),
            ("_e64", As::Vop3),
            ("_sdwa", As::Sdwa),
            ("_dpp", As::Dpp),
        ];
        let form = forms.iter().find(|(end, _)| mnemonic.ends_with(end));
        let (name, form) = match form {
            Some(&(end, form)) => (&mnemonic[..mnemonic.len() - end.len()], form),
            None => (mnemonic, As::Native),
        };
        let mut tried = 0;
        let targets = Gfx::ALL.into_iter().filter(|&gfx| gfx <= Gfx::Gfx906);
        for gfx in targets {
            for desc in isa::all().filter(|desc| desc.opcodes.get(gfx).is_some()) {
                if desc.name_on(gfx) != name {
                    continue;
                }
                let mut r = Random::new(1);
                for _ in 0..WORDS {
                    // A native VOP3 row has the suffix in no other form.
                    let bytes = words::random(&mut r, gfx, desc, form)
                        .or_else(|| words::random(&mut r, gfx, desc, As::Native));
                    let Some(Ok(inst)) = bytes.map(|bytes| decode(gfx, &bytes)) else {
                        continue;
                    };
                    // There is no global data share.
                    if inst.mem.gds {
                        continue;
                    }
                    tried += 1;
                    let how = support_of(&inst, gfx);
                    assert!(
                        !matches!(how, Support::Interp | Support::Refused),
                        "{} on {gfx}: {how:?}",
                        inst.text(gfx)
                    );
                }
            }
        }
        assert!(tried > 0, "no row for the mnemonic {mnemonic}");
        seen += 1;
    }
    assert!(seen >= 170, "{seen} mnemonics in the list");
}
