//! What a coverage file says about its code objects: kernels and functions with their basic blocks, lines and conditions.

use std::collections::BTreeSet;

use anyhow::Context as _;
use coverage::{CoverageFile, Digest};
use frontend::Op;
use runtime::coverage::Counts;
use runtime::object::CodeObject;
use wavelift::listing::{BasicBlock, Item, Listing};
use wavelift::source::{Location, SourceMap};

use super::condition::{Condition, conditions};
use crate::cli::output::complain;

/// A number of things, and how many of them were executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ratio {
    pub(super) covered: usize,
    pub(super) total: usize,
}

impl Ratio {
    /// One thing more.
    pub(super) fn add(&mut self, covered: bool) {
        self.covered += usize::from(covered);
        self.total += 1;
    }
}

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Index in [`Facts::files`].
    pub(super) file: usize,
    pub(super) line: u32,
}

/// An instruction.
pub(super) struct Instruction {
    pub(super) address: u64,
    pub(super) text: String,
    pub(super) vector: bool,
    pub(super) place: Option<Place>,
    pub(super) counts: Counts,
    pub(super) condition: Option<Condition>,
}

/// A basic block.
pub(super) struct Block {
    pub(super) instructions: Vec<Instruction>,
}

/// Were instructions of one block executed? Where vector instructions are among them, in a lane at least.
pub(super) fn is_covered<'i>(
    mut instructions: impl Iterator<Item = &'i Instruction> + Clone,
) -> bool {
    let mut vector = instructions.clone().filter(|inst| inst.vector).peekable();
    match vector.peek() {
        Some(_) => vector.any(|inst| inst.counts.lanes != 0),
        None => instructions.any(|inst| inst.counts.executions != 0),
    }
}

impl Block {
    /// Was it executed?
    pub(super) fn is_covered(&self) -> bool {
        is_covered(self.instructions.iter())
    }
}

/// A condition, where it is shown.
#[derive(Clone, Copy)]
pub(super) struct Shown<'f> {
    pub(super) instruction: &'f Instruction,
    pub(super) condition: Condition,
    pub(super) place: Option<Place>,
    /// Was it evaluated?
    pub(super) reached: bool,
}

impl Shown<'_> {
    pub(super) fn outcomes(&self) -> [u64; 2] {
        self.condition.outcomes(&self.instruction.counts)
    }
}

/// A kernel or a function.
pub(super) struct Routine {
    /// As the linker knows it.
    pub(super) name: String,
    pub(super) kernel: bool,
    /// Where its code begins.
    pub(super) place: Option<Place>,
    /// By address.
    pub(super) blocks: Vec<Block>,
}

impl Routine {
    /// Waves that began it: how often its first instruction was executed.
    pub(super) fn waves(&self) -> u64 {
        let first = self.blocks.first().map(|block| &block.instructions);
        let first = first.and_then(|instructions| instructions.first());
        first.map_or(0, |inst| inst.counts.executions)
    }

    pub(super) fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.blocks.iter().flat_map(|block| &block.instructions)
    }

    pub(super) fn block_ratio(&self) -> Ratio {
        let mut ratio = Ratio::default();
        self.blocks
            .iter()
            .for_each(|block| ratio.add(block.is_covered()));
        ratio
    }

    pub(super) fn outcome_ratio(&self) -> Ratio {
        let mut ratio = Ratio::default();
        let outcomes = self.conditions().flat_map(|shown| shown.outcomes());
        outcomes.for_each(|count| ratio.add(count != 0));
        ratio
    }

    /// Its conditions, by address. One without a line of its own is shown where the nearest instruction of its block is.
    pub(super) fn conditions(&self) -> impl Iterator<Item = Shown<'_>> {
        self.blocks.iter().flat_map(|block| {
            let all = &block.instructions;
            all.iter().enumerate().filter_map(|(at, instruction)| {
                let condition = instruction.condition?;
                let before = all[..=at].iter().rev().find_map(|inst| inst.place);
                let behind = || all[at..].iter().find_map(|inst| inst.place);
                Some(Shown {
                    instruction,
                    condition,
                    place: before.or_else(behind),
                    reached: instruction.counts.executions != 0,
                })
            })
        })
    }
}

/// A code object.
pub(super) struct Object {
    pub(super) digest: Digest,
    pub(super) target: String,
    /// By address.
    pub(super) routines: Vec<Routine>,
    /// Texts of source files in the code object are taken from here.
    pub(super) map: SourceMap,
}

/// All code objects of a coverage file.
#[derive(Default)]
pub(super) struct Facts {
    /// Source files with code, as debugging information names them.
    pub(super) files: Vec<String>,
    pub(super) objects: Vec<Object>,
}

impl Facts {
    pub(super) fn new(file: &CoverageFile) -> anyhow::Result<Facts> {
        let mut facts = Facts::default();
        for (digest, covered) in &file.objects {
            let object = CodeObject::parse(&covered.elf)
                .context("a code object in the coverage file cannot be read")?;
            facts.add(*digest, &object, covered)?;
        }
        facts.objects.sort_by(|a, b| a.target.cmp(&b.target));
        Ok(facts)
    }

    fn add(
        &mut self,
        digest: Digest,
        object: &CodeObject,
        covered: &coverage::CodeObject,
    ) -> anyhow::Result<()> {
        let map = SourceMap::read(object).unwrap_or_else(|error| {
            complain(format_args!("warning: no source lines: {error}"));
            SourceMap::of_symbols(object)
        });
        let listing = Listing::new(object, None)?;
        let kernels: BTreeSet<u64> = object.kernels.iter().map(|it| it.code.start).collect();
        let mut routines: Vec<(u64, Routine)> = Vec::new();
        for block in listing.graph().blocks {
            let Some(function) = listing.function_at(block.range.start) else {
                continue;
            };
            let block = self.block(&listing, &block, &map, covered);
            // Code that fills up to an alignment.
            if block.instructions.is_empty() {
                continue;
            }
            match routines.last_mut() {
                Some((address, routine)) if *address == function.address => {
                    routine.blocks.push(block);
                }
                _ => routines.push((
                    function.address,
                    Routine {
                        name: function.name.to_owned(),
                        kernel: kernels.contains(&function.address),
                        place: self.beginning(&block, &map),
                        blocks: vec![block],
                    },
                )),
            }
        }
        self.objects.push(Object {
            digest,
            target: object.target.to_string(),
            routines: routines.into_iter().map(|(_, routine)| routine).collect(),
            map,
        });
        Ok(())
    }

    /// A block; without instructions if it does nothing and was not executed.
    fn block(
        &mut self,
        listing: &Listing<'_>,
        block: &BasicBlock<'_>,
        map: &SourceMap,
        covered: &coverage::CodeObject,
    ) -> Block {
        let insts = block.lines.iter().filter_map(|line| match &line.item {
            Item::Inst(inst) => Some((line, inst)),
            Item::Data(_) | Item::Fill { .. } => None,
        });
        let counts = |address: u64| covered.counts.get(&address).copied().unwrap_or_default();
        let idle = insts
            .clone()
            .all(|(line, inst)| inst.op() == Op::Nop && counts(line.address).executions == 0);
        if idle {
            return Block {
                instructions: Vec::new(),
            };
        }
        let conditions = conditions(insts.clone().map(|(_, inst)| inst));
        let instructions = insts.zip(conditions).map(|((line, inst), condition)| {
            let location = map.location(line.address);
            Instruction {
                address: line.address,
                text: inst.text(listing.gfx),
                vector: !inst.desc.encoding.is_scalar(),
                place: location.map(|location| self.place(location)),
                counts: counts(line.address),
                condition,
            }
        });
        Block {
            instructions: instructions.collect(),
        }
    }

    /// Where the code of a kernel or function begins, whatever is inlined there.
    fn beginning(&mut self, block: &Block, map: &SourceMap) -> Option<Place> {
        block.instructions.iter().find_map(|inst| {
            let frame = map.frames(inst.address).pop()?;
            Some(self.place(frame.location?))
        })
    }

    fn place(&mut self, location: Location<'_>) -> Place {
        Place {
            file: self.file(location.file),
            line: location.line,
        }
    }

    /// The index of a source file.
    fn file(&mut self, path: &str) -> usize {
        let known = self.files.iter().position(|known| known == path);
        known.unwrap_or_else(|| {
            self.files.push(path.to_owned());
            self.files.len() - 1
        })
    }

    pub(super) fn routines(&self) -> impl Iterator<Item = (&Object, &Routine)> {
        let objects = self.objects.iter();
        objects.flat_map(|object| object.routines.iter().map(move |routine| (object, routine)))
    }
}
