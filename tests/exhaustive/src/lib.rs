//! Instructions whose result depends on at most 32 bits of input, over all inputs: floats of 16 and 32 bits with one
//! source, conversions, operations on two halves, counts and reversals of bits, bytes and words that SDWA selects.
//! Each is run by the interpreter and by the translator with each back end, and where its result is exact, by plain
//! Rust ([`mod@reference`]); all must agree in every bit. README.md describes the campaign.

pub mod digests;
pub mod engines;
pub mod reference;
pub mod run;
pub mod sweep;

pub use engines::Kind;
pub use run::Bench;
pub use sweep::Sweep;
