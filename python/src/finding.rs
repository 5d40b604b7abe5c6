//! What dynamic checks have found in a launch.

use pyo3::prelude::*;
use wavelift::check::Place;
use wavelift::sanitizer::{self, Described};

/// What a launch was found to do wrong, or a note.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Finding {
    kernel: String,
    found: sanitizer::Finding,
    described: Described,
}

/// An instruction of a code object.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Instruction(Place);

impl Finding {
    pub(crate) fn new(kernel: &str, found: sanitizer::Finding, described: Described) -> Finding {
        Finding {
            kernel: kernel.to_owned(),
            found,
            described,
        }
    }

    /// Number of the launch on its device.
    pub(crate) fn launch(&self) -> u64 {
        self.found.launch
    }

    /// The instruction at which it was found.
    pub(crate) fn at(&self) -> &Place {
        &self.described.at
    }
}

#[pymethods]
impl Finding {
    /// The rule that is broken, such as "race-lds".
    #[getter]
    pub(crate) fn rule(&self) -> &'static str {
        self.described.rule.id
    }

    /// "finding" or "note".
    #[getter]
    fn severity(&self) -> &'static str {
        self.described.severity.name()
    }

    /// The kernel that was launched.
    #[getter]
    pub(crate) fn kernel(&self) -> &str {
        &self.kernel
    }

    /// What was accessed, such as "y[3]"; None for barriers.
    #[getter]
    fn what(&self) -> Option<&str> {
        self.described.what.as_deref()
    }

    /// What is wrong, in one sentence.
    #[getter]
    fn why(&self) -> &str {
        &self.described.why
    }

    /// Guest address of the lowest byte, or its offset in LDS; None for barriers.
    #[getter]
    fn address(&self) -> Option<u64> {
        self.described.what.is_some().then_some(self.found.address)
    }

    /// The workgroup in which it was found first.
    #[getter]
    fn workgroup(&self) -> (u32, u32, u32) {
        self.found.at.workgroup.into()
    }

    /// The wave in it.
    #[getter]
    fn wave(&self) -> u32 {
        self.found.at.wave
    }

    /// The lane, where it is known; None also for scalar instructions.
    #[getter]
    fn lane(&self) -> Option<u32> {
        self.found.at.lane
    }

    /// How often it was found in the launch.
    #[getter]
    fn count(&self) -> u64 {
        self.found.count
    }

    /// The instruction at which it was found.
    #[getter]
    fn instruction(&self) -> Instruction {
        Instruction(self.described.at.clone())
    }

    /// The earlier instruction, such as the other access of a race.
    #[getter]
    fn other(&self) -> Option<Instruction> {
        self.described.other.clone().map(Instruction)
    }

    fn __str__(&self) -> String {
        format!("{}: {}", self.kernel, self.described)
    }

    fn __repr__(&self) -> String {
        let (rule, kernel, why) = (self.rule(), &self.kernel, &self.described.why);
        format!("<wavelift.Finding {rule} of {kernel}: {why}>")
    }
}

#[pymethods]
impl Instruction {
    /// Address in the code object, as in the disassembly.
    #[getter]
    fn address(&self) -> u64 {
        self.0.address
    }

    /// The instruction as LLVM prints it.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// File of the source, if the code object has lines.
    #[getter]
    fn file(&self) -> Option<&str> {
        self.0.line.as_ref().map(|(file, _)| &**file)
    }

    /// Line there.
    #[getter]
    fn line(&self) -> Option<u32> {
        self.0.line.as_ref().map(|(_, line)| *line)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<wavelift.Instruction {}>", self.0)
    }
}
