//! Vectors worked out from the specification, chapter by chapter.

mod forms;
mod hostile;
mod images;
mod memory;
mod rows;
mod scalar;
mod vector_float;
mod vector_int;
