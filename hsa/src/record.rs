//! Recorded launches: launch manifests with the memory and the code object that a kernel finds, and
//! with the memory that it leaves. `wavelift run`, `diff`, `bench` and `profile` take them.
//!
//! Recorded are all allocations that kernels use, at their addresses, since pointers are anywhere in
//! memory; guest memory begins at an address where other processes can have it, too. Not recorded is
//! the program's own memory that it has locked or given to the GPU where it is.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use runtime::MemoryError;
use runtime::dispatch::{DEFAULT_STACK, Launch, Queued};
use runtime::foreign::Foreign;
use runtime::memory::{Allocation, Purpose};

use crate::executable::{self, KernelEntry, Module};
use crate::guard::say;
use crate::lock::lock;
use crate::state::Runtime;

/// Where guest memory begins while launches are recorded: neither programs nor libraries are mapped
/// there.
pub(crate) const ADDRESS: u64 = 1 << 44;

/// What to record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Where the manifests are written.
    pub(crate) folder: PathBuf,
    /// Only this kernel.
    pub(crate) kernel: Option<String>,
    /// Which of its launches, from 0 on, or of all.
    pub(crate) index: Range<u64>,
    /// Most bytes of memory of a launch.
    pub(crate) limit: u64,
}

/// Records launches that have the memory for themselves.
pub(crate) struct Recorder {
    options: Options,
    counts: Mutex<Counts>,
}

/// Counts of launches.
#[derive(Default)]
struct Counts {
    /// Of the kernels to record.
    selected: u64,
    /// Of all kernels.
    begun: u64,
    /// Of those that run.
    running: u64,
}

/// Why a launch is not recorded.
#[derive(Debug)]
enum Refusal {
    TooMuch {
        bytes: u64,
        limit: u64,
    },
    NoCode,
    /// Another kernel ran at the same time.
    Concurrent,
    /// An argument points into the program's own memory.
    OwnMemory {
        offset: usize,
        address: u64,
    },
    Memory(MemoryError),
    Write {
        path: PathBuf,
        error: io::Error,
    },
}

impl From<MemoryError> for Refusal {
    fn from(error: MemoryError) -> Refusal {
        Refusal::Memory(error)
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::TooMuch { bytes, limit } => write!(
                f,
                "its memory has {bytes} bytes, more than {limit}; raise the limit by --record-limit"
            ),
            Refusal::Concurrent => f.write_str("another kernel ran at the same time"),
            Refusal::OwnMemory { offset, address } => write!(
                f,
                "its argument at byte {offset} is 0x{address:x}, in memory of the program that is locked or \
                 given to the GPU where it is"
            ),
            Refusal::NoCode => f.write_str("its code object is not known"),
            Refusal::Memory(error) => write!(f, "its memory cannot be read: {error}"),
            Refusal::Write { path, error } => {
                write!(f, "cannot write {}: {error}", path.display())
            }
        }
    }
}

/// The memory of an allocation.
struct Block {
    address: u64,
    bytes: Vec<u8>,
}

impl Block {
    fn read(rt: &Runtime, allocation: &Allocation) -> Result<Block, MemoryError> {
        let mut bytes = vec![0; allocation.len as usize];
        rt.memory.read_bytes(allocation.start, &mut bytes)?;
        Ok(Block {
            address: allocation.start,
            bytes,
        })
    }

    fn is_zero(&self) -> bool {
        self.bytes.iter().all(|&byte| byte == 0)
    }
}

/// A launch, while launches are recorded.
pub(crate) struct Recording<'r> {
    recorder: &'r Recorder,
    /// Its number among all launches.
    begun: u64,
    selected: Option<Selected>,
}

/// A launch to record.
struct Selected {
    number: u64,
    name: String,
    before: Result<Before, Refusal>,
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        lock(&self.recorder.counts).running -= 1;
    }
}

/// What the kernel finds.
struct Before {
    blocks: Vec<Block>,
    kernarg: Vec<u8>,
}

impl Recorder {
    pub(crate) fn new(options: Options) -> Recorder {
        Recorder {
            options,
            counts: Mutex::default(),
        }
    }

    /// Copies what a launch finds, if it is to be recorded.
    pub(crate) fn begin<'r>(
        &'r self,
        rt: &Runtime,
        entry: &KernelEntry,
        queued: &Queued,
    ) -> Recording<'r> {
        let name = &entry.code.name;
        let wanted = self.options.kernel.as_ref();
        let mut counts = lock(&self.counts);
        let alone = counts.running == 0;
        counts.running += 1;
        counts.begun += 1;
        let mut recording = Recording {
            recorder: self,
            begun: counts.begun,
            selected: None,
        };
        if wanted.is_some_and(|wanted| wanted != name) {
            return recording;
        }
        let number = counts.selected;
        counts.selected += 1;
        drop(counts);
        if self.options.index.contains(&number) {
            recording.selected = Some(Selected {
                number,
                name: name.clone(),
                before: match alone {
                    true => self.before(rt, entry, queued),
                    false => Err(Refusal::Concurrent),
                },
            });
        }
        recording
    }

    fn before(
        &self,
        rt: &Runtime,
        entry: &KernelEntry,
        queued: &Queued,
    ) -> Result<Before, Refusal> {
        let allocations = allocations(rt);
        let bytes = allocations.iter().map(|allocation| allocation.len).sum();
        let limit = self.options.limit;
        if bytes > limit {
            return Err(Refusal::TooMuch { bytes, limit });
        }
        let blocks = allocations.iter().map(|found| Block::read(rt, found));
        let mut kernarg = vec![0; entry.code.descriptor.kernarg_size as usize];
        rt.memory.read_bytes(queued.kernarg, &mut kernarg)?;
        check_arguments(rt, &kernarg)?;
        Ok(Before {
            blocks: blocks.collect::<Result<_, _>>()?,
            kernarg,
        })
    }
}

/// Refuses arguments that point into memory which is not recorded.
fn check_arguments(rt: &Runtime, kernarg: &[u8]) -> Result<(), Refusal> {
    let (words, _) = kernarg.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let address = u64::from_le_bytes(*word);
        let inside = address.wrapping_sub(rt.memory.arena_base()) < rt.memory.arena_len();
        if !inside && rt.memory.contains(address, 1) {
            let offset = 8 * index;
            return Err(Refusal::OwnMemory { offset, address });
        }
    }
    Ok(())
}

/// The memory to record: what the program has allocated, and code objects. Queues, signals and
/// arguments are the launch's own.
fn allocations(rt: &Runtime) -> Vec<Allocation> {
    let all = rt.memory.allocations().into_iter();
    let found = all.filter_map(|(start, _)| rt.memory.allocation_of(start));
    let kept = found.filter(|allocation| match allocation.purpose {
        Purpose::Data | Purpose::Buffer | Purpose::Sparse => true,
        Purpose::Code | Purpose::Structure => true,
        Purpose::System => executable::containing(rt, allocation.start).is_some(),
        Purpose::Arguments => false,
    });
    kept.filter(|allocation| allocation.len != 0).collect()
}

impl Recording<'_> {
    /// Writes the manifest, with the memory that the launch has left if it has `ended` without a
    /// fault.
    pub(crate) fn finish(
        mut self,
        rt: &Runtime,
        entry: &KernelEntry,
        launch: &Launch<'_>,
        ended: bool,
    ) {
        let Some(selected) = self.selected.take() else {
            return;
        };
        let (number, name) = (selected.number, selected.name.clone());
        if let Err(refusal) = self.write(selected, rt, entry, launch, ended) {
            say(format_args!(
                "launch {number} of kernel {} is not recorded: {refusal}",
                Foreign(&name)
            ));
        }
    }

    fn write(
        &self,
        selected: Selected,
        rt: &Runtime,
        entry: &KernelEntry,
        launch: &Launch<'_>,
        ended: bool,
    ) -> Result<(), Refusal> {
        let Selected { number, before, .. } = selected;
        let before = before?;
        let after = before.blocks.iter().map(|block| {
            let mut bytes = vec![0; block.bytes.len()];
            rt.memory.read_bytes(block.address, &mut bytes)?;
            Ok(bytes)
        });
        let after = after.collect::<Result<Vec<_>, MemoryError>>()?;
        if lock(&self.recorder.counts).begun != self.begun {
            return Err(Refusal::Concurrent);
        }
        let folder = &self.recorder.options.folder;
        // Processes of a program write to one folder.
        let stem = format!("{}-{:04}", std::process::id(), number);
        create(&folder.join(&stem))?;
        let code = code_object(folder, &entry.module)?;
        let mut text = String::new();
        // Writing to a string does not fail.
        let (base, len) = (rt.memory.arena_base(), rt.memory.arena_len());
        let _ = write!(
            text,
            "# Launch {number} of kernel {}.\n[memory]\naddress = {base:#x}\nbytes = {len:#x}\n\n[buffers]\n",
            Foreign(&entry.code.name)
        );
        let mut expect = String::from("\n[expect]\n");
        for (block, after) in before.blocks.iter().zip(&after) {
            let Block { address, bytes } = block;
            let name = format!("m{address:x}");
            let file = format!("{stem}/{name}.bin");
            let zero = block.is_zero();
            let contents = match zero {
                true => format!("bytes = {}", bytes.len()),
                false => {
                    write(&folder.join(&file), bytes)?;
                    format!("file = \"{file}\"")
                }
            };
            let _ = writeln!(text, "{name} = {{ {contents}, address = {address:#x} }}");
            let expected = match (after == bytes, zero) {
                (true, true) => "type = \"u8\", fill = 0".to_owned(),
                (true, false) => format!("file = \"{file}\""),
                (false, _) => {
                    let file = format!("{stem}/{name}.expected.bin");
                    if ended {
                        write(&folder.join(&file), after)?;
                    }
                    format!("file = \"{file}\"")
                }
            };
            let _ = writeln!(expect, "{name} = {{ {expected} }}");
        }
        let shape = &launch.shape;
        let dims = usize::from(shape.dims);
        let (grid, workgroup) = (&shape.grid[..dims], &shape.workgroup[..dims]);
        let _ = write!(
            text,
            "\n[[dispatch]]\ncode_object = \"{code}\"\ncode_address = {:#x}\nkernel = {}\ngrid = {grid:?}\n\
             workgroup = {workgroup:?}\ndynamic_lds = {}\n",
            entry.module.code().base(),
            quoted(&entry.code.name),
            launch.dynamic_lds,
        );
        if let Some(stack) = stack(rt, entry, launch) {
            let _ = writeln!(text, "stack = {stack}");
        }
        if !before.kernarg.is_empty() {
            let file = format!("{stem}/kernarg.bin");
            write(&folder.join(&file), &before.kernarg)?;
            let _ = writeln!(text, "kernarg = \"{file}\"");
        }
        if ended {
            text += &expect;
        }
        write(&folder.join(format!("{stem}.toml")), text.as_bytes())
    }
}

/// The stack of a work-item, if it is not what the kernel has by itself.
fn stack(rt: &Runtime, entry: &KernelEntry, launch: &Launch<'_>) -> Option<u32> {
    let runtime::dispatch::Arguments::Queued(queued) = launch.arguments else {
        return rt.config.stack;
    };
    let descriptor = &entry.code.descriptor;
    let requested = queued
        .private_bytes
        .saturating_sub(descriptor.private_segment_fixed_size);
    let own = match descriptor.uses_dynamic_stack() {
        true => DEFAULT_STACK,
        false => 0,
    };
    let stack = rt.config.stack.unwrap_or(own).max(requested);
    (rt.config.stack.is_some() || stack != own).then_some(stack)
}

/// Text as a string of TOML.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '\\' | '"' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

fn create(folder: &Path) -> Result<(), Refusal> {
    fs::create_dir_all(folder).map_err(|error| Refusal::Write {
        path: folder.to_owned(),
        error,
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Refusal> {
    fs::write(path, bytes).map_err(|error| Refusal::Write {
        path: path.to_owned(),
        error,
    })
}

/// Writes a code object once; its file.
fn code_object(folder: &Path, module: &Module) -> Result<String, Refusal> {
    let name = format!("{}-code-{}.co", std::process::id(), module.code().id());
    let path = folder.join(&name);
    if !path.exists() {
        write(&path, module.bytes().ok_or(Refusal::NoCode)?)?;
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_kernels_cannot_end_their_string() {
        assert_eq!(quoted("_Z3addPf"), "\"_Z3addPf\"");
        assert_eq!(
            quoted("a\"\\\n\u{1}\u{e9}"),
            "\"a\\\"\\\\\\u000a\\u0001\u{e9}\""
        );
    }
}
