//! The translator in isolation: every row lowers, every operation of the lane IR compiles.

mod accesses;
mod alone;
mod anywhere;
mod cuts;
mod elementary;
mod encoding;
mod loops;
mod operations;
mod prologues;
mod rounds;
mod rows;
mod runs;
mod tables;
mod tiers;
mod words;
