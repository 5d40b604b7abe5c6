//! A user of the library depends on `wavelift` only: what its signatures and fields name has a
//! name there.

use std::any::type_name;

use wavelift::{Device, DeviceOptions, Engine, EngineKind, Error, Fault, Settings};

/// Each of these is the type that its name says.
macro_rules! named {
    ($($($part:ident)::+ $(<$($arg:ty),+>)?),* $(,)?) => {
        [$((type_name::<wavelift::$($part)::+ $(<$($arg),+>)?>(), stringify!($($part)::+))),*]
    };
}

#[test]
fn every_type_of_the_interface_has_a_name() {
    let types = named![
        Access,
        AllocError,
        Arg,
        ArgError,
        ArgKind,
        ArgMetadata,
        Buffer,
        CancelToken,
        CodeError,
        CodeObject,
        CodeSymbol,
        DecodeError,
        Device,
        DeviceOptions,
        Emitter,
        EngineError,
        EngineKind,
        EngineOptions,
        Error,
        Event,
        Export,
        Exports,
        Fault,
        FaultKind,
        Gfx,
        GridWait,
        HostRange,
        Kernel,
        KernelCode,
        KernelDescriptor,
        KernelMetadata,
        Launch,
        LaunchError,
        Lds,
        LoadError,
        LoadedCode,
        Location,
        Memory,
        MemoryError,
        Module,
        Nearest,
        Private,
        Profiling,
        Size,
        Stats,
        Stream,
        Target,
        TargetId,
        WaveFault,
        WaveState,
        Within,
        HostBuffer<u8>,
        IntoVecError<u8>,
        Mapped<u8>,
        MemoryGuard,
        Settings,
        // Of an engine of one's own.
        engine::Exit,
        engine::Following,
        engine::Group,
        engine::Scratch,
        engine::Stop,
        engine::WaveSets,
        frontend::Inst,
        // Of a code object.
        object::Kernel,
        object::Processor,
        object::Segment,
        object::Setting,
        object::Symbol,
        object::SymbolKind,
        object::Version,
        image::ImageDescriptor,
        image::SamplerDescriptor,
        profile::Profile,
        profile::RegionProfile,
        half::f16,
    ];
    for (path, name) in types {
        let path = path.split('<').next().unwrap_or_default();
        let last = name.rsplit("::").next().unwrap_or_default().trim();
        assert!(path.ends_with(&format!("::{last}")), "{path} is {name}");
    }
}

/// An engine that traps, written with names of `wavelift` only.
struct Traps;

impl Engine for Traps {
    fn run(
        &self,
        wave: &mut wavelift::WaveState,
        _: &mut wavelift::engine::Group<'_>,
        _: &mut u64,
    ) -> wavelift::engine::Exit {
        wavelift::engine::Exit::Fault(wavelift::WaveFault {
            kind: wavelift::FaultKind::Trap { id: 7 },
            pc: wave.pc,
            lane: None,
        })
    }
}

#[test]
fn options_settings_and_faults_are_spelled_out() -> Result<(), Error> {
    let options = DeviceOptions {
        engine: EngineKind::Interp,
        engine_options: wavelift::EngineOptions {
            emitter: wavelift::Emitter::Auto,
            profile: None::<wavelift::Profiling>,
            ..wavelift::EngineOptions::default()
        },
        on_wait: Some(|wait: &wavelift::GridWait| eprintln!("{}", wait.at)),
        ..DeviceOptions::default()
    };
    let device = Device::with_engine(options, Box::new(Traps))?;
    let saxpy = super::saxpy(&device);
    let settings: Settings<'static> = Settings {
        cancel: Some(wavelift::CancelToken::new()),
        ..device.settings()
    };
    let buffer = device.alloc(16)?;
    let args = [(&buffer).into(), (&buffer).into(), 0f32.into(), 0u32.into()];
    let launch = wavelift::Launch::new(64, 64);
    let error = device.launch_with(&saxpy, &launch, &args, &settings);
    let Err(Error::Fault(fault)) = error else {
        panic!("it traps");
    };
    let Fault { kind, symbol, .. } = *fault;
    assert_eq!(kind, wavelift::FaultKind::Trap { id: 7 });
    assert_eq!(symbol, Some(("saxpy".to_owned(), 0)));

    let info: &wavelift::KernelMetadata = saxpy.info().expect("it has metadata");
    let pointers = info.explicit_args();
    let pointers = pointers.filter(|arg| arg.kind == wavelift::ArgKind::GlobalBuffer);
    assert_eq!(pointers.count(), 2);
    let code: &wavelift::LoadedCode = saxpy.module().code();
    let object: &wavelift::CodeObject = saxpy.module().object();
    let target: wavelift::TargetId = object.target.id();
    assert_eq!(
        (target.gfx(), target.to_string()),
        (Some(code.gfx()), "gfx900".to_owned())
    );
    Ok(())
}
