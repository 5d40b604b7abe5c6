//! Recordings by an engine, without HIP.

use std::time::Duration;

use harness::case::state::Addresses;
use runtime::code::CodeError;
use runtime::dispatch::{Arguments, Dispatcher, KernelCode, Launch, Settings, Shape};
use runtime::memory::{AllocError, Memory, MemoryError, Options};
use runtime::object::{CodeObject, LoadError};
use runtime::{Engine, LoadedCode};

use crate::kit::{Kit, Places};
use crate::layout::word;
use crate::recording::{Recorded, Recording, Result};

/// Why an engine cannot record.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No guest memory.
    #[error(transparent)]
    Alloc(#[from] AllocError),
    /// Guest memory that cannot be accessed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The code object.
    #[error(transparent)]
    Object(#[from] LoadError),
    /// Its code.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// The run that tells addresses.
    #[error("the run that tells addresses failed: {0}")]
    Probe(String),
}

/// Address space for the image.
const RESERVE: u64 = 64 << 20;
/// Longest time of a run.
const LIMIT: Duration = Duration::from_secs(20);

/// A kit in guest memory.
pub struct Recorder<'a> {
    kit: &'a Kit,
    engine: &'a dyn Engine,
    memory: Memory,
    code: LoadedCode,
    kernel: KernelCode,
    image: u64,
    dispatcher: Dispatcher,
    settings: Settings<'static>,
}

impl<'a> Recorder<'a> {
    /// Loads the kit.
    pub fn new(
        kit: &'a Kit,
        engine: &'a dyn Engine,
    ) -> std::result::Result<Recorder<'a>, EngineError> {
        let memory = Memory::with_options(Options {
            reserve: RESERVE,
            ..Options::default()
        })?;
        let object = CodeObject::parse(&kit.code_object())?;
        let code = LoadedCode::load(&memory, &object)?;
        let kernel = KernelCode::new(&code, &object.kernels[0]);
        let image = memory.alloc(4 * kit.layout.size as u64, 4096)?;
        Ok(Recorder {
            kit,
            engine,
            code,
            kernel,
            image,
            memory,
            dispatcher: Dispatcher::new(),
            settings: Settings {
                threads: 1,
                timeout: Some(LIMIT),
                ..Settings::default()
            },
        })
    }

    /// Runs the kernel on an image.
    fn run(&self, image: &[u32]) -> std::result::Result<Vec<u32>, String> {
        let mut bytes: Vec<u8> = image.iter().flat_map(|word| word.to_le_bytes()).collect();
        let failed = |error: MemoryError| error.to_string();
        self.memory
            .write_bytes(self.image, &bytes)
            .map_err(failed)?;
        let shape = Shape::new([64, 1, 1], [64, 1, 1], 1).map_err(|error| error.to_string())?;
        let launch = Launch {
            shape,
            global_offset: [0; 3],
            dynamic_lds: 0,
            arguments: Arguments::Segment(&self.image.to_le_bytes()),
        };
        self.dispatcher
            .run(
                self.engine,
                &self.memory,
                &self.code,
                &self.kernel,
                &launch,
                &self.settings,
            )
            .map_err(|error| error.to_string())?;
        self.memory
            .read_bytes(self.image, &mut bytes)
            .map_err(failed)?;
        let words = bytes.chunks_exact(4);
        let words: Vec<u32> = words
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        match words[word::DONE] {
            1 => Ok(words),
            _ => Err("the kernel did not come to its end".to_owned()),
        }
    }

    /// Where all is, by the run that tells addresses.
    fn places(&self) -> std::result::Result<Places, EngineError> {
        let image = self.kit.probe_image();
        let words = self.run(&image).map_err(EngineError::Probe)?;
        let pair = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        let there = self.kit.gfx.has_aperture_registers();
        let aperture = |at| if there { pair(at) } else { 0 };
        let layout = &self.kit.layout;
        Ok(Places {
            addresses: Addresses {
                windows: self.image + 4 * layout.windows as u64,
                buffer: self.image + 4 * layout.buffer as u64,
                scratch: 0,
                shared: aperture(2),
                private: aperture(4),
            },
            // Behind `s_getpc_b64`.
            code: pair(0).wrapping_sub(u64::from(self.kit.probe.at) + 4),
        })
    }

    /// Runs all.
    pub fn record(&self) -> std::result::Result<Recording, EngineError> {
        self.record_only(|_| true)
    }

    /// Runs those of these numbers, from 1 on.
    pub fn record_only(
        &self,
        wanted: impl Fn(u32) -> bool,
    ) -> std::result::Result<Recording, EngineError> {
        let places = self.places()?;
        let mut recording = Recording::new(self.kit.gfx.name(), &self.kit.digest());
        recording.places.push(places);
        for (n, run) in (1..).zip(&self.kit.runs).filter(|&(n, _)| wanted(n)) {
            let before = self.kit.image(run, &places);
            let result = match self.run(&before) {
                Ok(after) => {
                    let words = before.iter().zip(&after).enumerate();
                    let changed = words.filter(|(_, (before, after))| before != after);
                    Result::Changed(changed.map(|(at, (_, &word))| (at as u32, word)).collect())
                }
                Err(what) => Result::Failed(what.replace('\n', " ")),
            };
            recording.runs.insert(n, Recorded { place: 0, result });
        }
        Ok(recording)
    }
}
