//! Dispatches of a few words of code, and what comes of them.

use std::time::Duration;

use frontend::Gfx;
use harness::snippet::numbered_kernel;
use runtime::dispatch::{Arguments, Dispatcher, Launch, RunError, Settings, Shape};
use runtime::engine::Engine;
use runtime::jit::{JitEngine, JitOptions, Tier};
use runtime::{LoadedCode, Memory};

/// How code is dispatched.
pub(super) struct Dispatch {
    /// Work-items, and those of a workgroup.
    pub(super) items: u32,
    pub(super) size: u32,
    /// Bytes that it may store at the address that it gets.
    pub(super) bytes: u32,
    pub(super) lds: u32,
    pub(super) threads: usize,
    pub(super) timeout: Option<Duration>,
}

impl Dispatch {
    /// What is stored there then, and how the dispatch ended. Waves have little fuel at a time.
    pub(super) fn run(
        &self,
        engine: &dyn Engine,
        words: impl Fn(u64) -> Vec<u32>,
    ) -> (Vec<u8>, String) {
        let memory = Memory::new().expect("there is address space");
        let out = memory.alloc(self.bytes.into(), 256);
        let out = out.expect("there is room");
        let words: Vec<u8> = words(out).iter().flat_map(|w| w.to_le_bytes()).collect();
        let code = LoadedCode::from_bytes(&memory, Gfx::Gfx900, &words).expect("it fits");
        let kernel = numbered_kernel(&code);
        let shape = Shape::new([self.items, 1, 1], [self.size, 1, 1], 1);
        let launch = Launch {
            shape: shape.expect("a good shape"),
            global_offset: [0; 3],
            dynamic_lds: self.lds,
            arguments: Arguments::Segment(&[]),
        };
        let settings = Settings {
            threads: self.threads,
            timeout: self.timeout,
            fuel: 16,
            ..Settings::default()
        };
        let dispatcher = Dispatcher::new();
        let end = match dispatcher.run(engine, &memory, &code, &kernel, &launch, &settings) {
            Ok(stats) => format!("{} workgroups, {} waves", stats.workgroups, stats.waves),
            Err(RunError::Fault(fault)) => format!(
                "{} at {:x}, workgroup {:?}, wave {}, lane {:?}, EXEC {:x}: {}",
                fault.instruction,
                fault.pc,
                fault.workgroup,
                fault.wave,
                fault.lane,
                fault.exec,
                fault.kind
            ),
            Err(error) => panic!("{error}"),
        };
        let mut after = vec![0; self.bytes as usize];
        memory.read_bytes(out, &mut after).expect("it is there");
        (after, end)
    }
}

/// An engine that translates with care at once.
pub(super) fn engine() -> JitEngine {
    let options = JitOptions {
        tier: Tier::Optimizing,
        ..JitOptions::default()
    };
    JitEngine::new(options).expect("this host has a code generator")
}
