//! The vector IR as text, written and parsed: for tests and inspection.
//!
//! ```text
//! slots 64 48
//! block0(v0: i64):
//!     v1: i64 = iconst 5
//!     v2: i32x8 = vconst splat 0x1
//!     v3: i64 = load.trusted v0+16
//!     store.guest v2, v3-8 @2
//!     v5: i8 = icmp.ult v1, v3
//!     v6: i64 = symbol guest+16
//!     brif v5, block1(v3), block2
//! block1(v7: i64) cold:
//!     ...
//! ```
//!
//! Values and blocks have their numbers in the function, with possible gaps. An instruction is its
//! result with the type, the operation, its sources, its parameters, and its source location after
//! `@`. `;` begins a comment. A parsed function need not satisfy the rules of the vector IR; see
//! [`verify`](super::verify::verify).

use std::fmt::Write;

use super::func::{Block, BlockData, Def, Edge, Func, Inst, InstData, Value, ValueData};
use super::op::ops;
use super::op::{Callee, FloatCC, IntCC, Memory, Op, Part, StackSlot, Symbol};
use super::types::{self, Type};

// ---- writing

/// A function as text.
pub fn print(f: &Func) -> String {
    let mut out = String::new();
    if !f.stack_slots().is_empty() {
        out.push_str("slots");
        for bytes in f.stack_slots() {
            let _ = write!(out, " {bytes}");
        }
        out.push('\n');
    }
    for &block in f.layout() {
        let _ = writeln!(out, "{}", header(f, block));
        for &inst in f.insts(block) {
            let _ = writeln!(out, "    {}", instruction(f, inst));
        }
    }
    out
}

fn header(f: &Func, block: Block) -> String {
    let params = f.params(block).iter();
    let params: Vec<String> = params
        .map(|&v| format!("v{}: {}", v.index(), f.ty(v)))
        .collect();
    let cold = if f.is_cold(block) { " cold" } else { "" };
    format!("block{}{}{cold}:", block.index(), in_brackets(&params))
}

fn in_brackets(items: &[String]) -> String {
    match items {
        [] => String::new(),
        items => format!("({})", items.join(", ")),
    }
}

/// A value's name without aliases.
fn value(f: &Func, v: Value) -> String {
    match v.index() < f.num_values() {
        true => format!("v{}", f.resolve(v).index()),
        false => format!("v{}", v.index()),
    }
}

/// An instruction as text.
pub(super) fn instruction(f: &Func, inst: Inst) -> String {
    let result = match f.result(inst) {
        Some(v) => format!("v{}: {} = ", v.index(), f.ty(v)),
        None => String::new(),
    };
    let loc = match f.loc(inst) {
        0 => String::new(),
        loc => format!(" @{loc}"),
    };
    format!("{result}{}{loc}", operation(f, inst))
}

/// An operation with its sources and parameters.
fn operation(f: &Func, inst: Inst) -> String {
    use Op::*;
    let op = f.op(inst);
    let mut name = op.name().to_owned();
    let sources = f.args(inst).iter();
    let mut items: Vec<String> = sources.map(|&v| value(f, v)).collect();
    match op {
        Iconst(n) => items.push(n.to_string()),
        F32const(bits) => items.push(format!("{bits:#010x}")),
        F64const(bits) => items.push(format!("{bits:#018x}")),
        Vconst(constant) => {
            let ty = f.result(inst).map(|v| f.ty(v));
            items.push(vector(f.bytes(constant), ty));
        }
        SymbolValue(symbol, distance) => {
            name = SYMBOL.to_owned();
            items.push(symbol_name(symbol).to_owned() + &signed(distance));
        }
        StackAddr(slot) => items.push(format!("slot{}", slot.0)),
        Load(memory, part, offset) | Store(memory, part, offset) => {
            let _ = write!(name, ".{}", memory_name(memory));
            if part != Part::Whole {
                let _ = write!(name, ".{}", part_name(part));
            }
            let offset = signed(offset.into());
            match items.last_mut() {
                Some(address) => address.push_str(&offset),
                None => items.push(offset),
            }
        }
        Call(callee) => {
            let _ = write!(name, ".{}", callee_name(callee));
        }
        Icmp(cond) => {
            let _ = write!(name, ".{}", named_in(&IntCC::ALL, cond));
        }
        Fcmp(cond) => {
            let _ = write!(name, ".{}", named_in(&FloatCC::ALL, cond));
        }
        Insertlane(lane) | Extractlane(lane) => items.push(lane.to_string()),
        Shuffle(pattern) => items.push(hex(f.bytes(pattern))),
        Jump(_) | Brif(_) => items.extend(f.edges(inst).iter().map(|&edge| target(f, edge))),
        Return | ops!(general | masks | host_vectors | host_memory) => {}
    }
    if !items.is_empty() {
        let _ = write!(name, " {}", items.join(", "));
    }
    name
}

/// An address offset with its sign; empty for 0.
fn signed(n: i64) -> String {
    match n {
        0 => String::new(),
        n => format!("{n:+}"),
    }
}

fn target(f: &Func, edge: Edge) -> String {
    let args = f.edge_args(edge).iter();
    let args: Vec<String> = args.map(|&v| value(f, v)).collect();
    format!("block{}{}", edge.block.index(), in_brackets(&args))
}

/// Bytes in their order.
fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{digits}")
}

/// The bytes of a constant of a type; if all lanes are equal, one lane as a number.
fn vector(bytes: &[u8], ty: Option<Type>) -> String {
    let Some(ty) = ty.filter(|ty| ty.is_vector() && ty.bytes() as usize == bytes.len()) else {
        return hex(bytes);
    };
    let lane = &bytes[..ty.lane_bits() as usize / 8];
    if bytes.chunks_exact(lane.len()).any(|other| other != lane) {
        return hex(bytes);
    }
    let n = lane.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
    format!("{SPLAT} {n:#x}")
}

/// Prefix of a constant that repeats one lane.
const SPLAT: &str = "splat";

/// The name of [`Op::SymbolValue`] in text.
const SYMBOL: &str = "symbol";

fn symbol_name(symbol: Symbol) -> &'static str {
    match symbol {
        Symbol::Guest => "guest",
        Symbol::Sites => "sites",
    }
}

fn memory_name(memory: Memory) -> &'static str {
    match memory {
        Memory::Guest => "guest",
        Memory::Trusted => "trusted",
        Memory::Fixed => "fixed",
    }
}

fn part_name(part: Part) -> &'static str {
    match part {
        Part::Whole => "whole",
        Part::Byte => "byte",
        Part::SignedByte => "signed_byte",
        Part::Short => "short",
        Part::SignedShort => "signed_short",
    }
}

fn callee_name(callee: Callee) -> &'static str {
    match callee {
        Callee::Lanes => "lanes",
        Callee::Effect => "effect",
    }
}

fn named_in<T: Copy + PartialEq>(all: &[(T, &'static str)], wanted: T) -> &'static str {
    let found = all.iter().find(|(one, _)| *one == wanted);
    found.expect("bug: a condition without a name").1
}

// ---- reading

/// A parse error and its line number (from 1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {expected} is expected, not {found:?}")]
pub struct ParseError {
    /// The line.
    pub line: usize,
    /// What is expected there.
    pub expected: String,
    /// What is there.
    pub found: String,
}

type Parsed<T> = Result<T, ParseError>;

/// Bound on the numbers of values and blocks, which limits the size of their tables.
const NUMBERS: u32 = 1 << 22;

/// Description of a constant's bytes in errors.
const BYTES: &str = "bytes such as 0x0c0d";

/// The rest of a line.
struct Line<'a> {
    number: usize,
    rest: &'a str,
}

impl<'a> Line<'a> {
    fn fail<T>(&self, expected: impl Into<String>) -> Parsed<T> {
        self.refuse(expected, self.rest)
    }

    fn refuse<T>(&self, expected: impl Into<String>, found: &str) -> Parsed<T> {
        Err(ParseError {
            line: self.number,
            expected: expected.into(),
            found: found.to_owned(),
        })
    }

    /// Consumes a text, if it is next.
    fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => self.rest = rest.trim_start(),
            None => return false,
        }
        true
    }

    fn expect(&mut self, text: &str) -> Parsed<()> {
        match self.eat(text) {
            true => Ok(()),
            false => self.fail(text),
        }
    }

    fn end(&self) -> Parsed<()> {
        match self.rest {
            "" => Ok(()),
            _ => self.fail("the end of the line"),
        }
    }

    /// Letters, digits and underscores, possibly none.
    fn word(&mut self) -> &'a str {
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !inside(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    /// The number after a prefix, if that is next.
    fn numbered(&mut self, prefix: &str) -> Option<u32> {
        let before = self.rest;
        let digits = self.word().strip_prefix(prefix);
        let number = digits.filter(|digits| digits.bytes().all(|c| c.is_ascii_digit()));
        let number = number.and_then(|digits| digits.parse().ok());
        let number = number.filter(|&n| n < NUMBERS);
        if number.is_none() {
            self.rest = before;
        }
        number
    }

    /// A number, optionally with a sign, decimal or with `0x` hexadecimal.
    fn integer<T: TryFrom<i128>>(&mut self, what: &str) -> Parsed<T> {
        let before = self.rest;
        let negative = self.eat("-");
        if !negative {
            self.eat("+");
        }
        let word = self.word();
        let number = match word.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16),
            None => word.parse(),
        };
        let number = number.map(|n: i128| if negative { -n } else { n });
        match number.ok().and_then(|n| T::try_from(n).ok()) {
            Some(number) => Ok(number),
            None => self.refuse(what, before),
        }
    }

    /// An optional address offset.
    fn offset<T: TryFrom<i128> + Default>(&mut self) -> Parsed<T> {
        match self.rest.starts_with(['+', '-']) {
            true => self.integer("an offset"),
            false => Ok(T::default()),
        }
    }

    /// Bytes in their order.
    fn bytes(&mut self) -> Parsed<Vec<u8>> {
        let before = self.rest;
        let Some(digits) = self.word().strip_prefix("0x") else {
            return self.refuse(BYTES, before);
        };
        let mut bytes = Vec::new();
        for n in (0..digits.len()).step_by(2) {
            let pair = digits.get(n..n + 2);
            match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
                Some(byte) => bytes.push(byte),
                None => return self.refuse(BYTES, before),
            }
        }
        Ok(bytes)
    }

    fn ty(&mut self) -> Parsed<Type> {
        let before = self.rest;
        match Type::named(self.word()) {
            Some(ty) => Ok(ty),
            None => self.refuse("a type such as i32x8", before),
        }
    }

    /// One of these by its name.
    fn one_of<T: Copy>(&mut self, what: &str, all: &[(T, &'static str)]) -> Parsed<T> {
        let before = self.rest;
        let word = self.word();
        match all.iter().find(|(_, name)| *name == word) {
            Some(&(one, _)) => Ok(one),
            None => self.refuse(what, before),
        }
    }
}

/// A partially parsed function.
#[derive(Default)]
struct Reader {
    f: Func,
    /// By value number: is it defined?
    defined: Vec<bool>,
    /// Values used before their definitions, with the lines.
    ahead: Vec<(Value, usize)>,
    /// By block number: was it begun?
    begun: Vec<bool>,
    here: Option<Block>,
}

/// A function from its text.
pub fn parse(text: &str) -> Result<Func, ParseError> {
    let mut reader = Reader::default();
    for (n, line) in text.lines().enumerate() {
        let code = line.split(';').next().unwrap_or_default();
        let mut line = Line {
            number: n + 1,
            rest: code.trim(),
        };
        if !line.rest.is_empty() {
            reader.line(&mut line)?;
            line.end()?;
        }
    }
    reader.done()
}

impl Reader {
    fn done(self) -> Parsed<Func> {
        let mut ahead = self.ahead.iter();
        match ahead.find(|(v, _)| !self.defined[v.index()]) {
            Some(&(v, line)) => Err(ParseError {
                line,
                expected: "a value that is defined somewhere".to_owned(),
                found: format!("v{}", v.index()),
            }),
            None => Ok(self.f),
        }
    }

    fn line(&mut self, line: &mut Line<'_>) -> Parsed<()> {
        if let Some(n) = line.numbered("block") {
            return self.begin(n, line);
        }
        let Some(here) = self.here else {
            if !self.f.slots.is_empty() || !line.eat("slots") {
                return line.fail("a block such as block0(v0: i64):");
            }
            while !line.rest.is_empty() {
                self.f.slots.push(line.integer("a slot's size")?);
            }
            return Ok(());
        };
        self.inst(here, line)
    }

    // ---- blocks and values

    /// The block of this number, which may have been referenced before.
    fn block(&mut self, n: u32) -> Block {
        let (block, count) = (Block(n), n as usize + 1);
        if self.f.blocks.len() < count {
            self.f.blocks.resize_with(count, BlockData::default);
            self.begun.resize(count, false);
            self.f.block_count = count;
        }
        block
    }

    /// Begins a block.
    fn begin(&mut self, n: u32, line: &mut Line<'_>) -> Parsed<()> {
        let block = self.block(n);
        if std::mem::replace(&mut self.begun[block.index()], true) {
            return line.refuse("a block that was not there before", &format!("block{n}"));
        }
        self.f.layout.push(block);
        self.here = Some(block);
        if line.eat("(") {
            loop {
                let (v, ty) = self.new_value(line)?;
                self.define(v, ty, Def::Param(block));
                self.f.blocks[block.index()].params.push(v);
                if !line.eat(",") {
                    break;
                }
            }
            line.expect(")")?;
        }
        self.f.blocks[block.index()].cold = line.eat("cold");
        line.expect(":")
    }

    /// The value of this number, which may have been referenced before.
    fn value(&mut self, n: u32) -> Value {
        let (v, count) = (Value(n), n as usize + 1);
        if self.f.values.len() < count {
            let none = ValueData {
                ty: types::I8,
                def: Def::Param(Block::NONE),
            };
            self.f.values.resize(count, none);
            self.defined.resize(count, false);
        }
        v
    }

    /// The definition of a value, and its type.
    fn new_value(&mut self, line: &mut Line<'_>) -> Parsed<(Value, Type)> {
        let Some(n) = line.numbered("v") else {
            return line.fail("a value such as v0");
        };
        let v = self.value(n);
        if self.defined[v.index()] {
            return line.refuse("a value that nothing else defines", &format!("v{n}"));
        }
        line.expect(":")?;
        Ok((v, line.ty()?))
    }

    fn define(&mut self, v: Value, ty: Type, def: Def) {
        self.f.values[v.index()] = ValueData { ty, def };
        self.defined[v.index()] = true;
    }

    /// A used value.
    fn used(&mut self, line: &mut Line<'_>) -> Option<Value> {
        let n = line.numbered("v")?;
        let v = self.value(n);
        if !self.defined[v.index()] {
            self.ahead.push((v, line.number));
        }
        Some(v)
    }

    // ---- instructions

    fn inst(&mut self, block: Block, line: &mut Line<'_>) -> Parsed<()> {
        let has_result = line.rest.starts_with('v') && line.rest[1..].starts_with(digit);
        let result = match has_result {
            true => Some(self.new_value(line)?),
            false => None,
        };
        if result.is_some() {
            line.expect("=")?;
        }
        let (op, args) = self.operation(result.map(|(_, ty)| ty), line)?;
        let loc = match line.eat("@") {
            true => line.integer("a number")?,
            false => 0,
        };
        let args = self.f.new_list(&args);
        let inst = self.f.new_inst(InstData {
            op,
            args,
            result: result.map_or(Value::NONE, |(v, _)| v),
            block,
            loc,
        });
        self.f.blocks[block.index()].insts.push(inst);
        if let Some((v, ty)) = result {
            self.define(v, ty, Def::Inst(inst));
        }
        Ok(())
    }

    /// An operation and its sources.
    fn operation(&mut self, ty: Option<Type>, line: &mut Line<'_>) -> Parsed<(Op, Vec<Value>)> {
        let before = line.rest;
        let name = line.word();
        Ok(match name {
            "load" | "store" => return self.access(name == "load", line),
            "call" => {
                let all = [Callee::Lanes, Callee::Effect].map(|one| (one, callee_name(one)));
                line.expect(".")?;
                let callee = line.one_of("a signature", &all)?;
                (Op::Call(callee), self.sources(line)?)
            }
            "icmp" => {
                line.expect(".")?;
                let cond = line.one_of("a comparison of integers", &IntCC::ALL)?;
                (Op::Icmp(cond), self.sources(line)?)
            }
            "fcmp" => {
                line.expect(".")?;
                let cond = line.one_of("a comparison of floats", &FloatCC::ALL)?;
                (Op::Fcmp(cond), self.sources(line)?)
            }
            "return" => (Op::Return, self.sources(line)?),
            _ => match Op::PLAIN.iter().find(|(_, plain)| *plain == name) {
                Some(&(op, _)) => (op, self.sources(line)?),
                None => {
                    let args = self.sources_before(line)?;
                    match self.parameter(name, ty, line)? {
                        Some(op) => (op, args),
                        None => return line.refuse("an operation", before),
                    }
                }
            },
        })
    }

    /// An operation of this name whose parameter follows the sources.
    fn parameter(
        &mut self,
        name: &str,
        ty: Option<Type>,
        line: &mut Line<'_>,
    ) -> Parsed<Option<Op>> {
        let integer = "an integer that fits";
        Ok(Some(match name {
            "iconst" => Op::Iconst(line.integer(integer)?),
            "f32const" => Op::F32const(line.integer(integer)?),
            "f64const" => Op::F64const(line.integer(integer)?),
            "vconst" => {
                let bytes = vector_bytes(ty, line)?;
                Op::Vconst(self.f.constant(&bytes))
            }
            SYMBOL => {
                let all = [Symbol::Guest, Symbol::Sites].map(|one| (one, symbol_name(one)));
                let symbol = line.one_of("a symbol", &all)?;
                Op::SymbolValue(symbol, line.offset()?)
            }
            "stack_addr" => match line.numbered("slot") {
                Some(n) => Op::StackAddr(StackSlot(n)),
                None => return line.fail("a slot such as slot0"),
            },
            "insertlane" => Op::Insertlane(line.integer(integer)?),
            "extractlane" => Op::Extractlane(line.integer(integer)?),
            "shuffle" => {
                let bytes = line.bytes()?;
                Op::Shuffle(self.f.constant(&bytes))
            }
            "jump" => Op::Jump(self.target(line)?),
            "brif" => {
                let edge = self.target(line)?;
                line.expect(",")?;
                self.target(line)?;
                Op::Brif(edge)
            }
            _ => return Ok(None),
        }))
    }

    /// A load, or a store.
    fn access(&mut self, load: bool, line: &mut Line<'_>) -> Parsed<(Op, Vec<Value>)> {
        let all = [Memory::Guest, Memory::Trusted, Memory::Fixed];
        line.expect(".")?;
        let memory = line.one_of("a kind of memory", &all.map(|one| (one, memory_name(one))))?;
        let all = [Part::Byte, Part::SignedByte, Part::Short, Part::SignedShort];
        let part = match line.eat(".") {
            true => line.one_of("a part", &all.map(|one| (one, part_name(one))))?,
            false => Part::Whole,
        };
        let args = self.sources(line)?;
        let offset = line.offset()?;
        let op = match load {
            true => Op::Load(memory, part, offset),
            false => Op::Store(memory, part, offset),
        };
        Ok((op, args))
    }

    /// Sources to the end of the line.
    fn sources(&mut self, line: &mut Line<'_>) -> Parsed<Vec<Value>> {
        let mut sources = Vec::new();
        while let Some(v) = self.used(line) {
            sources.push(v);
            if !line.eat(",") {
                return Ok(sources);
            }
        }
        match sources.is_empty() {
            true => Ok(sources),
            false => line.fail("a value such as v0"),
        }
    }

    /// Sources before a parameter.
    fn sources_before(&mut self, line: &mut Line<'_>) -> Parsed<Vec<Value>> {
        let mut sources = Vec::new();
        while let Some(v) = self.used(line) {
            sources.push(v);
            line.expect(",")?;
        }
        Ok(sources)
    }

    /// A jump target: the index of a new edge.
    fn target(&mut self, line: &mut Line<'_>) -> Parsed<u32> {
        let Some(n) = line.numbered("block") else {
            return line.fail("a block such as block0");
        };
        let block = self.block(n);
        let mut args = Vec::new();
        if line.eat("(") {
            args = self.sources(line)?;
            line.expect(")")?;
        }
        Ok(self.f.new_edge(block, &args))
    }
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// The bytes of a vector constant: all of them, or one lane as a number.
fn vector_bytes(ty: Option<Type>, line: &mut Line<'_>) -> Parsed<Vec<u8>> {
    if !line.eat(SPLAT) {
        return line.bytes();
    }
    let Some(ty) = ty else {
        return line.fail("bytes, as there is no type");
    };
    let before = line.rest;
    let lane: u64 = line.integer("a lane")?;
    let bytes = lane.to_le_bytes();
    let (low, above) = bytes.split_at(ty.lane_bits() as usize / 8);
    match above.iter().all(|&byte| byte == 0) {
        true => Ok(low.repeat(ty.lane_count() as usize)),
        false => line.refuse(format!("a lane of {ty}"), before),
    }
}
