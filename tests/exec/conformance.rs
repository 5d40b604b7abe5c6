//! Runs the conformance cases of `tests/cases` on every engine: the text against the words, then
//! each line under several EXEC masks, comparing the whole state. Lines that differ in vector
//! registers only run together, spread over the lanes.

mod state;

use std::collections::BTreeSet;
use std::path::PathBuf;

use frontend::{Gfx, Inst};
use fuzz::checker::may_fall_back;
use harness::case::batch::{batches, instructions, masks, uses_memory};
use harness::case::state::{Run, Wrong};
use harness::case::{Block, CaseFile, Encoded, Head, Line, Outcome};
use lower::jit::HostLevel;
use lower::options::Forms;
use runtime::engine::Emitter;
use runtime::interp::Interpreter;
use runtime::jit::{JitEngine, JitOptions};
use runtime::{Engine, Exit, LoadedCode};

use state::{EngineRun, World};

/// The directory of the case files.
pub(crate) fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// Reads one case file.
fn read(name: &str) -> CaseFile {
    let path = directory().join(format!("{name}.case"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    CaseFile::parse(&format!("tests/cases/{name}.case"), &text).unwrap_or_else(|e| panic!("{e}"))
}

/// Targets that each have the instructions of those before, but for some.
const LINE: [Gfx; 4] = [Gfx::Gfx906, Gfx::Gfx908, Gfx::Gfx90a, Gfx::Gfx942];

/// A target to run code on, and the target whose lines hold for it.
#[derive(Clone, Copy)]
pub(crate) struct On {
    pub(crate) gfx: Gfx,
    pub(crate) like: Gfx,
}

impl On {
    pub(crate) fn holds(self, line: &Line) -> bool {
        line.only
            .as_ref()
            .is_none_or(|only| only.contains(&self.like))
    }
}

/// The targets that a file names for an encoding.
pub(crate) fn named(_: &Head, code: &Encoded) -> Vec<On> {
    let targets = code.targets.iter();
    targets.map(|&gfx| On { gfx, like: gfx }).collect()
}

/// Those, and their successors that print the same words as the same text and of which the head names none. Not of matrix
/// products, whose numerics each generation has its own of.
pub(crate) fn targets(head: &Head, code: &Encoded) -> Vec<On> {
    let mut targets = named(head, code);
    let all = head.code.iter().flat_map(|code| &code.targets);
    let last = all.filter(|gfx| LINE.contains(gfx)).max();
    if let Some(&like) = last.filter(|last| code.targets.contains(last)) {
        let later = LINE.into_iter().filter(|gfx| *gfx > like);
        let same = later.filter(|&gfx| {
            let insts = instructions(gfx, head, &code.words);
            insts.is_ok_and(|insts| insts.iter().all(|inst| inst.op().product().is_none()))
        });
        targets.extend(same.map(|gfx| On { gfx, like }));
    }
    targets
}

/// Calls a function with the instructions of each head for each target that `targets` gives for an encoding.
pub(crate) fn for_each_head(
    targets: impl Fn(&Head, &Encoded) -> Vec<On>,
    mut of: impl FnMut(On, &Block, &[Inst]),
) {
    for chapter in CHAPTERS {
        for block in &read(chapter).blocks {
            for head in &block.heads {
                for code in &head.code {
                    for on in targets(head, code) {
                        let insts = instructions(on.gfx, head, &code.words);
                        let insts = insts.unwrap_or_else(|e| panic!("{}: {e}", head.text));
                        of(on, block, &insts);
                    }
                }
            }
        }
    }
}

/// One test for each chapter, so that they run at the same time; and the list of all.
macro_rules! chapters {
    ($($name:ident)*) => {
        /// The chapters that have cases.
        const CHAPTERS: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check(stringify!($name)); })*
    };
}

chapters! { sop1 sop2 sopc sopk sopp vop1 vop2 vop3 vop3p vopc mfma gfx942 gfx942_matrix sdwa dpp ds flat mubuf mtbuf mimg smem graphics sdwa_rows dpp_rows vop3_rows sequences }

#[test]
fn every_case_file_is_run() {
    let mut files: Vec<String> = std::fs::read_dir(directory())
        .expect("the cases are there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "case"))
        .map(|path| {
            path.file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    files.sort();
    let mut chapters = CHAPTERS.to_vec();
    chapters.sort_unstable();
    assert_eq!(files, chapters);
}

/// An engine and what it is called in messages.
struct Named {
    name: &'static str,
    engine: Box<dyn Engine + Send>,
}

/// The interpreter, then the translator in every shape; the first [`ON_EVERY_TARGET`] run for every
/// target of a head, the rest for its last.
fn engines() -> Vec<Named> {
    let base = JitOptions {
        observe: true,
        ..JitOptions::exact()
    };
    // Cranelift, as on hosts without AVX2.
    let cranelift = JitOptions {
        emitter: Emitter::Cranelift,
        ..base
    };
    let host = |host| JitOptions { host, ..cranelift };
    let shapes = [
        ("jit", base),
        ("jit, cranelift", cranelift),
        ("jit, avx2", host(HostLevel::Avx2)),
        ("jit, sse4.1", host(HostLevel::Sse41)),
        ("jit, groups of 4", cranelift.in_groups_of(4)),
        ("jit, groups of 8", base.in_groups_of(8)),
        ("jit, groups of 16", base.in_groups_of(16)),
        ("jit, always masked", base.without(Forms::UNMASKED)),
    ];
    let interpreter = Named {
        name: "interp",
        engine: Box::new(Interpreter),
    };
    let jits = shapes.into_iter().map(|(name, options)| Named {
        name,
        engine: Box::new(JitEngine::new(options).expect("the translator runs on this host")),
    });
    std::iter::once(interpreter).chain(jits).collect()
}

/// See [`engines`].
const ON_EVERY_TARGET: usize = 2;

/// Failures that are printed in full.
const SHOWN: usize = 40;

/// Counts and prints what went wrong in a file.
#[derive(Default)]
struct Failures {
    text: String,
    count: usize,
    /// Lines and engines that have been printed for some target.
    seen: BTreeSet<(usize, &'static str)>,
}

impl Failures {
    fn add(&mut self, what: &str) {
        self.count += 1;
        if self.count <= SHOWN {
            self.text.push_str(what);
            self.text.push('\n');
        }
    }
}

fn check(chapter: &str) {
    let file = read(chapter);
    let engines = engines();
    let mut world = World::new();
    let mut failures = Failures::default();
    for block in &file.blocks {
        for head in &block.heads {
            for code in &head.code {
                for on in targets(head, code) {
                    let gfx = on.gfx;
                    let at = format!("{}:{}: {gfx} {}", file.name, head.line, head.text);
                    match instructions(gfx, head, &code.words) {
                        Ok(insts) => {
                            let at = At {
                                text: &head.text,
                                file: &file.name,
                            };
                            let named = head.code.iter().flat_map(|code| &code.targets);
                            let used = if named.max() == Some(&gfx) {
                                &engines[..]
                            } else {
                                &engines[..ON_EVERY_TARGET]
                            };
                            run_head(
                                &mut world,
                                used,
                                &at,
                                block,
                                on,
                                &code.words,
                                &insts,
                                &mut failures,
                            );
                        }
                        Err(why) => failures.add(&format!("{at}\n    {why}")),
                    }
                }
            }
        }
    }
    assert!(
        failures.count == 0,
        "{} failures, first {}:\n{}",
        failures.count,
        failures.count.min(SHOWN),
        failures.text
    );
}

/// Where a failure is.
struct At<'a> {
    text: &'a str,
    file: &'a str,
}

/// Says where it was when an engine panics.
struct Running<'a>(&'a str, usize, Gfx, &'a str, &'a str);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Running(file, line, gfx, text, engine) = self;
            eprintln!("{file}:{line}: {gfx} {text} [{engine}] panicked");
        }
    }
}

/// Runs the lines of a block for one target and one encoding.
#[expect(
    clippy::too_many_arguments,
    reason = "one caller, nothing to name a group by"
)]
fn run_head(
    world: &mut World,
    engines: &[Named],
    at: &At<'_>,
    block: &Block,
    on: On,
    words: &[u32],
    insts: &[Inst],
    failures: &mut Failures,
) {
    let gfx = on.gfx;
    let code = world.load(gfx, words);
    let handed = insts.iter().filter(|inst| may_fall_back(gfx, inst));
    let handed: Vec<&'static str> = handed.map(|inst| inst.desc.name).collect();
    let lines = block.lines.iter().filter(|line| on.holds(line));
    for batch in batches(lines) {
        let memory = uses_memory(insts, &batch);
        let masks = masks(insts, &batch);
        let mut failed: Vec<(&'static str, &str, Vec<Wrong>)> = Vec::new();
        for (turn, &(mask, exec)) in masks.iter().enumerate() {
            let run = Run {
                lines: &batch,
                exec,
                turn,
                memory,
            };
            let engine_run = EngineRun {
                prepared: world.prepare(&code, &run),
                bytes: words.len() as i64 * 4,
                handed: &handed,
            };
            for named in engines {
                // One mask shows it.
                if failed.iter().any(|&(name, ..)| name == named.name) {
                    continue;
                }
                let at = Running(at.file, batch[0].line, gfx, at.text, named.name);
                let wrong = world.run(&*named.engine, &code, &run, &engine_run);
                drop(at);
                if !wrong.is_empty() {
                    failed.push((named.name, mask, wrong));
                }
            }
        }
        let names: Vec<&str> = failed.iter().map(|&(name, ..)| name).collect();
        if let Some((name, mask, wrong)) = failed.first() {
            for wrong in wrong {
                let line = wrong.line.unwrap_or(batch[0].line);
                if !failures.seen.insert((line, *name)) {
                    continue;
                }
                let (file, text, what) = (at.file, at.text, &wrong.what);
                failures.add(&format!(
                    "{file}:{line}: {gfx} {text} [{name}, exec {mask}; of {names:?}]\n    {what}"
                ));
            }
        }
    }
    world.unload(code);
}

/// Does the exit agree with what the line says? The program counter is compared by the caller.
fn exit_matches(exit: &Exit, outcome: &Outcome) -> Result<(), String> {
    match (exit, outcome) {
        (Exit::Barrier, Outcome::Barrier(_)) | (Exit::End, Outcome::End) => Ok(()),
        (Exit::Fault(fault), Outcome::Fault { name, message }) => {
            let text = fault.kind.to_string();
            if fault.kind.name() == name && text.contains(message) {
                Ok(())
            } else {
                Err(format!("fault {} ({text})", fault.kind.name()))
            }
        }
        (Exit::Fault(fault), _) => Err(format!("fault: {}", fault.kind)),
        (other, _) => Err(format!("exit {other:?}")),
    }
}

/// The code of a head with barriers around it.
fn surrounded(words: &[u32]) -> Vec<u8> {
    let barriers = [state::BARRIER; state::AROUND];
    barriers
        .iter()
        .chain(words)
        .chain(&barriers)
        .flat_map(|word| word.to_le_bytes())
        .collect()
}

impl World {
    fn load(&self, gfx: Gfx, words: &[u32]) -> LoadedCode {
        LoadedCode::from_bytes(&self.memory, gfx, &surrounded(words)).expect("a few words fit")
    }

    fn unload(&self, code: LoadedCode) {
        code.unload(&self.memory).expect("it was loaded here");
    }
}
