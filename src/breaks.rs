//! Breakpoints of a run: the registers of each wave that arrives at an address, at the speed of
//! translated code elsewhere. `wavelift run --break` does this for a launch manifest.
//!
//! ```
//! use std::ops::ControlFlow;
//! use wavelift::breaks::{Breaker, Place};
//! use wavelift::{DeviceOptions, Launch, Module};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let breaker = Breaker::new(DeviceOptions::default())?;
//! let device = breaker.device();
//! let module = Module::load(device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
//! for address in "saxpy".parse::<Place>()?.addresses(&module)? {
//!     breaker.add(address);
//! }
//! let (saxpy, x) = (module.kernel("saxpy")?, device.buffer(&[1.0f32; 256])?);
//! let args = [(&x).into(), (&x).into(), 2.0f32.into(), 256u32.into()];
//! let mut waves = Vec::new();
//! breaker.launch(&saxpy, &Launch::new(256, 256), &args, &device.settings(), |hit| {
//!     waves.push(hit.wave);
//!     ControlFlow::Continue(())
//! })?;
//! waves.sort();
//! assert_eq!(waves, [0, 1, 2, 3]);
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use runtime::breaks::Breaks;
use runtime::dispatch::Settings;
use runtime::foreign::Foreign;

pub use runtime::breaks::Hit;

use crate::Stats;
use crate::arg::Arg;
use crate::device::{Device, DeviceOptions};
use crate::error::Error;
use crate::launch::Launch;
use crate::module::{Kernel, Module};
use crate::source::SourceError;
use crate::trace::{WAITING, listen};

/// A device whose launches tell of waves that arrive at breakpoints.
pub struct Breaker {
    device: Device,
    breaks: Arc<Breaks>,
    /// There is one launch at a time that tells.
    turn: Mutex<()>,
}

impl fmt::Debug for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Breaker").field(&self.device).finish()
    }
}

impl Breaker {
    /// A device with these options, without breakpoints yet. It neither profiles nor keeps translated
    /// code on disk, whatever they say.
    pub fn new(options: DeviceOptions) -> Result<Breaker, Error> {
        let breaks = Arc::<Breaks>::default();
        let engine =
            runtime::breaks::create(options.engine, &options.engine_options, breaks.clone())?;
        Ok(Breaker {
            device: Device::with_engine(options, engine)?,
            breaks,
            turn: Mutex::default(),
        })
    }

    /// The device, for modules and buffers of the launches. [`Device::launch`] tells of nothing.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Adds a breakpoint at a guest address ([`Place::addresses`]), before anything there has run.
    pub fn add(&self, address: u64) {
        self.breaks.add(address);
    }

    /// Runs a launch and calls `each` on the caller's thread for each wave that arrives at a breakpoint,
    /// until it breaks; the launch runs to its end all the same. Waves of one thread come in the order of
    /// execution.
    pub fn launch(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        args: &[Arg],
        settings: &Settings<'_>,
        mut each: impl FnMut(&Hit) -> ControlFlow<()>,
    ) -> Result<Stats, Error> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        self.breaks.begin(sender);
        let run = || {
            let result = self.device.launch_with(kernel, launch, args, settings);
            self.breaks.end();
            result
        };
        listen(receiver, run, |hit| each(&hit))
    }
}

/// A place in the code of a module: an address in its code object, such as `0x1a88`; a function and an
/// offset, such as `saxpy` and `saxpy+0x10`; or a line of source text, such as `saxpy.cl:12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// An address in the code object's numbering, as in a disassembly.
    Address(u64),
    /// An offset from the beginning of a function.
    Function(String, u64),
    /// A line of a file, which is named by its path or the end of it ([`SourceMap::places`](crate::source::SourceMap::places)).
    Line(String, u32),
}

/// Why there is no instruction at a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// An offset that is no number.
    #[error(
        "`{}` is no place; write an address (0x1a88), a function (saxpy or saxpy+0x10) or a line (saxpy.cl:12)",
        Foreign(.0)
    )]
    Invalid(String),
    /// The code object has no lines.
    #[error("the code object has no line numbers; compile it with -g")]
    NoLines,
    /// No code was compiled from the line, or from one behind it.
    #[error("no code comes from line {line} of `{}` or a later one; files with code are {}", Foreign(.file), Foreign(&.known.join(", ")))]
    NoLine {
        /// The file.
        file: String,
        /// The line.
        line: u32,
        /// Some of the files with code.
        known: Vec<String>,
    },
    /// The debugging information cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The module has no such function.
    #[error("there is no function `{}`; functions are {}", Foreign(.name), Foreign(&.known.join(", ")))]
    NoFunction {
        /// The name.
        name: String,
        /// Some of those that there are.
        known: Vec<String>,
    },
    /// No instruction begins there.
    #[error("no instruction begins at {0}; `wavelift disasm --addresses` prints where they do")]
    NoInstruction(Place),
}

/// A number as in assembler source.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Place, PlaceError> {
        let invalid = || PlaceError::Invalid(text.to_owned());
        if text.is_empty() {
            return Err(invalid());
        }
        if text.starts_with(|c: char| c.is_ascii_digit()) {
            return number(text).map(Place::Address).ok_or_else(invalid);
        }
        if let Some((file, line)) = text.rsplit_once(':')
            && let Ok(line) = line.parse()
            && !file.is_empty()
        {
            return Ok(Place::Line(file.to_owned(), line));
        }
        match text.rsplit_once('+') {
            None => Ok(Place::Function(text.to_owned(), 0)),
            Some((name, offset)) => {
                let offset = number(offset).ok_or_else(invalid)?;
                Ok(Place::Function(name.to_owned(), offset))
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Address(address) => write!(f, "{address:#x}"),
            Place::Function(name, 0) => write!(f, "{}", Foreign(name)),
            Place::Function(name, offset) => write!(f, "{}+{offset:#x}", Foreign(name)),
            Place::Line(file, line) => write!(f, "{}:{line}", Foreign(file)),
        }
    }
}

/// Names that an error lists.
const KNOWN: usize = 12;

impl Place {
    /// The guest addresses of its instructions: one, or for a line those where its code begins.
    pub fn addresses(&self, module: &Module) -> Result<Vec<u64>, PlaceError> {
        let code = module.code();
        let address = match self {
            Place::Address(address) => code.guest(*address),
            Place::Function(name, offset) => {
                let mut symbols = code.symbols().iter();
                let found = symbols.find(|symbol| symbol.name == *name);
                let function = found.ok_or_else(|| PlaceError::NoFunction {
                    name: name.clone(),
                    known: some(code.symbols().iter().map(|symbol| symbol.name.as_str())),
                })?;
                function.address.wrapping_add(*offset)
            }
            Place::Line(file, line) => return line_addresses(module, file, *line),
        };
        match begins(code, address) {
            true => Ok(vec![address]),
            false => Err(PlaceError::NoInstruction(self.clone())),
        }
    }
}

fn some<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.take(KNOWN).map(str::to_owned).collect()
}

fn line_addresses(module: &Module, file: &str, line: u32) -> Result<Vec<u64>, PlaceError> {
    let map = module.source()?;
    if !map.has_lines() {
        return Err(PlaceError::NoLines);
    }
    let places = map.places(file, line);
    if places.is_empty() {
        return Err(PlaceError::NoLine {
            file: file.to_owned(),
            line,
            known: some(map.files()),
        });
    }
    let code = module.code();
    Ok(places
        .iter()
        .map(|place| code.guest(place.address))
        .collect())
}

/// Does an instruction begin at an address, when one decodes from the beginning of its function on?
pub(crate) fn begins(code: &crate::LoadedCode, address: u64) -> bool {
    let Some((_, offset)) = code.symbol_at(address) else {
        return address.is_multiple_of(4) && code.decode(address).is_ok();
    };
    let mut at = address - offset;
    while at < address {
        at += code.decode(at).map_or(4, |inst| u64::from(inst.len));
    }
    at == address && code.decode(address).is_ok()
}
