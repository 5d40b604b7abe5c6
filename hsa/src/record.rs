//! Recorded launches: launch manifests with the memory and the code object that a kernel finds, and
//! with the memory that it leaves. `wavelift run`, `diff`, `bench` and `profile` take them.
//!
//! Recorded are all allocations that kernels use, and the program's own memory that it has locked or
//! given to the GPU where it is, at their guest addresses, since pointers are anywhere in memory; guest
//! memory begins at an address where other processes can have it, too.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use frontend::Op;
use frontend::registers::{is_gws, is_salu, is_valu};
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

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 16;

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
    launches: Mutex<Launches>,
    /// A launch has ended.
    ended: Condvar,
}

/// How long a launch that is recorded waits for others, and others for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Launches of the program, and changes of memory by the host.
#[derive(Default)]
struct Launches {
    /// Number of those of the kernels to record.
    selected: u64,
    /// Number of all.
    begun: u64,
    /// How many run.
    running: u64,
    /// One that is recorded runs, or waits until the others have ended.
    recorded: bool,
    /// One has waited in vain: kernels wait for each other, or run for long. No other waits.
    hurried: bool,
}

/// Why a launch is not recorded.
#[derive(Debug)]
enum Refusal {
    TooMuch {
        bytes: u64,
        limit: u64,
    },
    NoCode,
    /// Another kernel ran at the same time, or the host changed memory.
    Concurrent,
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
            Refusal::Concurrent => f.write_str("another kernel or a copy ran at the same time"),
            Refusal::NoCode => f.write_str("its code object is not known"),
            Refusal::Memory(error) => write!(f, "its memory cannot be read: {error}"),
            Refusal::Write { path, error } => {
                write!(f, "cannot write {}: {error}", path.display())
            }
        }
    }
}

/// The memory of an allocation, or of a range of the program's own memory.
struct Block {
    address: u64,
    bytes: Vec<u8>,
    /// The program may write there while the kernel runs: it is the program's own memory, of which
    /// whole pages are locked, or that of the arguments, where those of the next launch are laid out.
    shared: bool,
}

impl Block {
    fn read(
        rt: &Runtime,
        (address, len): (u64, u64),
        queued: &Queued,
    ) -> Result<Block, MemoryError> {
        let own = rt.memory.allocation(address).is_none();
        let arguments = (address..address + len).contains(&queued.kernarg);
        Ok(Block {
            address,
            bytes: read(rt, address, len)?,
            shared: own || arguments,
        })
    }

    fn is_zero(&self) -> bool {
        self.bytes.iter().all(|&byte| byte == 0)
    }
}

/// The contents of memory.
fn read(rt: &Runtime, address: u64, len: u64) -> Result<Vec<u8>, MemoryError> {
    let mut bytes = vec![0; len as usize];
    let mut at = address;
    for chunk in bytes.chunks_mut(CHUNK) {
        // Memory that is registered in parts that overlap can be read in each of them, so at least byte by byte.
        if rt.memory.read_bytes(at, chunk).is_err() {
            for (offset, byte) in (0..).zip(chunk.iter_mut()) {
                rt.memory
                    .read_bytes(at + offset, std::slice::from_mut(byte))?;
            }
        }
        at += chunk.len() as u64;
    }
    Ok(bytes)
}

/// A launch, while launches are recorded.
pub(crate) struct Recording<'r> {
    recorder: &'r Recorder,
    /// Its number among all launches.
    begun: u64,
    /// Others wait until it has ended.
    alone: bool,
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
        let mut launches = lock(&self.recorder.launches);
        launches.running -= 1;
        if self.alone {
            launches.recorded = false;
        }
        self.recorder.ended.notify_all();
    }
}

/// What the kernel finds.
struct Before {
    blocks: Vec<Block>,
    kernarg: Vec<u8>,
    /// Counters of the global wave sync.
    gws: Vec<u32>,
}

impl Recorder {
    pub(crate) fn new(options: Options) -> Recorder {
        Recorder {
            options,
            launches: Mutex::default(),
            ended: Condvar::new(),
        }
    }

    /// Copies what a launch finds, if it is to be recorded. Such a launch has the memory for itself:
    /// it waits until others have ended, and others wait for it, as long as there is patience.
    pub(crate) fn begin<'r>(
        &'r self,
        rt: &Runtime,
        entry: &KernelEntry,
        queued: &Queued,
    ) -> Recording<'r> {
        let name = &entry.code.name;
        let wanted = self.options.kernel.as_ref();
        let mut launches = lock(&self.launches);
        let number = wanted.is_none_or(|wanted| wanted == name).then(|| {
            launches.selected += 1;
            launches.selected - 1
        });
        let number = number.filter(|number| self.options.index.contains(number));
        launches = self.wait(launches, |launches| !launches.recorded);
        let mut alone = false;
        if number.is_some() && !launches.recorded {
            launches.recorded = true;
            launches = self.wait(launches, |launches| launches.running == 0);
            alone = launches.running == 0;
            launches.recorded = alone;
        }
        launches.running += 1;
        launches.begun += 1;
        let begun = launches.begun;
        drop(launches);
        if !alone {
            self.ended.notify_all();
        }
        let selected = number.map(|number| Selected {
            number,
            name: name.clone(),
            before: match alone {
                true => self.before(rt, entry, queued),
                false => Err(Refusal::Concurrent),
            },
        });
        Recording {
            recorder: self,
            begun,
            alone,
            selected,
        }
    }

    /// The host changes memory until the result is dropped. Like another launch, this waits for a launch that is recorded; if
    /// it has waited too long, that launch is refused.
    pub(crate) fn begin_change(&self) -> Recording<'_> {
        let launches = lock(&self.launches);
        let mut launches = self.wait(launches, |launches| !launches.recorded);
        launches.running += 1;
        launches.begun += 1;
        Recording {
            recorder: self,
            begun: launches.begun,
            alone: false,
            selected: None,
        }
    }

    /// Waits for a condition, as long as there is patience.
    fn wait<'l>(
        &self,
        mut launches: MutexGuard<'l, Launches>,
        condition: impl Fn(&Launches) -> bool,
    ) -> MutexGuard<'l, Launches> {
        let end = Instant::now() + PATIENCE;
        while !condition(&launches) && !launches.hurried {
            let rest = end.saturating_duration_since(Instant::now());
            launches.hurried = rest.is_zero();
            let waited = self.ended.wait_timeout(launches, rest);
            launches = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        launches
    }

    fn before(
        &self,
        rt: &Runtime,
        entry: &KernelEntry,
        queued: &Queued,
    ) -> Result<Before, Refusal> {
        let ranges = ranges(rt);
        let bytes = ranges.iter().map(|(_, len)| len).sum();
        let limit = self.options.limit;
        if bytes > limit {
            return Err(Refusal::TooMuch { bytes, limit });
        }
        let blocks = ranges
            .into_iter()
            .map(|range| Block::read(rt, range, queued));
        let mut kernarg = vec![0; entry.code.descriptor.kernarg_size as usize];
        rt.memory.read_bytes(queued.kernarg, &mut kernarg)?;
        let gws = rt.memory.gws().counters();
        let used = gws.iter().rposition(|&counter| counter != 0);
        Ok(Before {
            gws: gws[..used.map_or(0, |last| last + 1)].to_vec(),
            blocks: blocks.collect::<Result<_, _>>()?,
            kernarg,
        })
    }
}

/// The memory to record, addresses and sizes: what the program has allocated, code objects, and the
/// program's own memory that kernels may use. Queues, signals and arguments are the launch's own.
fn ranges(rt: &Runtime) -> Vec<(u64, u64)> {
    let all = rt.memory.allocations().into_iter();
    let found = all.filter_map(|(start, _)| rt.memory.allocation_of(start));
    let kept = found.filter(|allocation| match allocation.purpose {
        Purpose::Data | Purpose::Buffer | Purpose::Sparse => true,
        Purpose::Code | Purpose::Structure => true,
        Purpose::System => executable::containing(rt, allocation.start).is_some(),
        Purpose::Arguments => false,
    });
    let kept = kept.map(|Allocation { start, len, .. }| (start, len));
    let own = rt.memory.registered_ranges().into_iter();
    kept.chain(own).filter(|(_, len)| *len != 0).collect()
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
        let blocks = before.blocks.iter();
        let after = blocks.map(|block| read(rt, block.address, block.bytes.len() as u64));
        let after = after.collect::<Result<Vec<_>, MemoryError>>()?;
        if lock(&self.recorder.launches).begun != self.begun {
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
        // Then it is the program that has changed memory meanwhile.
        let kept = stores_nothing(entry);
        for (block, after) in before.blocks.iter().zip(&after) {
            let Block {
                address,
                bytes,
                shared,
            } = block;
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
            if *shared {
                continue;
            }
            let expected = match (kept || after == bytes, zero) {
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
        if !before.gws.is_empty() {
            let _ = writeln!(text, "gws = {:?}", before.gws);
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

/// Does the kernel certainly leave memory as it is? It is one straight line, without stores and atomics.
fn stores_nothing(entry: &KernelEntry) -> bool {
    let code = entry.module.code();
    let mut pc = entry.code.entry;
    loop {
        let Ok(inst) = code.decode(pc) else {
            return false;
        };
        let harmless = match inst.op() {
            Op::Endpgm => return true,
            Op::Load(..) | Op::Waitcnt | Op::Hint(_) => true,
            Op::SetPc | Op::SwapPc | Op::Call | Op::Branch(_) | Op::Rfe | Op::RfeRestore => false,
            Op::CbranchGFork | Op::CbranchIFork | Op::CbranchJoin => false,
            _ => is_salu(&inst) || is_valu(&inst) || is_gws(&inst),
        };
        if !harmless {
            return false;
        }
        pc += u64::from(inst.len);
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
