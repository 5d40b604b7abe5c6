//! Random instruction sequences from the rows: the interpreter and the translator must agree on every
//! register, on memory and on faults. `ROUNDS=` and `SEED=` in the environment change how many and
//! which; a failure prints its seed and a shrunk sequence.

use frontend::desc::InstDesc;
use frontend::inst::{Inst, Operand};
use frontend::{Encoding, Gfx, Op, decode, isa};
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, State, differences};
use harness::words::{self, As};
use lower::jit::HostLevel;
use runtime::engine::Exit;
use runtime::interp::Interpreter;
use runtime::jit::{JitEngine, JitOptions};

/// Sequences for each target when the environment does not say.
const ROUNDS: u64 = 4000;

/// Instructions in a sequence.
const LENGTH: u32 = 12;

fn env(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Does an instruction belong into a straight sequence?
fn fits(inst: &Inst) -> bool {
    let flow = matches!(
        inst.op(),
        Op::Branch(_)
            | Op::Endpgm
            | Op::Barrier
            | Op::SetPc
            | Op::SwapPc
            | Op::Call
            | Op::GetPc
            | Op::Trap
            | Op::Rfe
            | Op::RfeRestore
            | Op::CbranchGFork
            | Op::CbranchIFork
            | Op::CbranchJoin
            | Op::SetVskip
            | Op::SetGprIdxOn
            | Op::SetGprIdxMode
            | Op::Sendmsg
            | Op::MemTime
            | Op::MemRealtime
    );
    // Hardware registers other than MODE differ by time and place; writes of MODE's special bits would
    // switch modes for the rest.
    let register = matches!(inst.op(), Op::GetReg | Op::SetReg)
        && !inst
            .src
            .iter()
            .any(|s| matches!(s, Operand::Imm(i) if *i & 63 == 1 && *i >> 6 & 31 < 10));
    // M0 far out of range would make relative moves hit prepared registers; they have cases.
    let relative = matches!(
        inst.op(),
        Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2
    );
    // Prepared registers stay.
    let prepared = inst.dst.iter().any(|d| match *d {
        Operand::Sgpr(n) => (words::SGPRS as u8..104).contains(&n) || (108..124).contains(&n),
        Operand::Vgpr(n) => u32::from(n) >= words::VGPRS,
        _ => false,
    });
    let exotic = matches!(
        inst.op(),
        Op::Mfma | Op::AccVgprRead | Op::AccVgprWrite | Op::AccVgprMov | Op::Export
    );
    !flow && !register && !relative && !prepared && !exotic
}

/// The rows that sequences are made of.
fn rows(gfx: Gfx) -> Vec<&'static InstDesc> {
    isa::all()
        .filter(|desc| desc.opcodes.get(gfx).is_some())
        .filter(|desc| {
            matches!(
                desc.encoding,
                Encoding::Sop1
                    | Encoding::Sop2
                    | Encoding::Sopk
                    | Encoding::Sopc
                    | Encoding::Vop1
                    | Encoding::Vop2
                    | Encoding::Vopc
                    | Encoding::Vop3
                    | Encoding::Vop3p
            )
        })
        .collect()
}

fn instruction(r: &mut Random, gfx: Gfx, rows: &[&'static InstDesc]) -> Vec<u8> {
    loop {
        let desc = *r.pick(rows);
        let form = match r.below(8) {
            0..=3 => As::Native,
            4 | 5 => As::Vop3,
            6 => As::Sdwa,
            _ => As::Dpp,
        };
        let Some(bytes) = words::random(r, gfx, desc, form) else {
            continue;
        };
        match decode(gfx, &bytes) {
            Ok(inst) if fits(&inst) => return bytes[..usize::from(inst.len)].to_vec(),
            _ => {}
        }
    }
}

struct Checker {
    bench: Bench,
    engines: Vec<(String, JitOptions)>,
}

/// What an engine got wrong.
struct Mismatch {
    engine: String,
    lines: Vec<String>,
}

impl Checker {
    fn new() -> Checker {
        let mut engines = Vec::new();
        let base = JitOptions {
            exact_nan: true,
            ..JitOptions::default()
        };
        engines.push(("native".to_owned(), base));
        engines.push((
            "avx2, groups of 16".to_owned(),
            JitOptions {
                host: HostLevel::Avx2,
                group: Some(16),
                ..base
            },
        ));
        engines.push((
            "sse4.1, always masked".to_owned(),
            JitOptions {
                host: HostLevel::Sse41,
                always_masked: true,
                ..base
            },
        ));
        Checker {
            bench: Bench::new(),
            engines,
        }
    }

    /// New engines; they keep all code that they ever made.
    fn jits(&self) -> Vec<JitEngine> {
        self.engines
            .iter()
            .map(|(_, options)| JitEngine::new(*options).expect("this host"))
            .collect()
    }

    /// Runs a sequence everywhere; `only` one engine (by number) when shrinking.
    fn check(
        &self,
        jits: &[JitEngine],
        gfx: Gfx,
        sequence: &[Vec<u8>],
        before: &State,
        only: Option<usize>,
    ) -> Option<(usize, Mismatch)> {
        let mut bytes: Vec<u8> = sequence.concat();
        bytes.extend(BARRIER.to_le_bytes());
        let code = self.bench.load(gfx, &bytes);
        let want = self.bench.run(&Interpreter, &code, before);
        let mut found = None;
        for (i, jit) in jits.iter().enumerate() {
            if only.is_some_and(|n| n != i) {
                continue;
            }
            let got = self.bench.run(jit, &code, before);
            let lines = match (&want.exit, &got.exit) {
                (Exit::Fault(a), Exit::Fault(b)) if a == b => continue,
                (a, b) if a != b => vec![format!("exit: {a:?} / {b:?}")],
                _ => differences(&want.state, &got.state),
            };
            if !lines.is_empty() {
                found = Some((
                    i,
                    Mismatch {
                        engine: self.engines[i].0.clone(),
                        lines,
                    },
                ));
                break;
            }
        }
        self.bench.unload(&code);
        found
    }
}

fn texts(gfx: Gfx, sequence: &[Vec<u8>]) -> String {
    let mut out = String::new();
    for bytes in sequence {
        let text = decode(gfx, bytes).map_or_else(|e| e.to_string(), |inst| inst.text(gfx));
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        out.push_str(&format!("    {text}    {hex}\n"));
    }
    out
}

/// A difference in words.
fn report(
    gfx: Gfx,
    sequence: &[Vec<u8>],
    before: &State,
    mismatch: &Mismatch,
    lines: usize,
) -> String {
    let mode = before.mode;
    let exec = u64::from(before.sgpr[126]) | u64::from(before.sgpr[127]) << 32;
    let lines: String = mismatch
        .lines
        .iter()
        .take(lines)
        .map(|l| format!("      {l}\n"))
        .collect();
    format!(
        "on {}: mode {mode:08x} exec {exec:016x}\n{}{lines}",
        mismatch.engine,
        texts(gfx, sequence),
    )
}

fn differential(gfx: Gfx) {
    if let Some(words) = std::env::var("SUMMARY").ok().and_then(|t| t.parse().ok()) {
        return summary(gfx, words);
    }
    let rounds = env("ROUNDS", ROUNDS);
    let seed = env("SEED", 1);
    let rows = rows(gfx);
    let checker = Checker::new();
    let mut jits = checker.jits();
    let mut bad = Vec::new();
    for round in 0..rounds {
        // Engines keep all code that they ever made.
        if round % 2000 == 1999 {
            jits = checker.jits();
        }
        let mut r = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(round));
        let before = checker.bench.random_state(&mut r, gfx);
        let length = 1 + r.below(LENGTH);
        let mut sequence: Vec<Vec<u8>> = (0..length)
            .map(|_| instruction(&mut r, gfx, &rows))
            .collect();
        let Some((engine, _)) = checker.check(&jits, gfx, &sequence, &before, None) else {
            continue;
        };
        // Shrink: leave out what is not needed.
        let mut i = 0;
        while i < sequence.len() {
            let mut shorter = sequence.clone();
            shorter.remove(i);
            if checker
                .check(&jits, gfx, &shorter, &before, Some(engine))
                .is_some()
            {
                sequence = shorter;
            } else {
                i += 1;
            }
        }
        let (_, mismatch) = checker
            .check(&jits, gfx, &sequence, &before, Some(engine))
            .expect("the shrunk sequence still differs");
        bad.push(format!(
            "{gfx} seed {seed} round {round} {}",
            report(gfx, &sequence, &before, &mismatch, 6)
        ));
        if bad.len() as u64 >= env("FAILURES", 5) {
            break;
        }
    }
    assert!(
        bad.is_empty(),
        "interpreter / translator differ:\n{}",
        bad.join("\n")
    );
}

/// Forms that a row is tried in.
const FORMS: [As; 4] = [As::Native, As::Vop3, As::Sdwa, As::Dpp];

/// `SUMMARY=words` lists every row and form whose single instructions differ, with an example each;
/// `STATES=` says from how many states each word runs, `ROW=` chooses rows by a part of their name.
fn summary(gfx: Gfx, words: u64) {
    let only = std::env::var("ROW").unwrap_or_default();
    let states = env("STATES", 4);
    let checker = Checker::new();
    let mut jits = checker.jits();
    let (mut bad, mut run) = (Vec::new(), 0u64);
    for desc in rows(gfx) {
        if !desc.name_on(gfx).contains(&only) {
            continue;
        }
        for form in FORMS {
            let mut r = Random::new(env("SEED", 1));
            let (mut failed, mut tried, mut example) = (0, 0, String::new());
            for _ in 0..words {
                let Some(bytes) = words::random(&mut r, gfx, desc, form) else {
                    break;
                };
                let Ok(inst) = decode(gfx, &bytes) else {
                    continue;
                };
                if !fits(&inst) {
                    continue;
                }
                tried += 1;
                run += 1;
                if run % 2000 == 0 {
                    jits = checker.jits();
                }
                let sequence = [bytes[..usize::from(inst.len)].to_vec()];
                let mut wrong = false;
                for _ in 0..states {
                    let before = checker.bench.random_state(&mut r, gfx);
                    if let Some((_, mismatch)) = checker.check(&jits, gfx, &sequence, &before, None)
                    {
                        wrong = true;
                        if example.is_empty() {
                            example = report(gfx, &sequence, &before, &mismatch, 3);
                        }
                    }
                }
                failed += u64::from(wrong);
            }
            if failed != 0 {
                bad.push(format!(
                    "{} {form:?}: {failed} of {tried} words\n{example}",
                    desc.name_on(gfx)
                ));
            }
        }
    }
    let count = bad.len();
    assert!(
        bad.is_empty(),
        "{gfx}: {count} rows and forms differ:\n{}",
        bad.join("\n")
    );
}

#[test]
fn gfx600() {
    differential(Gfx::Gfx600);
}

#[test]
fn gfx700() {
    differential(Gfx::Gfx700);
}

#[test]
fn gfx803() {
    differential(Gfx::Gfx803);
}

#[test]
fn gfx900() {
    differential(Gfx::Gfx900);
}

#[test]
fn gfx906() {
    differential(Gfx::Gfx906);
}
