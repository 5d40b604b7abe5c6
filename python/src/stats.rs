//! Counters of a launch.

use pyo3::prelude::*;

/// What a launch did.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Stats(wavelift::Stats);

impl From<wavelift::Stats> for Stats {
    fn from(stats: wavelift::Stats) -> Stats {
        Stats(stats)
    }
}

#[pymethods]
impl Stats {
    /// Workgroups run.
    #[getter]
    fn workgroups(&self) -> u64 {
        self.0.workgroups
    }

    /// Waves run.
    #[getter]
    fn waves(&self) -> u64 {
        self.0.waves
    }

    /// Seconds from the first wave's start to the last one's end, translation included.
    #[getter]
    fn seconds(&self) -> f64 {
        self.0.execute_seconds
    }

    /// Seconds of translation in them.
    #[getter]
    fn translate_seconds(&self) -> f64 {
        self.0.translate_seconds
    }

    /// Executions of instructions that the translator handed to the interpreter.
    #[getter]
    fn fallbacks(&self) -> u64 {
        self.0.fallbacks
    }

    fn __repr__(&self) -> String {
        let (groups, waves) = (self.0.workgroups, self.0.waves);
        let milliseconds = self.0.execute_seconds * 1e3;
        format!("<wavelift.Stats: {groups} workgroups, {waves} waves, {milliseconds:.3} ms>")
    }
}
