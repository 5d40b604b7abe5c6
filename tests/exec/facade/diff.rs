//! Comparison of engines.

use runtime::engine;
use runtime::lockstep::wrong;
use wavelift::diff::{Comparison, Mode, Outcome, RegisterDifference, SearchEnd, Verdict};
use wavelift::{Arg, Buffer, DeviceOptions, EngineKind, Kernel, Launch, Module, Settings};

const GRID: u32 = 1024;

/// The interpreter, and one that computes an instruction wrong.
fn comparison(instruction: &str, steps: bool) -> Comparison {
    let options = DeviceOptions {
        threads: 1,
        ..DeviceOptions::default()
    };
    let reference = engine::create(EngineKind::Interp, &options.engine_options).unwrap();
    Comparison::with_engines(options, [reference, wrong(instruction, steps)]).unwrap()
}

fn saxpy(comparison: &Comparison) -> (Kernel, Buffer, Buffer) {
    let device = comparison.device();
    let code = std::fs::read("examples/saxpy/saxpy.gfx900.co").unwrap();
    let kernel = Module::load(device, &code)
        .unwrap()
        .kernel("saxpy")
        .unwrap();
    let x = device.buffer(&[2.0f32; GRID as usize]).unwrap();
    let y = device.buffer(&[1.0f32; GRID as usize]).unwrap();
    (kernel, x, y)
}

fn args(x: &Buffer, y: &Buffer) -> [Arg; 4] {
    [y.into(), x.into(), 3.0f32.into(), GRID.into()]
}

#[test]
fn the_first_difference_has_its_place_and_both_values() {
    let comparison = comparison("v_mul_f32_e32", true);
    let (saxpy, x, y) = saxpy(&comparison);
    let (args, launch) = (args(&x, &y), Launch::new(GRID, 256));
    // The workgroups before are the same.
    let settings = Settings {
        only: Some(2..4),
        ..comparison.device().settings()
    };
    let verdict = comparison.launch(&saxpy, &launch, &args, &settings);
    let Verdict::Different(difference) = verdict.unwrap() else {
        panic!("6.0 and the float above it, plus 1.0, are different");
    };
    assert_eq!(difference.reference.outcome, Outcome::Ended);
    let memory = difference.memory();
    let first = y.address() + 2 * 256 * 4;
    assert!(
        (first..first + 4).contains(&memory[0].address),
        "{memory:?}"
    );
    assert_ne!(memory[0].reference, memory[0].other);

    let workgroup = difference
        .first_workgroup()
        .unwrap()
        .expect("it shows again");
    assert_eq!((workgroup.number, workgroup.id), (2, [2, 0, 0]));
    let limited = difference.narrow(&workgroup, 5).unwrap();
    assert!(matches!(limited.instructions.end, SearchEnd::Limit));
    assert_eq!(limited.instructions.steps, 5);
    let narrowed = difference.narrow(&workgroup, 1000).unwrap();
    assert!(narrowed.stretches.is_none());
    let found = narrowed.divergence().expect("it is found");
    assert!(
        found.instruction.starts_with("v_mul_f32_e32 v"),
        "{found:?}"
    );
    assert_eq!(found.parting.mode, Mode::Instructions);
    assert_eq!(
        (found.parting.workgroup, found.parting.wave),
        ([2, 0, 0], 0)
    );
    let (function, offset) = found.symbol.clone().expect("it is in the kernel");
    assert_eq!(function, "saxpy");
    let entry = saxpy.object().code.start;
    assert_eq!(found.pc, entry + offset);
    let [
        RegisterDifference {
            register,
            lane,
            reference,
            other,
        },
    ] = &found.registers[..]
    else {
        panic!("one register differs: {found:?}");
    };
    assert!(register.starts_with('v'), "{register}");
    let product = u64::from(6.0f32.to_bits());
    assert_eq!((*lane, *reference, *other), (Some(0), product, product ^ 1));
    let text = narrowed.to_string();
    let values = format!("{register}[0]: 0x40c00000, 0x40c00001");
    assert!(text.contains("wave 0 of workgroup (2, 0, 0)"), "{text}");
    assert!(text.contains(&values), "{text}");
}

#[test]
fn engines_without_single_steps_differ_in_a_stretch() {
    let comparison = comparison("v_mul_f32_e32", false);
    let (saxpy, x, y) = saxpy(&comparison);
    let (args, launch) = (args(&x, &y), Launch::new(GRID, 256));
    let settings = comparison.device().settings();
    let verdict = comparison.launch(&saxpy, &launch, &args, &settings);
    let Verdict::Different(difference) = verdict.unwrap() else {
        panic!("they differ");
    };
    let workgroup = difference
        .first_workgroup()
        .unwrap()
        .expect("it shows again");
    let narrowed = difference.narrow(&workgroup, 1000).unwrap();
    assert!(matches!(narrowed.instructions.end, SearchEnd::CannotStep));
    let found = narrowed.divergence().expect("the stretch is found");
    assert_eq!(found.parting.mode, Mode::Stretches);
    assert!(!found.memory.is_empty(), "{found:?}");
}

#[test]
fn engines_that_agree_leave_their_result() {
    // Without that instruction.
    let comparison = comparison("v_add_f64", true);
    let (saxpy, x, y) = saxpy(&comparison);
    let launch = Launch::new(GRID, 256);
    let settings = comparison.device().settings();
    let args = args(&x, &y);
    let verdict = comparison.launch(&saxpy, &launch, &args, &settings);
    assert!(matches!(verdict.unwrap(), Verdict::Same(Outcome::Ended)));
    assert_eq!(y.read::<f32>().unwrap(), [7.0; GRID as usize]);

    let wild = [(&y).into(), Arg::Pointer(64), 3.0f32.into(), GRID.into()];
    let verdict = comparison.launch(&saxpy, &launch, &wild, &settings);
    let Verdict::Same(Outcome::Faulted(fault)) = verdict.unwrap() else {
        panic!("both fault alike");
    };
    assert_eq!(fault.kind.address(), Some(64));
}
