//! Single instructions against what LLVM's `opt` makes of the intrinsics that stand for them. The
//! results are in `tests/golden/folds`, with the script that remakes them; what LLVM does not fold
//! is listed there too.

use std::fmt::Write as _;
use std::path::PathBuf;

use frontend::{Gfx, LANES, decode};
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END, State};
use lower::options::Forms;
use runtime::Engine;
use runtime::engine::{Emitter, Exit};
use runtime::interp::Interpreter;
use runtime::jit::{JitEngine, JitOptions};

/// Denormals of all types, DX10_CLAMP and IEEE on; to the nearest even.
const MODE: u32 = 0x3f0;

/// First register of the result among the VGPRs and among the SGPRs.
const V_RESULT: usize = 8;
const S_RESULT: usize = 20;

/// Mismatches that are printed for each intrinsic.
const SHOWN: usize = 4;

/// A type of the files.
#[derive(Clone, Copy, Debug)]
struct Type {
    bits: u32,
    /// Stored bits of a float's significand.
    fraction: Option<u32>,
}

impl Type {
    fn parse(text: &str) -> Type {
        let (bits, fraction) = match text {
            "f16" => (16, Some(10)),
            "f32" => (32, Some(23)),
            "f64" => (64, Some(52)),
            "i1" => (1, None),
            "i16" => (16, None),
            "i32" | "v2i16" | "v2f16" => (32, None),
            "i64" => (64, None),
            _ => panic!("type {text}"),
        };
        Type { bits, fraction }
    }

    fn mask(self) -> u64 {
        !0 >> (64 - self.bits)
    }

    fn is_nan(self, x: u64) -> bool {
        self.fraction.is_some_and(|fraction| {
            let below = self.mask() >> 1;
            x & below > below >> fraction << fraction
        })
    }

    /// The number that a float of 16 or 32 bits is.
    fn number(self, x: u64) -> f64 {
        match self.bits {
            16 => half::f16::from_bits(x as u16).to_f64(),
            _ => f32::from_bits(x as u32).into(),
        }
    }
}

/// How inputs reach the instruction and what the result is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    /// The bits are right or wrong.
    Exact,
    /// A bit of a mask in SGPRs.
    Mask,
    /// The same input in all lanes, the result in an SGPR.
    Uniform,
    /// Within a unit of the last place.
    Near,
}

/// An intrinsic, its instructions and what LLVM says.
struct Fold {
    name: String,
    ins: Vec<Type>,
    out: Type,
    rule: Rule,
    /// Target, words, text.
    code: Vec<(Gfx, Vec<u32>, String)>,
    /// `None` is a NaN.
    rows: Vec<(Vec<u64>, Option<u64>)>,
}

fn read(name: &str) -> Vec<Fold> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/folds")
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    let mut folds: Vec<Fold> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let bad = || format!("{name}:{}: {line}", at + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            folds.push(head(rest).unwrap_or_else(|| panic!("{}", bad())));
            continue;
        }
        let fold = folds.last_mut().unwrap_or_else(|| panic!("{}", bad()));
        let read = match line.contains(';') {
            true => encoding(line).map(|code| fold.code.extend(code)),
            false => row(line).map(|row| fold.rows.push(row)),
        };
        read.unwrap_or_else(|| panic!("{}", bad()));
    }
    folds
}

/// `name] types -> type; rule`
fn head(text: &str) -> Option<Fold> {
    let (name, rest) = text.split_once("] ")?;
    let (types, rule) = rest.split_once("; ")?;
    let (ins, out) = types.split_once(" -> ")?;
    Some(Fold {
        name: name.to_owned(),
        ins: ins.split(' ').map(Type::parse).collect(),
        out: Type::parse(out),
        rule: match rule {
            "exact" => Rule::Exact,
            "mask" => Rule::Mask,
            "uniform" => Rule::Uniform,
            "near" => Rule::Near,
            _ => return None,
        },
        code: Vec::new(),
        rows: Vec::new(),
    })
}

/// `targets: words ; text`
fn encoding(line: &str) -> Option<Vec<(Gfx, Vec<u32>, String)>> {
    let (targets, rest) = line.split_once(": ")?;
    let (words, text) = rest.split_once(" ; ")?;
    let words: Vec<u32> = words
        .split(' ')
        .map(|word| u32::from_str_radix(word, 16).ok())
        .collect::<Option<_>>()?;
    targets
        .split(' ')
        .map(|target| {
            let gfx = Gfx::ALL.into_iter().find(|gfx| gfx.name() == target)?;
            Some((gfx, words.clone(), text.to_owned()))
        })
        .collect()
}

/// `input ... = result`
fn row(line: &str) -> Option<(Vec<u64>, Option<u64>)> {
    let (ins, out) = line.split_once(" = ")?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let ins = ins.split(' ').map(hex).collect::<Option<_>>()?;
    match out {
        "nan" => Some((ins, None)),
        _ => Some((ins, Some(hex(out)?))),
    }
}

impl Fold {
    fn accepts(&self, want: Option<u64>, got: u64) -> bool {
        match want {
            None => self.out.is_nan(got),
            Some(want) if got == want => true,
            Some(want) if self.rule == Rule::Near => {
                let (want, got) = (self.out.number(want), self.out.number(got));
                let places = if self.out.bits == 16 { 10 } else { 23 };
                let ulp = (want.abs().log2().floor() - f64::from(places)).exp2();
                // Zeros and ones are not near anything.
                want != 0.0 && want.abs() != 1.0 && (want - got).abs() <= ulp
            }
            Some(_) => false,
        }
    }

    /// The state that an instruction begins with: rows in the lanes, or one row.
    fn state(
        &self,
        bench: &Bench,
        r: &mut Random,
        gfx: Gfx,
        rows: &[(Vec<u64>, Option<u64>)],
        scalar: bool,
    ) -> State {
        let mut state = bench.random_state(r, gfx);
        state.mode = MODE;
        (state.sgpr[126], state.sgpr[127], state.fuel) = (!0, !0, 1000);
        for (at, ty) in self.ins.iter().enumerate() {
            for lane in 0..LANES {
                let value = rows.get(lane).unwrap_or(&rows[0]).0[at] | r.next() & !ty.mask();
                for (half, word) in [value as u32, (value >> 32) as u32].into_iter().enumerate() {
                    state.vgpr[2 * at + half][lane] = word;
                    if scalar && lane == 0 {
                        state.sgpr[2 * at + half] = word;
                    }
                }
            }
        }
        state
    }

    /// The result of a lane.
    fn result(&self, state: &State, lane: usize, scalar: bool) -> u64 {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let from_sgprs = pair(state.sgpr[S_RESULT], state.sgpr[S_RESULT + 1]);
        let bits = match self.rule {
            Rule::Mask => from_sgprs >> lane & 1,
            _ if scalar => from_sgprs,
            _ => pair(state.vgpr[V_RESULT][lane], state.vgpr[V_RESULT + 1][lane]),
        };
        bits & self.out.mask()
    }
}

fn check(name: &str) {
    let bench = Bench::new();
    let options = JitOptions::exact();
    let masked = options.without(Forms::UNMASKED);
    let cranelift = JitOptions {
        emitter: Emitter::Cranelift,
        ..options
    };
    let jit =
        |options| Box::new(JitEngine::new(options).expect("the translator runs on this host"));
    let engines: [(&str, Box<dyn Engine>); 4] = [
        ("interp", Box::new(Interpreter)),
        ("jit", jit(options)),
        ("jit, always masked", jit(masked)),
        ("jit, cranelift", jit(cranelift)),
    ];
    let mut r = Random::new(0x401d);
    let (mut wrong, mut text, mut checked) = (0, String::new(), 0);
    for fold in &read(name) {
        assert!(
            !fold.rows.is_empty() && !fold.code.is_empty(),
            "{}",
            fold.name
        );
        let mut shown = 0;
        for (gfx, words, instruction) in &fold.code {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let inst = decode(*gfx, &bytes).unwrap_or_else(|e| panic!("{gfx} {instruction}: {e}"));
            assert_eq!(inst.text(*gfx), *instruction, "{gfx} {words:08x?}");
            let ending = [BARRIER, END].map(u32::to_le_bytes).concat();
            let code = bench.load(*gfx, &[bytes, ending].concat());
            let scalar = instruction.starts_with("s_") || fold.rule == Rule::Uniform;
            for rows in fold.rows.chunks(if scalar { 1 } else { LANES }) {
                let before = fold.state(&bench, &mut r, *gfx, rows, instruction.starts_with("s_"));
                for (engine, runs) in &engines {
                    let after = bench.run(&**runs, &code, &before);
                    assert_eq!(after.exit, Exit::End, "{gfx} {instruction} [{engine}]");
                    for (lane, (ins, want)) in rows.iter().enumerate() {
                        let got = fold.result(&after.state, lane, scalar);
                        checked += 1;
                        if fold.accepts(*want, got) {
                            continue;
                        }
                        (wrong, shown) = (wrong + 1, shown + 1);
                        if shown <= SHOWN {
                            let _ = writeln!(
                                text,
                                "{}: {gfx} {instruction} [{engine}] of {ins:x?}: {got:x}, LLVM has {want:x?}",
                                fold.name
                            );
                        }
                    }
                }
            }
            bench.unload(&code);
        }
    }
    println!("{name}: {checked} results");
    assert!(
        wrong == 0,
        "{wrong} of {checked} results differ, some of them:\n{text}"
    );
}

#[test]
fn floats() {
    check("floats.folds");
}

#[test]
fn conversions() {
    check("convert.folds");
}

#[test]
fn integers() {
    check("integer.folds");
}
