//! What the sanitizer finds in launches, for `wavelift check exec`.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, Once, PoisonError};
use std::time::Duration;

use findings::{FindingsError, Folder, Found, Instruction, Process};
use runtime::object::LoadError;
use runtime::sanitizer::Finding;

use crate::executable::{self, KernelEntry, Module};
use crate::guard::say;
use crate::lock::lock;
use crate::state::Runtime;

/// Findings of this process.
pub(crate) struct Findings {
    folder: Folder,
    /// This process's file there.
    file: String,
    state: Mutex<State>,
    /// How many launches run: one, unless kernels wait for each other. What two of them do may be ordered by the host, which
    /// the sanitizer does not see.
    running: Mutex<u64>,
    /// A launch has ended.
    ended: Condvar,
    /// It was said that the file cannot be written.
    complained: Once,
}

#[derive(Default)]
struct State {
    process: Process,
    /// Names of code objects by number of the loaded code.
    code_objects: HashMap<u64, String>,
}

/// Why the place of an instruction is not known.
#[derive(Debug)]
enum Unknown {
    Code(LoadError),
    Write(FindingsError),
}

impl std::fmt::Display for Unknown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unknown::Code(error) => error.fmt(f),
            Unknown::Write(error) => error.fmt(f),
        }
    }
}

/// How long a launch waits for the one that runs, which may itself wait for this one.
const PATIENCE: Duration = Duration::from_millis(250);

/// A launch that runs.
pub(crate) struct Launch<'f> {
    findings: &'f Findings,
    /// Its number in the process, from 0 on.
    pub(crate) number: u64,
}

impl Findings {
    /// Findings that are written into this folder.
    pub(crate) fn new(folder: PathBuf) -> Findings {
        let id = std::process::id();
        let program = std::env::current_exe().unwrap_or_default();
        let process = Process {
            id,
            program: program.display().to_string(),
            ..Process::default()
        };
        let findings = Findings {
            folder: Folder::new(folder),
            file: Folder::name(id),
            running: Mutex::default(),
            ended: Condvar::new(),
            state: Mutex::new(State {
                process,
                ..State::default()
            }),
            complained: Once::new(),
        };
        findings.write();
        findings
    }

    /// Waits until no other launch runs, though not for long, and counts this one.
    pub(crate) fn begin(&self, kernel: &str) -> Launch<'_> {
        let running = lock(&self.running);
        let waited = (self.ended).wait_timeout_while(running, PATIENCE, |running| *running != 0);
        let (mut running, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *running += 1;
        let mut state = lock(&self.state);
        let number = state.process.launched();
        match state.process.launches.get_mut(kernel) {
            Some(count) => *count += 1,
            None => {
                state.process.launches.insert(kernel.to_owned(), 1);
                self.write_state(&state);
            }
        }
        Launch {
            findings: self,
            number,
        }
    }

    /// Writes what is known.
    pub(crate) fn write(&self) {
        self.write_state(&lock(&self.state));
    }

    fn write_state(&self, state: &State) {
        if let Err(error) = self.folder.write(&self.file, &state.process) {
            self.complain(&error);
        }
    }

    fn complain(&self, error: &dyn std::fmt::Display) {
        let complain = || say(format_args!("findings of this process are lost: {error}"));
        self.complained.call_once(complain);
    }

    /// An instruction of a loaded module.
    fn instruction(
        &self,
        rt: &Runtime,
        state: &mut State,
        module: &Module,
        pc: u64,
    ) -> Result<Instruction, Unknown> {
        let code = module.code();
        let code_object = match state.code_objects.get(&code.id()) {
            Some(name) => name.clone(),
            None => {
                let elf = module.elf(rt).map_err(Unknown::Code)?;
                let name = self.folder.add_code(&elf).map_err(Unknown::Write)?;
                state.code_objects.insert(code.id(), name.clone());
                name
            }
        };
        Ok(Instruction {
            code_object,
            address: code.local(pc),
            text: code.text_at(pc),
        })
    }

    /// A finding of a launch, in terms of code objects.
    fn found(
        &self,
        rt: &Runtime,
        (state, entry, launch): (&mut State, &KernelEntry, u64),
        finding: Finding,
    ) -> Result<Found, Unknown> {
        let mut place = |code: u64, pc: u64| {
            let module = module_of(rt, entry, code, pc);
            self.instruction(rt, state, &module, pc)
        };
        let at = place(finding.at.code, finding.at.pc)?;
        let other = finding.other.map(|other| place(other.code, other.pc));
        Ok(Found {
            kernel: entry.code.name.clone(),
            launch,
            launches: 1,
            at,
            other: other.transpose()?,
            finding,
        })
    }
}

/// The module of an instruction: the kernel's own, or another one's whose function it has called.
fn module_of(rt: &Runtime, entry: &KernelEntry, code: u64, pc: u64) -> Arc<Module> {
    let own = || Arc::clone(&entry.module);
    if entry.module.code().id() == code {
        return own();
    }
    executable::containing(rt, pc).map_or_else(own, |(_, module)| module)
}

impl Launch<'_> {
    /// Adds what the launch was found to do, and writes what is new.
    pub(crate) fn finish(&self, rt: &Runtime, entry: &KernelEntry) {
        let findings = self.findings;
        let sanitizer = rt.memory.sanitizer();
        let found = sanitizer.map(|all| all.take_launch(self.number));
        let mut state = lock(&findings.state);
        let mut new = false;
        for finding in found.unwrap_or_default() {
            match findings.found(rt, (&mut state, entry, self.number), finding) {
                Ok(found) => new |= state.process.add(found),
                Err(error) => findings.complain(&error),
            }
        }
        if new {
            findings.write_state(&state);
        }
    }
}

impl Drop for Launch<'_> {
    fn drop(&mut self) {
        *lock(&self.findings.running) -= 1;
        self.findings.ended.notify_one();
    }
}
