//! The engine that translates: regions of guest code to host code, kept and looked up by address.

use crate::engine::{Engine, EngineError, EngineOptions};

/// Makes the engine.
pub fn create(options: &EngineOptions) -> Result<Box<dyn Engine + Send>, EngineError> {
    let _ = options;
    Err(EngineError::NoTranslator)
}
