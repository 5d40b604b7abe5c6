//! How well instructions are tested: the table `docs/evidence.tsv`, which tests make.

use frontend::{Gfx, InstDesc, isa};

/// A line for each row, in their order: encoding, name, and a letter for each target.
const TABLE: &str = include_str!("../../docs/evidence.tsv");

/// The strongest evidence for an instruction on a target, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Evidence {
    /// None.
    None,
    /// Conformance cases.
    Cases,
    /// Both engines agree in random programs.
    Engines,
    /// An implementation that is neither engine agrees.
    Oracle,
    /// An SMT solver has proved its translation.
    Proved,
    /// All inputs were run.
    Exhaustive,
}

impl Evidence {
    /// In words, as the page `docs/evidence.md` has them.
    pub(super) fn name(self) -> &'static str {
        match self {
            Evidence::None => "none",
            Evidence::Cases => "cases only",
            Evidence::Engines => "two engines",
            Evidence::Oracle => "third oracle",
            Evidence::Proved => "proved",
            Evidence::Exhaustive => "exhaustive",
        }
    }

    fn of_letter(letter: u8) -> Evidence {
        match letter {
            b'C' => Evidence::Cases,
            b'E' => Evidence::Engines,
            b'O' => Evidence::Oracle,
            b'P' => Evidence::Proved,
            b'X' => Evidence::Exhaustive,
            _ => Evidence::None,
        }
    }

    /// That of a row on a target.
    pub(super) fn of(desc: &InstDesc, gfx: Gfx) -> Evidence {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        let mut rows = isa::all().zip(lines);
        let line = rows.find(|(row, _)| *row == desc);
        let letters = line.and_then(|(_, line)| line.rsplit('\t').next());
        let letter = letters.and_then(|letters| letters.as_bytes().get(gfx.index()));
        letter.map_or(Evidence::None, |&letter| Evidence::of_letter(letter))
    }
}
