//! Dispatch.
