//! A kit: the runs of all cases that hardware can run, their states as differences from a pattern, and
//! the kernel.

use std::collections::BTreeMap;
use std::path::Path;

use frontend::registers::{Span, Uses, VGPR};
use frontend::{Gfx, Inst, LANES};
use harness::case::assign::{Bits, Lanes, Place, Symbol, Value};
use harness::case::batch::{self, MASKS, batches, masks, uses_memory};
use harness::case::state::{Addresses, Image, Run, Setting};
use harness::case::{CaseFile, Head, Line, Outcome};

use crate::kernel::{AROUND, CaseCode, Needs, Writer};
use crate::layout::{Layout, VECTORS, word};
use crate::select::{Reason, addresses, left_out};

/// Why there is no kit.
#[derive(Debug, thiserror::Error)]
pub enum KitError {
    /// A case file cannot be read.
    #[error("{path}: {error}")]
    Read {
        /// The file or folder.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// A case file is wrong.
    #[error(transparent)]
    Case(#[from] harness::case::CaseError),
    /// A head's words do not mean its text.
    #[error("{file}:{line}: {gfx}: {why}")]
    Words {
        /// The file.
        file: String,
        /// Line of the head.
        line: usize,
        /// The target.
        gfx: Gfx,
        /// What is wrong.
        why: String,
    },
    /// The kernel cannot be written.
    #[error(transparent)]
    Kernel(#[from] fuzz::Error),
    /// No mask of this name.
    #[error("there is no mask `{0}`; masks are {names}", names = names())]
    Mask(String),
}

fn names() -> String {
    MASKS.map(|(name, _)| name).join(", ")
}

/// A dword of the image that depends on an address: dword `half` of the 64-bit sum of `number` and
/// what the symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where in the image.
    pub at: u32,
    /// 0 or 1.
    pub half: u32,
    /// What is added.
    pub symbol: Symbol,
    /// To what.
    pub number: u64,
}

/// One run of the kernel.
#[derive(Clone, Debug)]
pub struct KitRun {
    /// File and line of the first case line.
    pub name: String,
    /// The instruction's text.
    pub text: String,
    /// Name of the mask.
    pub mask: &'static str,
    file: usize,
    block: usize,
    lines: Vec<usize>,
    exec: u64,
    turn: usize,
    memory: bool,
    /// The code.
    pub case: CaseCode,
    /// Words of the image that are not the pattern's.
    pub edits: Vec<(u32, u32)>,
    /// Words that depend on addresses.
    pub relocations: Vec<Relocation>,
    /// What the word for landing must be.
    pub landing: u32,
}

/// Where a recording was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// What the cases' symbols stand for.
    pub addresses: Addresses,
    /// The kernel's first instruction.
    pub code: u64,
}

/// What is left out.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// File and line.
    pub name: String,
    /// The instruction's text.
    pub text: String,
    /// Why.
    pub reason: Reason,
}

/// A kit for one target.
pub struct Kit {
    /// The target.
    pub gfx: Gfx,
    /// The kernel's code.
    pub code: Vec<u8>,
    /// Where the code is that tells addresses.
    pub probe: CaseCode,
    /// Words of the image for it.
    pub probe_edits: Vec<(u32, u32)>,
    /// Places in the image.
    pub layout: Layout,
    /// The image without a case.
    pub pattern: Vec<u32>,
    /// The runs.
    pub runs: Vec<KitRun>,
    /// Lines of heads that are not run.
    pub left_out: Vec<LeftOut>,
    /// Lines of heads that are run.
    pub lines: usize,
    /// Heads of which some line is run.
    pub cases: usize,
    files: Vec<CaseFile>,
}

/// Reads all case files of a folder, by name.
pub fn read_cases(folder: &Path) -> Result<Vec<CaseFile>, KitError> {
    let error = |path: &Path, error| KitError::Read {
        path: path.display().to_string(),
        error,
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| error(folder, e))? {
        let path = entry.map_err(|e| error(folder, e))?.path();
        if path.extension().is_some_and(|e| e == "case") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|e| error(&path, e))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        files.push(CaseFile::parse(&name, &text)?);
    }
    Ok(files)
}

/// Makes a kit.
struct Maker {
    kit: Kit,
    writer: Writer,
    setting: Setting,
    wanted: Vec<&'static str>,
    every: usize,
    count: usize,
}

/// What goes into a kit.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Names of EXEC masks.
    pub masks: Vec<String>,
    /// Of the heads that a target has, one of so many.
    pub every: usize,
}

impl Default for Choice {
    fn default() -> Choice {
        Choice {
            masks: ["full", "odd", "half"].map(str::to_owned).to_vec(),
            every: 1,
        }
    }
}

impl Kit {
    /// A kit of these cases.
    pub fn new(files: Vec<CaseFile>, gfx: Gfx, choice: &Choice) -> Result<Kit, KitError> {
        // Lines with an EXEC of their own have it in any case.
        let mut wanted = vec!["given"];
        for name in &choice.masks {
            let found = MASKS.iter().find(|(mask, _)| mask == name);
            let (mask, _) = found.ok_or_else(|| KitError::Mask(name.clone()))?;
            wanted.push(mask);
        }
        let layout = Layout::new(gfx);
        let setting = Setting::new(Addresses::default());
        let mut writer = Writer::new(gfx)?;
        let probe = writer.probe();
        let mut probe_edits = writer.way(Needs::new(false, false), probe).to_vec();
        probe_edits.extend([(word::EXEC, u32::MAX), (word::EXEC + 1, u32::MAX)]);
        let pattern = layout.words(setting.pattern(), setting.pattern());
        let mut maker = Maker {
            kit: Kit {
                gfx,
                code: Vec::new(),
                probe,
                probe_edits: in_32_bits(probe_edits),
                layout,
                pattern,
                runs: Vec::new(),
                left_out: Vec::new(),
                lines: 0,
                cases: 0,
                files: Vec::new(),
            },
            writer,
            setting,
            wanted,
            every: choice.every.max(1),
            count: 0,
        };
        for (n, file) in files.iter().enumerate() {
            maker.file(n, file)?;
        }
        let Maker {
            mut kit, writer, ..
        } = maker;
        kit.code = writer.finish();
        kit.files = files;
        Ok(kit)
    }

    /// Lines left out by reason.
    pub fn reasons(&self) -> BTreeMap<Reason, usize> {
        let mut counts = BTreeMap::new();
        for left in &self.left_out {
            *counts.entry(left.reason).or_default() += 1;
        }
        counts
    }

    /// The lines of a run, and the run itself.
    pub fn with_run<T>(&self, run: &KitRun, f: impl FnOnce(&Run<'_>) -> T) -> T {
        let block = &self.files[run.file].blocks[run.block];
        let lines: Vec<&Line> = run.lines.iter().map(|&n| &block.lines[n]).collect();
        f(&Run {
            lines: &lines,
            exec: run.exec,
            turn: run.turn,
            memory: run.memory,
        })
    }

    /// The image of a run, with addresses.
    pub fn image(&self, run: &KitRun, places: &Places) -> Vec<u32> {
        let mut words = self.pattern.clone();
        for &(at, value) in &run.edits {
            words[at as usize] = value;
        }
        for relocation in &run.relocations {
            let sum = relocation
                .number
                .wrapping_add(places.value(relocation.symbol));
            words[relocation.at as usize] = (sum >> (32 * relocation.half)) as u32;
        }
        words
    }

    /// The image of the run that tells addresses.
    pub fn probe_image(&self) -> Vec<u32> {
        let mut words = self.pattern.clone();
        for &(at, value) in &self.probe_edits {
            words[at as usize] = value;
        }
        words
    }
}

impl Places {
    /// What a symbol stands for; the code is the kernel's.
    pub fn value(&self, symbol: Symbol) -> u64 {
        let a = &self.addresses;
        match symbol {
            Symbol::Mem | Symbol::Mem0 => a.windows,
            Symbol::Buffer => a.buffer,
            Symbol::Mem0Image => a.windows / 256,
            Symbol::BufferImage => a.buffer / 256,
            Symbol::Code => self.code,
            Symbol::Shared => a.shared,
            Symbol::Private => a.private,
            Symbol::Scratch => a.scratch,
            Symbol::Window | Symbol::Lane => 0,
        }
    }
}

fn in_32_bits(edits: Vec<(usize, u32)>) -> Vec<(u32, u32)> {
    let edits = edits.into_iter();
    edits.map(|(at, value)| (at as u32, value)).collect()
}

impl Maker {
    fn file(&mut self, n: usize, file: &CaseFile) -> Result<(), KitError> {
        for (b, block) in file.blocks.iter().enumerate() {
            for head in &block.heads {
                let gfx = self.kit.gfx;
                let code = head.code.iter().filter(|code| code.targets.contains(&gfx));
                for code in code {
                    self.count += 1;
                    if self.count.is_multiple_of(self.every) {
                        self.head(file, (n, b), head, &code.words)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn head(
        &mut self,
        file: &CaseFile,
        place: (usize, usize),
        head: &Head,
        words: &[u32],
    ) -> Result<(), KitError> {
        let gfx = self.kit.gfx;
        let insts = batch::instructions(gfx, head, words).map_err(|why| KitError::Words {
            file: file.name.clone(),
            line: head.line,
            gfx,
            why,
        })?;
        let block = &file.blocks[place.1];
        let lines = block.lines.iter();
        let lines = lines.filter(|line| line.only.as_ref().is_none_or(|only| only.contains(&gfx)));
        let mut chosen = Vec::new();
        for line in lines {
            match left_out(gfx, &insts, line) {
                None => chosen.push(line),
                Some(reason) => self.kit.left_out.push(LeftOut {
                    name: format!("{}:{}", file.name, line.line),
                    text: head.text.clone(),
                    reason,
                }),
            }
        }
        if chosen.is_empty() {
            return Ok(());
        }
        self.kit.lines += chosen.len();
        self.kit.cases += 1;
        let case = self.writer.case(words, &insts);
        let used = used(&insts, gfx);
        for batch in batches(chosen.into_iter()) {
            let memory = uses_memory(&insts, &batch);
            for (turn, &(mask, exec)) in masks(&insts, &batch).iter().enumerate() {
                if !self.wanted.contains(&mask) {
                    continue;
                }
                let run = Run {
                    lines: &batch,
                    exec,
                    turn,
                    memory,
                };
                let indices = batch.iter().map(|line| {
                    let same = |other: &Line| other.line == line.line;
                    block
                        .lines
                        .iter()
                        .position(same)
                        .expect("it is of the block")
                });
                let kit_run = KitRun {
                    name: format!("{}:{}", file.name, batch[0].line),
                    text: head.text.clone(),
                    mask,
                    file: place.0,
                    block: place.1,
                    lines: indices.collect(),
                    exec,
                    turn,
                    memory,
                    case,
                    edits: Vec::new(),
                    relocations: Vec::new(),
                    landing: landing(case, words.len(), &batch[0].outcome),
                };
                let kit_run = self.state(kit_run, &run, used);
                self.kit.runs.push(kit_run);
            }
        }
        Ok(())
    }

    /// Adds the state before to a run.
    fn state(&self, mut kit_run: KitRun, run: &Run<'_>, used: usize) -> KitRun {
        let Kit {
            gfx,
            layout,
            pattern,
            ..
        } = &self.kit;
        let pc = u64::from(kit_run.case.at);
        let before = self.setting.prepare(*gfx, pc, run).before;
        let mut words = layout.words(&before, self.setting.pattern());
        let needs = Needs::new(!Needs::few(used.max(named(run))), run.memory);
        for (at, value) in self.writer.way(needs, kit_run.case) {
            words[at] = value;
        }
        let pairs = words.iter().zip(pattern).enumerate();
        let changed = pairs.filter(|(_, (word, pattern))| word != pattern);
        kit_run.edits = changed.map(|(at, (&word, _))| (at as u32, word)).collect();
        kit_run.relocations = relocations(layout, run, pc);
        kit_run
    }
}

/// Vector registers up to the highest that the lines name.
fn named(run: &Run<'_>) -> usize {
    let assigns = run.lines.iter();
    let assigns = assigns.flat_map(|line| line.input.iter().chain(&line.output));
    let highest = assigns.map(|assign| match assign.place {
        // Accumulation registers count from 256 on.
        Place::Vgpr(first, count, _) => usize::from(first + count - 1) % VECTORS + 1,
        _ => 0,
    });
    highest.max().unwrap_or(0)
}

/// Vector registers up to the highest that the instructions use.
fn used(insts: &[Inst], gfx: Gfx) -> usize {
    let uses = insts.iter().map(|inst| Uses::of(inst, gfx));
    let spans = uses.flat_map(|uses| uses.reads.into_iter().chain(uses.writes));
    let registers = spans.flat_map(Span::each).filter(|&n| n >= VGPR);
    let highest = registers.map(|n| usize::from(n - VGPR) % VECTORS + 1);
    highest.max().unwrap_or(0)
}

/// The number of the word at which the instructions arrive.
fn landing(case: CaseCode, words: usize, outcome: &Outcome) -> u32 {
    if !case.jumps {
        return 0;
    }
    let length = words as i64;
    let at = match outcome {
        Outcome::Barrier(Some(bytes)) => bytes / 4,
        _ => length,
    };
    let around = AROUND as i64;
    let number = if at < 0 {
        around + at
    } else {
        around + at - length
    };
    number as u32 + 1
}

/// Which dwords of the state before depend on addresses. Walks the lines in the order in which they
/// are put into the state: what is put later wins.
fn relocations(layout: &Layout, run: &Run<'_>, pc: u64) -> Vec<Relocation> {
    let mut found: BTreeMap<u32, Option<Relocation>> = BTreeMap::new();
    // The numbers of symbols that are no addresses.
    let numbers = Addresses::default();
    for lane in (0..LANES).rev() {
        for assign in &run.of_lane(lane).input {
            let places: Vec<usize> = match assign.place {
                Place::Vgpr(_, _, Lanes::One(only)) if usize::from(only) != lane => continue,
                Place::Vgpr(first, count, _) => (first..first + count)
                    .filter_map(|n| layout.register(n.into()).map(|at| at + lane))
                    .collect(),
                Place::Sgpr(first, count) => (first..first + count).filter_map(scalar).collect(),
                _ => continue,
            };
            let of_lane = match assign.place {
                Place::Sgpr(..) => 0,
                _ => lane,
            };
            for (n, at) in places.into_iter().enumerate() {
                let relocation = match &assign.value {
                    Value::Bits(bits) if n < 2 => relocation(bits, of_lane, pc, &numbers),
                    _ => None,
                };
                let at = at as u32;
                let relocation = relocation.map(|(symbol, number)| Relocation {
                    at,
                    half: n as u32,
                    symbol,
                    number,
                });
                found.insert(at, relocation);
            }
        }
    }
    found.into_values().flatten().collect()
}

/// The address that a value has, and what is added to it.
fn relocation(bits: &Bits, lane: usize, pc: u64, numbers: &Addresses) -> Option<(Symbol, u64)> {
    let symbol = addresses(bits).next()?;
    // With all addresses 0 a window's is its distance from the first, and the code's is its distance
    // from the kernel.
    Some((symbol, numbers.value(bits, lane, pc)))
}

/// Where a scalar register is.
fn scalar(n: u8) -> Option<usize> {
    match n {
        106 | 107 => Some(word::VCC + usize::from(n - 106)),
        124 => Some(word::M0),
        126 | 127 => Some(word::EXEC + usize::from(n - 126)),
        _ if usize::from(n) < crate::layout::SGPRS => Some(n.into()),
        _ => None,
    }
}

/// Is a state as the lines of a run say, apart from addresses? For the comparison.
pub(crate) fn prepared(
    kit: &Kit,
    setting: &Setting,
    run: &KitRun,
    code: u64,
) -> harness::case::state::Prepared {
    let pc = code.wrapping_add(run.case.at.into());
    kit.with_run(run, |lines| setting.prepare(kit.gfx, pc, lines))
}

/// The state after: an image's words over the state before.
pub(crate) fn after(kit: &Kit, before: &Image, words: &[u32]) -> Image {
    let mut state = before.clone();
    kit.layout.put(words, &mut state);
    state
}
