//! The guest: encodings, instruction rows, operands, decoding, disassembly, blocks and wave state of
//! AMD GCN 1.0 to 1.4. No execution, no memory, no I/O, no `unsafe`.
#![forbid(unsafe_code)]

pub mod addressing;
pub mod decode;
pub mod desc;
pub mod exec;
pub mod flow;
pub mod inst;
pub mod isa;
pub mod op;
pub mod print;
pub mod registers;
pub mod state;
pub mod target;
pub mod ty;
pub mod waits;

pub use decode::{DecodeError, decode};
pub use desc::{Effects, Encoding, Forms, InstDesc, Scc};
pub use inst::{Form, Inst, Operand, Special};
pub use op::Op;
pub use state::{LANES, WaveState};
pub use target::Gfx;
pub use ty::Ty;
