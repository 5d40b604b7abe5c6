//! What wavelift's tests share: reproducible random numbers, random machine words for every row, and
//! running a piece of code on any engine.

pub mod random;
pub mod snippet;
pub mod words;
