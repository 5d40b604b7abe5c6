//! Findings that are known.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use wavelift::{manifest, sanitizer};

use crate::error::of_file;
use crate::finding::Finding;
use crate::module::Module;

/// Stands for findings that are known.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Suppression(manifest::Suppression);

/// The name of a rule that launches are checked by.
fn known(rule: &str) -> PyResult<String> {
    let mut rules = sanitizer::launch_rules().map(|rule| rule.id);
    if rules.any(|known| known == rule) {
        return Ok(rule.to_owned());
    }
    let rules: Vec<_> = sanitizer::launch_rules().map(|rule| rule.id).collect();
    Err(PyValueError::new_err(format!(
        "unknown rule {rule:?}; the rules are {}",
        rules.join(", ")
    )))
}

#[pymethods]
impl Suppression {
    #[new]
    #[pyo3(signature = (rule, *, kernel = None, file = None, address = None, reason))]
    fn new(
        rule: &str,
        kernel: Option<String>,
        file: Option<PathBuf>,
        address: Option<u64>,
        reason: String,
    ) -> PyResult<Suppression> {
        if reason.trim().is_empty() {
            return Err(PyValueError::new_err(manifest::NO_REASON));
        }
        Ok(Suppression(manifest::Suppression {
            place: manifest::Place {
                key: String::new(),
                line: 0,
            },
            rule: known(rule)?,
            kernel: kernel.unwrap_or_else(|| "*".to_owned()),
            file,
            address,
            reason,
        }))
    }

    /// The entries of a TOML file, as `wavelift check --suppress` reads it.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Suppression>> {
        let text = py.detach(|| std::fs::read_to_string(&path));
        let text = text.map_err(|error| of_file(py, &path, &error))?;
        let all = manifest::Suppression::parse(&path, &text);
        let all = all.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(all.into_iter().map(Suppression).collect())
    }

    /// Does it stand for a finding in code that was loaded from `path`?
    #[pyo3(signature = (finding, path = None))]
    fn suits(&self, finding: &Finding, path: Option<PathBuf>) -> bool {
        let path = path.unwrap_or_default();
        let (kernel, rule) = (finding.kernel(), finding.rule());
        self.0.suits(&path, kernel, rule, finding.at().address)
    }

    /// May it stand for a finding in a launch of a kernel of `module`, which was loaded from `path`?
    #[pyo3(signature = (module, path = None))]
    fn concerns(&self, module: &Module, path: Option<PathBuf>) -> bool {
        let mut kernels = module.inner.kernels();
        known(&self.0.rule).is_ok()
            && self.0.suits_file(&path.unwrap_or_default())
            && kernels.any(|kernel| self.0.suits_kernel(kernel))
    }

    /// The rule's name.
    #[getter]
    fn rule(&self) -> &str {
        &self.0.rule
    }

    /// The kernel's name; None: all.
    #[getter]
    fn kernel(&self) -> Option<&str> {
        Some(&*self.0.kernel).filter(|kernel| *kernel != "*")
    }

    /// The end of the path of the code object or source; None: any.
    #[getter]
    fn file(&self) -> Option<PathBuf> {
        self.0.file.clone()
    }

    /// Address in the code object of the instruction that goes wrong; None: any.
    #[getter]
    fn address(&self) -> Option<u64> {
        self.0.address
    }

    /// Why it is known.
    #[getter]
    fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Line of the entry in its file; None without a file.
    #[getter]
    fn line(&self) -> Option<usize> {
        Some(self.0.place.line).filter(|line| *line > 0)
    }

    fn __str__(&self) -> String {
        let of = match self.kernel() {
            Some(kernel) => format!("kernel {kernel}"),
            None => "all kernels".to_owned(),
        };
        let address = self.0.address;
        let at = address.map_or_else(String::new, |address| format!(" at {address:#x}"));
        format!("{} of {of}{at}", self.0.rule)
    }

    fn __repr__(&self) -> String {
        format!("<wavelift.Suppression {}>", self.__str__())
    }
}
