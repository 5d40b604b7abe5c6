//! The control-flow graph of a listing: basic blocks, the edges between them, calls.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use frontend::flow::Addresses;
use frontend::op::BranchIf;
use frontend::{Inst, Op};
use runtime::foreign::Foreign;

use super::{Item, Line, Listing};

/// Why control continues at an edge's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// A branch that is taken, conditional or not.
    Taken,
    /// A conditional branch that is not taken.
    NotTaken,
    /// The next block begins because something else leads there.
    FallThrough,
    /// A jump to an address in registers, such as a return.
    Indirect,
}

impl EdgeKind {
    /// Its name: `taken`, `not taken`, `fall through` or `indirect`.
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::Taken => "taken",
            EdgeKind::NotTaken => "not taken",
            EdgeKind::FallThrough => "fall through",
            EdgeKind::Indirect => "indirect",
        }
    }
}

/// An edge out of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Why control goes there.
    pub kind: EdgeKind,
    /// Address of the instruction there; `None` if only registers have it.
    pub to: Option<u64>,
}

/// A call in a block, after which the block continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Address of the instruction.
    pub at: u64,
    /// Address of the function; `None` if only registers have it.
    pub to: Option<u64>,
}

/// Instructions that are executed one after the other.
#[derive(Clone, Debug)]
pub struct BasicBlock<'a> {
    /// Name of the function; `None` outside functions.
    pub function: Option<&'a str>,
    /// Its addresses.
    pub range: Range<u64>,
    /// Its instructions.
    pub lines: &'a [Line<'a>],
    /// Edges out of it; none at the end of a wave.
    pub edges: Vec<Edge>,
    /// Calls, in order.
    pub calls: Vec<Call>,
}

/// A control-flow graph.
#[derive(Clone, Debug)]
pub struct Graph<'a> {
    listing: &'a Listing<'a>,
    /// Its blocks, by address.
    pub blocks: Vec<BasicBlock<'a>>,
}

/// Where an instruction leads.
enum Flow {
    /// To the next one.
    Next,
    /// To the next one, after a call.
    Call(Option<u64>),
    /// It ends the block.
    End(Vec<Edge>),
}

fn flow(line: &Line<'_>, inst: &Inst, known: &Addresses) -> Flow {
    let next = line.address + line.bytes.len() as u64;
    let edge = |kind, to| Edge { kind, to };
    let taken = edge(EdgeKind::Taken, line.branch_target());
    let not_taken = edge(EdgeKind::NotTaken, Some(next));
    let jump = |to: Option<u64>| match to {
        Some(_) => edge(EdgeKind::Taken, to),
        None => edge(EdgeKind::Indirect, None),
    };
    match inst.op() {
        Op::Endpgm => Flow::End(Vec::new()),
        Op::Branch(BranchIf::Always) => Flow::End(vec![taken]),
        Op::Branch(_) | Op::CbranchIFork => Flow::End(vec![taken, not_taken]),
        Op::CbranchGFork => Flow::End(vec![jump(known.of(inst.src[1])), not_taken]),
        Op::CbranchJoin => Flow::End(vec![jump(None), not_taken]),
        Op::SetPc => Flow::End(vec![jump(known.of(inst.src[0]))]),
        Op::Rfe | Op::RfeRestore => Flow::End(vec![jump(None)]),
        Op::Call => Flow::Call(line.branch_target()),
        Op::SwapPc => Flow::Call(known.of(inst.src[0])),
        _ => Flow::Next,
    }
}

impl<'a> Listing<'a> {
    /// The control-flow graph of its code. Data belongs to no block.
    pub fn graph(&'a self) -> Graph<'a> {
        let functions = self.functions.iter().map(|function| function.address);
        let mut begins: BTreeSet<u64> = functions.chain(self.labels.iter().copied()).collect();
        // Jumps to computed addresses are known only once the code before them has been followed.
        let blocks = self.blocks(&begins);
        let known = begins.len();
        let targets = blocks.iter().flat_map(|block| &block.edges);
        begins.extend(targets.filter_map(|edge| edge.to));
        let blocks = match begins.len() == known {
            true => blocks,
            false => self.blocks(&begins),
        };
        Graph {
            listing: self,
            blocks,
        }
    }

    fn blocks(&'a self, begins: &BTreeSet<u64>) -> Vec<BasicBlock<'a>> {
        let mut blocks = Vec::new();
        for part in &self.parts {
            let mut first = 0;
            while first < part.lines.len() {
                let (block, end) = self.block(&part.lines, first, begins);
                blocks.extend(block);
                first = end;
            }
        }
        blocks
    }

    /// The block that begins with a line, if that is an instruction, and the line after it.
    fn block(
        &'a self,
        lines: &'a [Line<'a>],
        first: usize,
        begins: &BTreeSet<u64>,
    ) -> (Option<BasicBlock<'a>>, usize) {
        let start = lines[first].address;
        let mut known = Addresses::default();
        let mut calls = Vec::new();
        let mut edges = Vec::new();
        let mut end = first;
        let mut address = start;
        while let Some((line, Item::Inst(inst))) = lines.get(end).map(|line| (line, &line.item)) {
            if end > first && begins.contains(&line.address) {
                edges.push(Edge {
                    kind: EdgeKind::FallThrough,
                    to: Some(line.address),
                });
                break;
            }
            end += 1;
            address = line.address + line.bytes.len() as u64;
            match flow(line, inst, &known) {
                Flow::Next => known.follow(inst, address),
                Flow::Call(to) => {
                    calls.push(Call {
                        at: line.address,
                        to,
                    });
                    // The function may write any register.
                    known = Addresses::default();
                }
                Flow::End(out) => {
                    edges = out;
                    break;
                }
            }
        }
        if end == first {
            return (None, first + 1);
        }
        let block = BasicBlock {
            function: self.function_at(start).map(|function| function.name),
            range: start..address,
            lines: &lines[first..end],
            edges,
            calls,
        };
        (Some(block), end)
    }

    /// The function whose code covers an address.
    pub fn function_at(&self, address: u64) -> Option<&super::Function<'a>> {
        let after = self.functions.partition_point(|f| f.address <= address);
        let before = self.functions[..after].iter().rev();
        let mut covers = before.filter(|f| f.size == 0 || address < f.address + f.size);
        covers.next()
    }
}

impl<'a> Graph<'a> {
    /// The graph in the language of Graphviz: `dot -Tsvg` draws it. Blocks are clustered by function;
    /// `name` gives the name that is shown for a function.
    pub fn dot<N: Fn(&str) -> String>(&'a self, name: N) -> Dot<'a, N> {
        Dot {
            graph: self,
            name,
            above: None,
        }
    }

    fn begins(&self, address: u64) -> bool {
        let found = self
            .blocks
            .binary_search_by_key(&address, |block| block.range.start);
        found.is_ok()
    }
}

/// A graph in the language of Graphviz: see [`Graph::dot`].
#[derive(Clone, Copy, Debug)]
pub struct Dot<'a, N> {
    graph: &'a Graph<'a>,
    name: N,
    above: Option<&'a BTreeMap<u64, Vec<String>>>,
}

impl<'a, N> Dot<'a, N> {
    /// With lines of comment above instructions: see [`Text::above`](super::Text::above).
    pub fn above(self, notes: &'a BTreeMap<u64, Vec<String>>) -> Dot<'a, N> {
        Dot {
            above: Some(notes),
            ..self
        }
    }
}

/// Text in a quoted string.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = Foreign(self.0).to_string();
        f.write_str(&text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

impl<N: Fn(&str) -> String> fmt::Display for Dot<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "digraph \"{}\" {{\n\tnode [shape=box, fontname=\"monospace\", fontsize=10];\n\tedge [fontname=\"sans-serif\", \
             fontsize=9];",
            self.graph.listing.object.target
        )?;
        let blocks = &self.graph.blocks;
        let functions = blocks.chunk_by(|a, b| a.function == b.function);
        for (number, blocks) in functions.enumerate() {
            writeln!(f, "\tsubgraph cluster_{number} {{")?;
            let name = blocks[0].function.map(&self.name);
            let name = name.as_deref().unwrap_or("(no function)");
            writeln!(f, "\t\tlabel=\"{}\";", Quoted(name))?;
            for block in blocks {
                self.node(f, block)?;
            }
            writeln!(f, "\t}}")?;
        }
        for block in blocks {
            self.edges(f, block)?;
        }
        writeln!(f, "}}")
    }
}

impl<N: Fn(&str) -> String> Dot<'_, N> {
    fn node(&self, f: &mut fmt::Formatter<'_>, block: &BasicBlock<'_>) -> fmt::Result {
        let start = block.range.start;
        write!(f, "\t\tb{start:x} [label=\"{start:x}:\\l")?;
        for line in block.lines {
            let notes = self.above.and_then(|above| above.get(&line.address));
            for note in notes.into_iter().flatten() {
                write!(f, "// {}\\l", Quoted(note))?;
            }
            write!(f, "    {}\\l", Quoted(&self.graph.listing.line_text(line)))?;
        }
        writeln!(f, "\"];")
    }

    fn edges(&self, f: &mut fmt::Formatter<'_>, block: &BasicBlock<'_>) -> fmt::Result {
        let start = block.range.start;
        for edge in &block.edges {
            let kind = edge.kind.name();
            match edge.to {
                Some(to) if self.graph.begins(to) => {
                    writeln!(f, "\tb{start:x} -> b{to:x} [label=\"{kind}\"];")?;
                }
                Some(to) => writeln!(
                    f,
                    "\tx{to:x} [label=\"{to:x}\", style=dashed];\n\tb{start:x} -> x{to:x} [label=\"{kind}\"];"
                )?,
                None => writeln!(
                    f,
                    "\ti{start:x} [label=\"indirect jump\", shape=plaintext];\n\tb{start:x} -> i{start:x} \
                     [label=\"{kind}\", style=dashed];"
                )?,
            }
        }
        for call in &block.calls {
            match call.to {
                Some(to) if self.graph.begins(to) => {
                    writeln!(f, "\tb{start:x} -> b{to:x} [label=\"call\", style=dotted];")?;
                }
                to => {
                    let (node, label) = match to {
                        Some(to) => (format!("x{to:x}"), format!("{to:x}")),
                        None => (format!("c{:x}", call.at), "indirect call".to_owned()),
                    };
                    writeln!(
                        f,
                        "\t{node} [label=\"{label}\", shape=plaintext];\n\tb{start:x} -> {node} [label=\"call\", style=dotted];"
                    )?;
                }
            }
        }
        Ok(())
    }
}
