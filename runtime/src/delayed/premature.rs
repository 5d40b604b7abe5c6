//! Reports of uses that come too early.

use std::fmt;

use frontend::Gfx;
use frontend::registers::{self, Reg};
use frontend::waits::WaitField;

use super::outstanding::Pending;

/// How a register is used too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// A result is read before it has arrived.
    Read,
    /// The register is written, and the result will overwrite it.
    Overwritten,
    /// The register is written before the operation has read it.
    Source,
}

/// A register that an instruction uses before an outstanding operation has finished with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Premature {
    /// Its name.
    pub register: String,
    /// How it is used.
    pub misuse: Misuse,
    /// Address of the operation's instruction in guest memory.
    pub producer: u64,
    /// The weakest wait that would be enough: counters and numbers.
    pub enough: Vec<(WaitField, u8)>,
}

impl Premature {
    pub(super) fn new(pending: &Pending, register: Reg, misuse: Misuse, gfx: Gfx) -> Premature {
        let tokens = pending.tokens.iter();
        Premature {
            register: registers::name(register, gfx),
            misuse,
            producer: pending.producer,
            enough: tokens
                .map(|token| (token.class.field(), token.enough()))
                .collect(),
        }
    }

    /// The report, with the operation's instruction as text.
    pub fn text(&self, producer: &str) -> String {
        let does = match self.misuse {
            Misuse::Read => "is the result of",
            Misuse::Overwritten => "is later overwritten by",
            Misuse::Source => "has still to be read by",
        };
        let register = &self.register;
        format!("{register} {does} {producer}, which is outstanding: {self} would be enough")
    }
}

/// The wait that would be enough.
impl fmt::Display for Premature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (field, n)) in self.enough.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(f, "{space}{}({n})", field.name())?;
        }
        Ok(())
    }
}
