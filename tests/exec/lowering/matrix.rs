//! Regions with matrix instructions, which ignore EXEC.
#![expect(unsafe_code, reason = "runs compiled code")]

use frontend::target::Gfx;
use frontend::{LANES, WaveState};
use lower::abi::{Context, ExitCode};
use lower::host::{Host, Isa};
use lower::ir::{FIRST_AGPR, Term, text};
use lower::jit::{Compiled, HostLevel, Jit};
use lower::lift::region::{self, Request};
use lower::options::Options;

use super::hosts;
use super::words::bytes;

fn compiled(code: &[u32], (level, isa): (HostLevel, Option<Isa>), baseline: bool) -> Compiled {
    let code = bytes(code);
    let request = Request {
        gfx: Gfx::Gfx908,
        entry: 0,
        mode: 0xf0,
        max_insts: 4096,
        max_block: 512,
        exact_nan: false,
        observe: true,
        checked: false,
        sanitize: false,
        outcomes: false,
    };
    let func = region::build(&request, &|pc| code.get(pc as usize..));
    assert!(func.fallbacks.is_empty(), "{:?}", func.fallbacks);
    let products = func.blocks.iter().map(|block| &block.term);
    assert!(
        products
            .into_iter()
            .any(|term| matches!(term, Term::Matrix { .. }))
    );
    let text = text::func(&func, request.gfx, &|pc| code.get(pc as usize..));
    let (read, gfx) = text::read(&text).expect("it was printed");
    assert_eq!(text::func(&read, gfx, &|pc| code.get(pc as usize..)), text);
    let options = Options {
        host: Host::of(isa),
        baseline,
        ..Options::default()
    };
    let mut jit = Jit::new(level).expect("this host");
    jit.compile(func, &options).expect("it compiles")
}

fn run(compiled: &Compiled, level: HostLevel, wave: &mut WaveState) {
    let functions = runtime::helpers::table(level);
    let mut frame = vec![[0u32; LANES]; compiled.frame_slots() as usize + 1];
    let mut context = Context {
        wave,
        frame: frame.as_mut_ptr(),
        fuel: 100,
        ..Context::new(functions.as_ptr())
    };
    // SAFETY: the code uses registers, the frame and the functions of the table only.
    let code = unsafe { compiled.run(&mut context) };
    assert_eq!(code, ExitCode::Barrier);
}

/// A write of four lanes of v0, a move, and two products under an EXEC of 0.
#[rustfmt::skip]
const MASKED: &[u32] = &[
    0xbe84_017e,              // s_mov_b64 s[4:5], exec
    0xbefe_008f,              // s_mov_b32 exec_lo, 15
    0xbeff_0080,              // s_mov_b32 exec_hi, 0
    0x7e00_02f4,              // v_mov_b32 v0, 2.0
    0xd3d9_4004, 0x1800_0100, // v_accvgpr_write_b32 a4, v0
    0xbefe_0180,              // s_mov_b64 exec, 0
    0xd3c2_0000, 0x0402_0300, // v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]
    0xd3c2_0000, 0x0402_0300, // v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[0:3]
    0xbefe_0104,              // s_mov_b64 exec, s[4:5]
    0xd3d8_4002, 0x1800_0100, // v_accvgpr_read_b32 v2, a0
    0xbf8a_0000,              // s_barrier
    0xbf81_0000,              // s_endpgm
];

#[test]
fn all_lanes_take_part() {
    for host in hosts() {
        for baseline in [false, true] {
            let compiled = compiled(MASKED, host, baseline);
            assert_eq!((compiled.vgprs(), compiled.agprs()), (3, 5));
            for exec in [u64::MAX, 0xff, 0] {
                let mut wave = WaveState::new_boxed();
                wave.set_exec(exec);
                wave.vgpr[0] = std::array::from_fn(|lane| (lane as f32).to_bits());
                wave.vgpr[1] = [3.0f32.to_bits(); LANES];
                wave.vgpr[2] = [7; LANES];
                wave.agpr[..4].fill([1.0f32.to_bits(); LANES]);
                run(&compiled, host.0, &mut wave);
                for lane in 0..LANES {
                    for row in 0..4 {
                        let a = lane / 4 * 4 + row;
                        let a = if a < 4 { 2.0 } else { a as f32 };
                        let want = (1.0 + 6.0 * a).to_bits();
                        assert_eq!(wave.agpr[row][lane], want, "{exec:x} {row} {lane}");
                    }
                    let moved = if lane < 4 { 2.0f32.to_bits() } else { 0 };
                    assert_eq!(wave.agpr[4][lane], moved);
                    let active = exec >> lane & 1 != 0;
                    let read = if active { wave.agpr[0][lane] } else { 7 };
                    assert_eq!(wave.vgpr[2][lane], read);
                }
            }
        }
    }
}

/// What a region reads first and writes is known of accumulation registers.
#[test]
fn reads_of_accumulation_registers() {
    let compiled = compiled(MASKED, (HostLevel::Sse41, None), false);
    let reads = compiled.reads(false);
    let has = |n: u16| reads[usize::from(n / 64)] >> (n % 64) & 1 != 0;
    assert!((0..4).all(|n| has(FIRST_AGPR + n)));
    assert!(has(0) && has(1));
    assert_eq!(compiled.writes_from(), 0);
}
