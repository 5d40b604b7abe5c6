//! Translation time for each guest instruction, and its growth with the size of kernels.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use frontend::Gfx;
use lower::backend::object::Object;
use lower::host::{self, Host, Isa};
use lower::jit::{Allocation, HostLevel, Jit};
use lower::lift::region::{self, Request};
use lower::options::Options;

/// Kind of a kernel.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Vector arithmetic from the first instruction to the last.
    Straight,
    /// Consecutive loops of 40 instructions, with loads and stores.
    Loops,
    /// Consecutive loops of five instructions: two of arithmetic and the counting.
    SmallLoops,
    /// Consecutive short ifs.
    Branches,
}

/// A kernel for gfx900.
struct Kernel {
    words: Vec<u32>,
    insts: usize,
}

/// The registers that arithmetic works on: v6 to v18.
const FIRST: u32 = 6;
const REGISTERS: u32 = 13;

impl Kernel {
    /// About `size` instructions.
    fn new(kind: Kind, size: usize) -> Kernel {
        let mut kernel = Kernel {
            words: Vec::new(),
            insts: 0,
        };
        let mut insts = 0;
        while insts < size {
            match kind {
                Kind::Straight => insts += kernel.arithmetic(insts, 50),
                Kind::Loops => {
                    let head = kernel.words.len();
                    insts += kernel.arithmetic(insts, 36);
                    // global_load_dword v20, v[2:3], off; global_store_dword v[4:5], v20, off
                    kernel
                        .words
                        .extend([0xdc50_8000, 0x147f_0002, 0xdc70_8000, 0x007f_1404]);
                    insts += 2 + kernel.count_down(head);
                }
                Kind::SmallLoops => {
                    let head = kernel.words.len();
                    insts += kernel.arithmetic(insts, 2) + kernel.count_down(head);
                }
                Kind::Branches => {
                    // v_cmp_gt_i32 vcc, v1, v2; s_and_saveexec_b64 s[10:11], vcc; s_cbranch_execz
                    kernel.words.extend([0x7d88_0501, 0xbe8a_206a]);
                    let branch = kernel.words.len();
                    kernel.words.push(0);
                    insts += kernel.arithmetic(insts, 12);
                    let over = kernel.words.len() - branch - 1;
                    kernel.words[branch] = 0xbf88_0000 | over as u32;
                    // s_or_b64 exec, exec, s[10:11]
                    kernel.words.push(0x87fe_0a7e);
                    insts += 4;
                }
            }
        }
        // global_store_dword v[4:5], v6 to v18, off: all of it was for something.
        for register in FIRST..FIRST + REGISTERS {
            kernel
                .words
                .extend([0xdc70_8000 + 4 * register, 0x007f_0004 | register << 8]);
        }
        // s_endpgm
        kernel.words.push(0xbf81_0000);
        kernel.insts = insts + REGISTERS as usize + 1;
        kernel
    }

    /// The end of a loop that begins at the word `head`; gives its number of instructions.
    fn count_down(&mut self, head: usize) -> usize {
        // s_sub_u32 s8, s8, 1; s_cmp_lg_u32 s8, 0; s_cbranch_scc1
        self.words.extend([0x8088_8108, 0xbf07_8008]);
        let back = head as i64 - self.words.len() as i64 - 1;
        self.words.push(0xbf85_0000 | back as u32 & 0xffff);
        3
    }

    /// `n` vector instructions on registers that change with `seed`.
    fn arithmetic(&mut self, seed: usize, n: usize) -> usize {
        for i in seed..seed + n {
            let i = i as u32;
            let register = |n: u32| FIRST + n % REGISTERS;
            let (d, a, b) = (register(i), register(i / 3), register(i * 7));
            // v_add_u32, v_xor_b32, v_mul_f32, v_add_f32, v_lshrrev_b32, v_max_i32
            let op = [0x34, 0x15, 0x05, 0x01, 0x10, 0x0d][i as usize % 6];
            self.words.push(op << 25 | d << 17 | b << 9 | (256 + a));
        }
        n
    }

    /// Translates the regions that are reached from the beginning, `most` of them at most, and stops when time
    /// is up.
    fn translate(&self, jit: &mut Jit, how: How, most: usize) -> Vec<Object> {
        let start = Instant::now();
        let bytes: Vec<u8> = self.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let fetch = |pc: u64| bytes.get(pc as usize..).filter(|bytes| !bytes.is_empty());
        let (mut todo, mut done) = (vec![0], BTreeSet::from([0]));
        let mut objects = Vec::new();
        while let Some(entry) = todo.pop()
            && objects.len() < most
            && start.elapsed() < LIMIT
        {
            let request = Request {
                gfx: Gfx::Gfx900,
                entry,
                mode: 0x2c0,
                max_insts: region::MAX_INSTS,
                max_block: region::MAX_BLOCK,
                observe: false,
                exact_nan: false,
                checked: false,
                sanitize: false,
                outcomes: false,
            };
            let func = region::build(&request, &fetch);
            todo.extend(func.exits().filter(|&exit| done.insert(exit)));
            let options = Options {
                host: Host::of(how.wide.then(isa)),
                ..Options::default()
            };
            let object = jit.object(&func, &options, 0, how.allocation);
            let object = object.unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(object.refused, None, "the wide back end lacks something");
            objects.push(object);
        }
        objects
    }

    /// Translates all of it once, and prints the time.
    fn tell(&self, jit: &mut Jit, how: How) -> Duration {
        let start = Instant::now();
        let first = self.translate(jit, how, 1);
        let begins = start.elapsed();
        let begun_with = first[0].guest_insts;
        drop(first);
        let (_, before) = memory();
        let start = Instant::now();
        let all = self.translate(jit, how, usize::MAX);
        let took = start.elapsed();
        let (most, _) = memory();
        let insts: u64 = all.iter().map(|object| u64::from(object.guest_insts)).sum();
        let bytes: usize = all.iter().map(|object| object.code.len()).sum();
        println!(
            "\n{} instructions: begins after {:.1} ms, when {begun_with} are translated; {:.1} us and {:.0} bytes for \
             each; {} regions; at most {:.1} MB more memory{}",
            self.insts,
            begins.as_secs_f64() * 1e3,
            took.as_secs_f64() * 1e6 / insts as f64,
            bytes as f64 / insts as f64,
            all.len(),
            most - before,
            if took < LIMIT {
                assert!(insts >= self.insts as u64, "not all of the kernel decodes");
                String::new()
            } else {
                format!("; only {insts} until time was up")
            }
        );
        took
    }
}

/// The wide back end's instruction set on this host.
fn isa() -> Isa {
    match host::has_avx512() {
        true => Isa::Avx512,
        false => Isa::Avx2,
    }
}

/// Back end and tier.
#[derive(Clone, Copy)]
struct How {
    wide: bool,
    allocation: Allocation,
}

impl How {
    /// All that this host supports: both tiers of each back end.
    fn all() -> Vec<How> {
        let emitters = [true, false].into_iter();
        emitters
            .filter(|&wide| !wide || host::is_supported())
            .flat_map(|wide| {
                [Allocation::Baseline, Allocation::Optimizing]
                    .map(|allocation| How { wide, allocation })
            })
            .collect()
    }

    fn name(self) -> String {
        let emitter = if self.wide { "Wide" } else { "Cranelift" };
        format!("{emitter}/{:?}", self.allocation)
    }
}

/// Most time that one translation of one kernel takes here.
const LIMIT: Duration = Duration::from_secs(20);

/// Kernels of more instructions are translated once, not ten times.
const OFTEN: usize = 10_000;

/// Most memory that the process has had since the last call, and what it has now, in megabytes.
fn memory() -> (f64, f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let entry = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u32>().ok());
        f64::from(kilobytes.unwrap_or(0)) / 1024.0
    };
    let now = (entry("VmHWM:"), entry("VmRSS:"));
    // Sets the peak back. Where that is not allowed the next peak is too large.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    now
}

fn bench(c: &mut Criterion) {
    let mut jit = Jit::new(HostLevel::Native).expect("this host has a code generator");
    let kinds = [
        Kind::Straight,
        Kind::Loops,
        Kind::SmallLoops,
        Kind::Branches,
    ];
    for (kind, how) in kinds
        .iter()
        .flat_map(|&kind| How::all().into_iter().map(move |how| (kind, how)))
    {
        let mut group = c.benchmark_group(format!("translate/{kind:?}/{}", how.name()));
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(1));
        group.measurement_time(Duration::from_millis(100));
        for size in [100, 1_000, 10_000, 100_000] {
            let kernel = Kernel::new(kind, size);
            group.throughput(Throughput::Elements(kernel.insts as u64));
            let mut told = None;
            group.bench_function(BenchmarkId::from_parameter(size), |b| {
                let told = *told.get_or_insert_with(|| kernel.tell(&mut jit, how));
                if size <= OFTEN {
                    b.iter(|| black_box(kernel.translate(&mut jit, how, usize::MAX)));
                } else {
                    b.iter_custom(|times| told * times as u32);
                }
            });
        }
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
