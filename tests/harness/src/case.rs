//! Conformance cases: text that says what one instruction does, worked out from the specification
//! and never from our engines. A file is a list of blocks:
//!
//! ```text
//! # v_alignbit_b32   D = ({S0,S1} >> S2[4:0])[31:0]
//! v_alignbit_b32 v0, v1, v2, v3    gfx600 gfx700 d29c0000 040e0501  gfx803.. d1ce0000 040e0501
//!     v1=00000001 v2=80000000 v3=0000001f -> v0=00000003
//!     gfx900..: v1=00000001 v2=80000000 v3=00000020 -> v0=80000000
//! ```
//!
//! * A head stands at the line's beginning: text as the disassembler prints it, two spaces or more,
//!   then machine words (eight hex digits), each group after the targets that it is for: names,
//!   `gfx600..gfx803` or `gfx803..` (to gfx906). Heads on consecutive lines share what follows.
//!   Several instructions run in turn are joined with ` ; `.
//! * Indented lines are `in -> out`, perhaps restricted to targets by `gfx900..:` in front.
//! * What a line does not mention holds a pattern and must not change; see [`assign`] for places and
//!   values. Behind the instruction the wave meets a barrier; `pc=8` says at which byte, counted
//!   from the instruction, it goes on when that is not the next instruction. `end` and
//!   `fault: NAME [part of the message]` are the other outcomes.

pub mod assign;
pub mod batch;
pub mod state;

use frontend::Gfx;

use assign::Assign;

/// A parsed case file.
#[derive(Debug)]
pub struct CaseFile {
    /// Name for messages.
    pub name: String,
    /// Its blocks.
    pub blocks: Vec<Block>,
}

/// Heads and the lines that hold for all of them.
#[derive(Debug, Default)]
pub struct Block {
    /// Instructions.
    pub heads: Vec<Head>,
    /// What they do.
    pub lines: Vec<Line>,
}

/// The text of an instruction, or several, and its words for some targets.
#[derive(Debug)]
pub struct Head {
    /// Line in the file, from 1.
    pub line: usize,
    /// Text as the disassembler prints it.
    pub text: String,
    /// Words by targets.
    pub code: Vec<Encoded>,
}

/// Machine words for some targets.
#[derive(Debug)]
pub struct Encoded {
    /// The targets.
    pub targets: Vec<Gfx>,
    /// The words.
    pub words: Vec<u32>,
}

/// `in -> out`.
#[derive(Debug)]
pub struct Line {
    /// Line in the file, from 1.
    pub line: usize,
    /// Only for these targets.
    pub only: Option<Vec<Gfx>>,
    /// State before.
    pub input: Vec<Assign>,
    /// State after, where it differs.
    pub output: Vec<Assign>,
    /// How the wave stops.
    pub outcome: Outcome,
}

/// How the wave stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// At a barrier, so many bytes from the instruction's first; `None`: directly behind it.
    Barrier(Option<i64>),
    /// It ends.
    End,
    /// It faults.
    Fault {
        /// Short name of the kind.
        name: String,
        /// What the message contains.
        message: String,
    },
}

/// Why a case file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {kind}")]
pub struct CaseError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub kind: CaseErrorKind,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaseErrorKind {
    /// A head without words.
    #[error("no machine words behind the instruction; write two spaces, targets and words")]
    NoWords,
    /// Words or a target list are not in their place.
    #[error("`{0}` is neither a target nor a machine word of eight hex digits")]
    NotAWord(String),
    /// Words without targets before them.
    #[error("words without a target before them")]
    NoTargets,
    /// A target that wavelift does not know.
    #[error("{0}")]
    Target(#[from] frontend::target::UnknownTarget),
    /// A case line before any head.
    #[error("an indented line before any instruction")]
    NoHead,
    /// A head without cases.
    #[error("no `in -> out` line for `{0}`")]
    NoLines(String),
    /// A line without an arrow.
    #[error("no ` -> ` between what goes in and what comes out")]
    NoArrow,
    /// Something unreadable.
    #[error("cannot read `{0}`: {1}")]
    Assign(String, &'static str),
}

impl CaseFile {
    /// Reads a file's text; `name` is for messages.
    pub fn parse(name: &str, text: &str) -> Result<CaseFile, CaseError> {
        let mut blocks: Vec<Block> = Vec::new();
        for (number, raw) in text.lines().enumerate() {
            let number = number + 1;
            let error = |kind| CaseError {
                file: name.to_owned(),
                line: number,
                kind,
            };
            let line = match raw.split_once('#') {
                Some((before, _)) => before.trim_end(),
                None => raw.trim_end(),
            };
            if line.is_empty() {
                continue;
            }
            if line.starts_with(' ') {
                let block = blocks.last_mut().ok_or(error(CaseErrorKind::NoHead))?;
                block
                    .lines
                    .push(parse_line(number, line.trim()).map_err(error)?);
                continue;
            }
            let head = parse_head(number, line).map_err(error)?;
            match blocks.last_mut() {
                Some(block) if block.lines.is_empty() => block.heads.push(head),
                _ => blocks.push(Block {
                    heads: vec![head],
                    lines: Vec::new(),
                }),
            }
        }
        if let Some(block) = blocks.last().filter(|block| block.lines.is_empty()) {
            let head = &block.heads[0];
            return Err(CaseError {
                file: name.to_owned(),
                line: head.line,
                kind: CaseErrorKind::NoLines(head.text.clone()),
            });
        }
        Ok(CaseFile {
            name: name.to_owned(),
            blocks,
        })
    }
}

/// The last target that `gfx803..` means: what follows shares its instructions with gfx906.
const LAST: Gfx = Gfx::Gfx906;

/// `gfx900`, `gfx600..gfx803` or `gfx803..`.
fn parse_targets(word: &str, into: &mut Vec<Gfx>) -> Result<(), CaseErrorKind> {
    let (first, last) = match word.split_once("..") {
        Some((first, "")) => (first.parse()?, LAST),
        Some((first, last)) => (first.parse()?, last.parse()?),
        None => {
            let only = word.parse()?;
            (only, only)
        }
    };
    into.extend(Gfx::ALL.into_iter().filter(|g| (first..=last).contains(g)));
    Ok(())
}

fn parse_head(line: usize, text: &str) -> Result<Head, CaseErrorKind> {
    let (text, columns) = text.split_once("  ").ok_or(CaseErrorKind::NoWords)?;
    let mut code: Vec<Encoded> = Vec::new();
    for word in columns.split_whitespace() {
        if word.starts_with("gfx") {
            if code.last().is_none_or(|last| !last.words.is_empty()) {
                code.push(Encoded {
                    targets: Vec::new(),
                    words: Vec::new(),
                });
            }
            let last = code.last_mut().expect("just pushed");
            parse_targets(word, &mut last.targets)?;
            continue;
        }
        let value = match u32::from_str_radix(word, 16) {
            Ok(value) if word.len() == 8 => value,
            _ => return Err(CaseErrorKind::NotAWord(word.to_owned())),
        };
        code.last_mut()
            .ok_or(CaseErrorKind::NoTargets)?
            .words
            .push(value);
    }
    if code.last().is_none_or(|last| last.words.is_empty()) {
        return Err(CaseErrorKind::NoWords);
    }
    Ok(Head {
        line,
        text: text.to_owned(),
        code,
    })
}

fn parse_line(number: usize, text: &str) -> Result<Line, CaseErrorKind> {
    let mut only = None;
    let mut rest = text;
    if text.starts_with("gfx") {
        let (targets, after) = text.split_once(": ").ok_or(CaseErrorKind::NoArrow)?;
        let mut list = Vec::new();
        for word in targets.split_whitespace() {
            parse_targets(word, &mut list)?;
        }
        only = Some(list);
        rest = after;
    }
    let (input, output) = match rest.trim().split_once("->") {
        Some((input, output)) => (input.trim(), output.trim()),
        None => return Err(CaseErrorKind::NoArrow),
    };
    let mut outcome = Outcome::Barrier(None);
    let output = match output.split_once("fault: ") {
        Some((before, fault)) => {
            let (name, message) = fault.split_once(' ').unwrap_or((fault, ""));
            outcome = Outcome::Fault {
                name: name.to_owned(),
                message: message.trim().to_owned(),
            };
            before
        }
        None => output,
    };
    let mut assigns = Vec::new();
    for word in assign::words(output)? {
        if word == "end" {
            outcome = Outcome::End;
        } else if let Some(distance) = word.strip_prefix("pc=") {
            let distance = distance
                .parse()
                .map_err(|_| CaseErrorKind::Assign(word.to_owned(), "pc= takes a decimal"))?;
            outcome = Outcome::Barrier(Some(distance));
        } else {
            assigns.push(assign::parse(word)?);
        }
    }
    Ok(Line {
        line: number,
        only,
        input: assign::words(input)?
            .into_iter()
            .map(assign::parse)
            .collect::<Result<_, _>>()?,
        output: assigns,
        outcome,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assign::{Lanes, Place, Value};

    fn error(text: &str) -> String {
        CaseFile::parse("x.case", text).unwrap_err().to_string()
    }

    #[test]
    fn a_block_has_heads_targets_words_and_lines() {
        let text = "# comment\n\
            v_a v0, v1  gfx600 gfx700 00000001  gfx803.. 00000002 00000003\n\
            v_b v0, v1  gfx90a 00000004\n    \
            v1=1 vcc.lane=1 -> v[0:1]=0123456789abcdef # why\n    \
            gfx900: v1=mem+20 -> mem[4]=0102 pc=8\n    \
            -> end\n    -> fault: memory read 4\n";
        let file = CaseFile::parse("x.case", text).unwrap();
        let [block] = &file.blocks[..] else {
            panic!("{file:?}")
        };
        let [a, b] = &block.heads[..] else {
            panic!("{block:?}")
        };
        assert_eq!((a.line, a.text.as_str()), (2, "v_a v0, v1"));
        assert_eq!(a.code[0].targets, [Gfx::Gfx600, Gfx::Gfx700]);
        assert_eq!(
            a.code[1].targets,
            [Gfx::Gfx803, Gfx::Gfx900, Gfx::Gfx906],
            "open ranges end where the targets part"
        );
        assert_eq!(a.code[1].words, [2, 3]);
        assert_eq!(b.code[0].targets, [Gfx::Gfx90a]);
        let [one, two, three, four] = &block.lines[..] else {
            panic!("{block:?}")
        };
        assert_eq!(one.output[0].place, Place::Vgpr(0, 2, Lanes::All));
        assert!(
            matches!(&one.output[0].value, Value::Bits(b) if b.hex == [0x89ab_cdef, 0x0123_4567])
        );
        assert_eq!(one.outcome, Outcome::Barrier(None));
        assert_eq!(two.only, Some(vec![Gfx::Gfx900]));
        assert_eq!(two.outcome, Outcome::Barrier(Some(8)));
        assert_eq!(three.outcome, Outcome::End);
        let fault = Outcome::Fault {
            name: "memory".into(),
            message: "read 4".into(),
        };
        assert_eq!(four.outcome, fault);
    }

    #[test]
    fn errors_name_file_and_line() {
        assert_eq!(
            error("v_a v0\n"),
            "x.case:1: no machine words behind the instruction; write two spaces, targets and words"
        );
        assert_eq!(
            error("v_a v0  00000001\n"),
            "x.case:1: words without a target before them"
        );
        assert_eq!(
            error("v_a v0  gfx900 1\n"),
            "x.case:1: `1` is neither a target nor a machine word of eight hex digits"
        );
        assert_eq!(
            error("\nv_a v0  gfx1030 00000001\n"),
            "x.case:2: unknown target `gfx1030`; known are gfx600, gfx700, gfx803, gfx900, gfx906, gfx908, gfx90a and gfx942"
        );
        assert_eq!(
            error("    v0=1 -> v0=2\n"),
            "x.case:1: an indented line before any instruction"
        );
        assert_eq!(
            error("v_a v0  gfx900 00000001\n"),
            "x.case:1: no `in -> out` line for `v_a v0`"
        );
        assert_eq!(
            error("v_a v0  gfx900 00000001\n  v0=1\n"),
            "x.case:2: no ` -> ` between what goes in and what comes out"
        );
        assert_eq!(
            error("v_a v0  gfx900 00000001\n  w0=1 ->\n"),
            "x.case:2: cannot read `w0=1`: no such place"
        );
    }
}
