//! Vectors worked out from the specification, chapter by chapter.

mod forms;
mod images;
mod memory;
mod scalar;
mod vector;
