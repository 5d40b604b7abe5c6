//! The lane IR as text, written and parsed: for `wavelift ir` and the tests of passes.
//!
//! ```text
//! region 0x1000 mode 0xf0 on gfx900
//! site 0 0x1008 dc508000 0200000e ; global_load_dword v2, v0, s[14:15]
//! block 0 at 0x1000 of 3 instructions:
//!     %0: s64 = ReadS(Exec)
//!     %1: v32 = ReadV(0)
//!     %2: v1 = ExecMask %0
//!     ...
//!     exec %0 from %5
//!     count 1 under %0
//!     s4 <- %3
//!     v2 <- %6
//!     jump block 1 at 0x1010
//! ```
//!
//! A value is named by its number, has a type (`s` of the wave, `r` of a row of 16 lanes, `p` with
//! a period of 16 lanes, `v` of lanes; then the width) and an operation in RON notation. `;` begins
//! a comment.

use std::fmt::Write;

use frontend::{Gfx, print};
use ron::extensions::Extensions;

use crate::abi::Site;
use crate::ir::{
    Args, Block, Counted, Func, MatrixCall, Node, Op, SiteId, Slot, Target, Term, Type, Val, Vary,
    Width, verify,
};
use crate::profile::Outcome;

/// Source of the words of a guest instruction: the bytes from an address on.
pub type Code<'a> = dyn Fn(u64) -> Option<&'a [u8]> + 'a;

// ---- writing

/// A region as text. `code` supplies the words of the sites' instructions; without them the text
/// cannot be parsed.
pub fn func(f: &Func, gfx: Gfx, code: &Code<'_>) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "region {:#x} mode {:#x} on {gfx}", f.entry, f.mode);
    for (i, site) in f.sites.iter().enumerate() {
        let _ = write!(out, "site {i} {:#x}", site.pc);
        let len = usize::from(site.inst.len);
        let bytes = code(site.pc).and_then(|bytes| bytes.get(..len));
        for word in bytes.unwrap_or_default().chunks_exact(4) {
            let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            let _ = write!(out, " {word:08x}");
        }
        let _ = writeln!(out, " ; {}", print::text(&site.inst, gfx));
    }
    for name in &f.fallbacks {
        let _ = writeln!(out, "fallback {name}");
    }
    for (i, b) in f.blocks.iter().enumerate() {
        let _ = writeln!(
            out,
            "block {i} at {:#x} of {} instructions:",
            b.pc, b.guest_insts
        );
        out.push_str(&block(b));
    }
    out
}

/// A block as text.
pub fn block(b: &Block) -> String {
    let mut out = String::new();
    for (i, node) in b.nodes.iter().enumerate() {
        let _ = write!(out, "    %{i}: {} = {}", ty(node.ty), op(node.op));
        for arg in node.args.iter() {
            let _ = write!(out, " %{}", arg.0);
        }
        out.push('\n');
    }
    for (effect, exec) in &b.execs {
        let _ = writeln!(out, "    exec %{} from %{}", exec.0, effect.0);
    }
    for (exec, count) in &b.counts {
        let _ = writeln!(out, "    count {count} under %{}", exec.0);
    }
    for &Counted { pc, outcome, bits } in &b.outcomes {
        let _ = writeln!(
            out,
            "    outcome {} at {pc:#x} of %{}",
            outcome.name(),
            bits.0
        );
    }
    for &(s, v) in &b.writes_s {
        let _ = writeln!(out, "    {} <- %{}", slot(s), v.0);
    }
    for &(n, v) in &b.writes_v {
        let _ = writeln!(out, "    v{n} <- %{}", v.0);
    }
    let _ = writeln!(out, "    {}", term(&b.term));
    out
}

fn ty(ty: Type) -> String {
    let vary = match ty.vary {
        Vary::Wave => 's',
        Vary::Row => 'r',
        Vary::Period16 => 'p',
        Vary::Lane => 'v',
    };
    let width = match ty.width {
        Width::W1 => 1,
        Width::W32 => 32,
        Width::W64 => 64,
    };
    format!("{vary}{width}")
}

fn op(op: Op) -> String {
    match op {
        // Constants are printed as bits or addresses, hence in hexadecimal.
        Op::Const(bits) => format!("Const({bits:#x})"),
        Op::CodeAddress(pc) => format!("CodeAddress({pc:#x})"),
        op => notation()
            .to_string(&op)
            .unwrap_or_else(|_| format!("{op:?}")),
    }
}

/// Notation of operations: a site is printed as its number.
fn notation() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::UNWRAP_NEWTYPES)
}

fn slot(slot: Slot) -> String {
    match slot {
        Slot::Sgpr(n) => format!("s{n}"),
        Slot::Exec => "exec".to_owned(),
        Slot::Vcc => "vcc".to_owned(),
        Slot::Scc => "scc".to_owned(),
        Slot::Mode => "mode".to_owned(),
        Slot::Temp(n) => format!("temp{n}"),
    }
}

fn term(term: &Term) -> String {
    match term {
        Term::Jump(to) => format!("jump {}", target(to)),
        Term::Branch { cond, then, other } => {
            let [then, other] = [then, other].map(target);
            format!("branch %{} {then} else {other}", cond.0)
        }
        Term::Indirect(v) => format!("indirect %{}", v.0),
        Term::End => "end".to_owned(),
        Term::Barrier { next } => format!("barrier {}", target(next)),
        Term::Interpret { pc } => format!("interpret {pc:#x}"),
        Term::Fallback { site, next } => format!("fallback site {} {}", site.0, target(next)),
        Term::ScalarMove { site, value, next } => {
            let value = value.map(|v| format!(" %{}", v.0)).unwrap_or_default();
            format!("move site {}{value} {}", site.0, target(next))
        }
        Term::Matrix { site, calls, next } => {
            let calls = calls.iter();
            let calls: String = calls
                .map(|call| notation().to_string(call).unwrap_or_default() + " ")
                .collect();
            format!("matrix site {} {calls}{}", site.0, target(next))
        }
    }
}

fn target(target: &Target) -> String {
    let (what, back, pc) = match *target {
        Target::Block { block, back, pc } => (format!("block {block}"), back, pc),
        Target::Exit { pc, back } => ("exit".to_owned(), back, pc),
    };
    let back = if back { " back" } else { "" };
    format!("{what}{back} at {pc:#x}")
}

// ---- reading

/// A parse error and its line number (from 1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ReadError {
    /// The line.
    pub line: usize,
    /// The error.
    pub message: String,
}

/// The words of one line.
struct Words<'a> {
    line: usize,
    rest: std::str::SplitWhitespace<'a>,
}

type Read<T> = Result<T, ReadError>;

impl<'a> Words<'a> {
    fn error<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(ReadError {
            line: self.line,
            message: message.into(),
        })
    }

    fn next(&mut self) -> Read<&'a str> {
        match self.rest.next() {
            Some(word) => Ok(word),
            None => self.error("the line ends too soon"),
        }
    }

    fn expect(&mut self, word: &str) -> Read<()> {
        match self.next()? {
            found if found == word => Ok(()),
            found => self.error(format!("{word} is expected, not {found}")),
        }
    }

    fn number<T: TryFrom<u64>>(&mut self) -> Read<T> {
        let word = self.next()?;
        self.number_of(word)
    }

    fn number_of<T: TryFrom<u64>>(&self, word: &str) -> Read<T> {
        let number = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        };
        match number.and_then(|n| T::try_from(n).ok()) {
            Some(number) => Ok(number),
            None => self.error(format!("{word} is no number that fits here")),
        }
    }

    fn value(&mut self) -> Read<Val> {
        let word = self.next()?;
        self.value_of(word)
    }

    fn value_of(&self, word: &str) -> Read<Val> {
        match word.strip_prefix('%') {
            Some(number) => Ok(Val(self.number_of(number)?)),
            None => self.error(format!("{word} is no value such as %0")),
        }
    }

    fn end(&mut self) -> Read<()> {
        match self.rest.next() {
            Some(word) => self.error(format!("{word} is too much")),
            None => Ok(()),
        }
    }

    fn target(&mut self) -> Read<Target> {
        let block: Option<usize> = match self.next()? {
            "block" => Some(self.number()?),
            "exit" => None,
            other => return self.error(format!("{other} is no target: block or exit")),
        };
        let mut word = self.next()?;
        let back = word == "back";
        if back {
            word = self.next()?;
        }
        if word != "at" {
            return self.error(format!("at is expected, not {word}"));
        }
        let pc = self.number()?;
        Ok(match block {
            Some(block) => Target::Block { block, back, pc },
            None => Target::Exit { pc, back },
        })
    }

    fn ty(&mut self) -> Read<Type> {
        let word = self.next()?;
        let all = [Vary::Wave, Vary::Row, Vary::Period16, Vary::Lane];
        let widths = [Width::W1, Width::W32, Width::W64];
        let mut types = all.into_iter().flat_map(|vary| {
            let of = move |width| Type { width, vary };
            widths.map(of)
        });
        match types.find(|&found| ty(found) == word) {
            Some(ty) => Ok(ty),
            None => self.error(format!("{word} is no type such as v32")),
        }
    }

    fn term(&mut self, first: &str) -> Read<Term> {
        Ok(match first {
            "jump" => Term::Jump(self.target()?),
            "branch" => {
                let cond = self.value()?;
                let then = self.target()?;
                self.expect("else")?;
                let other = self.target()?;
                Term::Branch { cond, then, other }
            }
            "indirect" => Term::Indirect(self.value()?),
            "end" => Term::End,
            "barrier" => Term::Barrier {
                next: self.target()?,
            },
            "interpret" => Term::Interpret { pc: self.number()? },
            "fallback" => {
                self.expect("site")?;
                Term::Fallback {
                    site: SiteId(self.number()?),
                    next: self.target()?,
                }
            }
            "move" => {
                self.expect("site")?;
                let site = SiteId(self.number()?);
                let mut rest = self.rest.clone();
                let value = match rest.next() {
                    Some(word) if word.starts_with('%') => Some(self.value()?),
                    _ => None,
                };
                let next = self.target()?;
                Term::ScalarMove { site, value, next }
            }
            "matrix" => {
                self.expect("site")?;
                let site = SiteId(self.number()?);
                let mut calls: Vec<MatrixCall> = Vec::new();
                while let Some(word) = self.rest.clone().next().filter(|w| w.starts_with('(')) {
                    self.next()?;
                    match notation().from_str(word) {
                        Ok(call) => calls.push(call),
                        Err(error) => {
                            return self
                                .error(format!("{word} is no matrix instruction: {}", error.code));
                        }
                    }
                }
                let next = self.target()?;
                Term::Matrix { site, calls, next }
            }
            other => return self.error(format!("{other} begins nothing that a block has")),
        })
    }
}

fn slot_of(name: &str) -> Option<Slot> {
    let number = |prefix: &str| name.strip_prefix(prefix)?.parse().ok();
    Some(match name {
        "exec" => Slot::Exec,
        "vcc" => Slot::Vcc,
        "scc" => Slot::Scc,
        "mode" => Slot::Mode,
        _ => match number("temp") {
            Some(n) => Slot::Temp(n),
            None => Slot::Sgpr(number("s")?),
        },
    })
}

/// Is an operation an effect of a block?
fn is_effect(op: Op) -> bool {
    matches!(
        op,
        Op::Load(..) | Op::Store(..) | Op::Atomic(..) | Op::ScalarLoad(..) | Op::Effect { .. }
    )
}

/// Parses a region and its target. The result satisfies the lane IR's rules.
pub fn read(text: &str) -> Result<(Func, Gfx), ReadError> {
    let mut head: Option<(Func, Gfx)> = None;
    let mut last = 0;
    for (n, line) in text.lines().enumerate() {
        let code = line.split(';').next().unwrap_or_default();
        let mut words = Words {
            line: n + 1,
            rest: code.split_whitespace(),
        };
        last = n + 1;
        let Some(first) = words.rest.next() else {
            continue;
        };
        match &mut head {
            None => head = Some(read_head(first, &mut words)?),
            Some((f, gfx)) => read_line(f, *gfx, first, &mut words)?,
        }
        words.end()?;
    }
    let error = |message: String| ReadError {
        line: last,
        message,
    };
    let (f, gfx) = head.ok_or_else(|| error("there is no region".to_owned()))?;
    verify::func(&f).map_err(|broken| error(broken.to_string()))?;
    Ok((f, gfx))
}

fn read_head(first: &str, words: &mut Words<'_>) -> Read<(Func, Gfx)> {
    if first != "region" {
        return words.error("a text begins with region");
    }
    let entry = words.number()?;
    words.expect("mode")?;
    let mode = words.number()?;
    words.expect("on")?;
    let name = words.next()?;
    let Some(gfx) = Gfx::ALL.iter().find(|gfx| gfx.to_string() == name) else {
        return words.error(format!("{name} is no target"));
    };
    let f = Func {
        entry,
        mode,
        blocks: Vec::new(),
        sites: Vec::new(),
        fallbacks: Vec::new(),
    };
    Ok((f, *gfx))
}

/// Parses a line after the first.
fn read_line(f: &mut Func, gfx: Gfx, first: &str, words: &mut Words<'_>) -> Read<()> {
    match (first, f.blocks.last_mut()) {
        ("site", None) => read_site(f, gfx, words),
        ("fallback", None) => {
            let name = words.next()?;
            let mut names = f.sites.iter().map(|site| site.inst.desc.name);
            match names.find(|found| *found == name) {
                Some(name) => f.fallbacks.push(name),
                None => return words.error(format!("no site has {name}")),
            }
            Ok(())
        }
        ("block", _) => {
            if words.number::<usize>()? != f.blocks.len() {
                return words.error("blocks are numbered in their order");
            }
            words.expect("at")?;
            let pc = words.number()?;
            words.expect("of")?;
            let guest_insts = words.number()?;
            words.expect("instructions:")?;
            f.blocks.push(Block {
                pc,
                nodes: Vec::new(),
                effects: Vec::new(),
                execs: Vec::new(),
                writes_s: Vec::new(),
                writes_v: Vec::new(),
                // Placeholder until the terminator's line.
                term: Term::End,
                guest_insts,
                counts: Vec::new(),
                outcomes: Vec::new(),
            });
            Ok(())
        }
        (_, None) => words.error(format!("{first} is not expected before the first block")),
        (_, Some(block)) => read_in_block(block, first, words),
    }
}

fn read_site(f: &mut Func, gfx: Gfx, words: &mut Words<'_>) -> Read<()> {
    if words.number::<usize>()? != f.sites.len() {
        return words.error("sites are numbered in their order");
    }
    let pc = words.number()?;
    let mut bytes = Vec::new();
    for word in words.rest.by_ref() {
        let Ok(word) = u32::from_str_radix(word, 16) else {
            return Err(ReadError {
                line: words.line,
                message: format!("{word} is no instruction word"),
            });
        };
        bytes.extend(word.to_le_bytes());
    }
    match frontend::decode(gfx, &bytes) {
        Ok(inst) => f.sites.push(Site { pc, inst }),
        Err(error) => return words.error(error.to_string()),
    }
    Ok(())
}

fn read_in_block(b: &mut Block, first: &str, words: &mut Words<'_>) -> Read<()> {
    if let Some(name) = first.strip_suffix(':') {
        return read_node(b, name, words);
    }
    if words.rest.clone().next() == Some("<-") {
        words.expect("<-")?;
        let v = words.value()?;
        let vgpr = first.strip_prefix('v').and_then(|n| n.parse().ok());
        match (vgpr, slot_of(first)) {
            (Some(n), _) => b.writes_v.push((n, v)),
            (None, Some(slot)) => b.writes_s.push((slot, v)),
            (None, None) => return words.error(format!("{first} is no register")),
        }
        return Ok(());
    }
    match first {
        "exec" => {
            let exec = words.value()?;
            words.expect("from")?;
            b.execs.push((words.value()?, exec));
        }
        "count" => {
            let count = words.number()?;
            words.expect("under")?;
            b.counts.push((words.value()?, count));
        }
        "outcome" => {
            let name = words.next()?;
            let Some(outcome) = Outcome::ALL.into_iter().find(|it| it.name() == name) else {
                return words.error(format!("{name} is no outcome"));
            };
            words.expect("at")?;
            let pc = words.number()?;
            words.expect("of")?;
            let bits = words.value()?;
            b.outcomes.push(Counted { pc, outcome, bits });
        }
        _ => b.term = words.term(first)?,
    }
    Ok(())
}

fn read_node(b: &mut Block, name: &str, words: &mut Words<'_>) -> Read<()> {
    let v = words.value_of(name)?;
    if v.index() != b.nodes.len() {
        return words.error("values are numbered in their order");
    }
    let ty = words.ty()?;
    words.expect("=")?;
    let text = words.next()?;
    let op: Op = match notation().from_str(text) {
        Ok(op) => op,
        Err(error) => return words.error(format!("{text} is no operation: {}", error.code)),
    };
    let mut args = Vec::new();
    for word in words.rest.clone() {
        args.push(words.value_of(word)?);
        words.next()?;
    }
    if args.len() > Args::MAX {
        return words.error(format!("an operation has {} arguments at most", Args::MAX));
    }
    if is_effect(op) {
        b.effects.push(v);
    }
    b.nodes.push(Node {
        op,
        args: Args::new(&args),
        ty,
    });
    Ok(())
}
