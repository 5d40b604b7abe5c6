//! What wavelift's tests share: conformance cases as text, reproducible random numbers, random
//! machine words for every row, and running a piece of code on any engine.

pub mod case;
pub mod environment;
pub mod number;
pub mod random;
pub mod snippet;
pub mod words;
