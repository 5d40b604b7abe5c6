//! What the tests share: the agents, memory, signals and queues of a client.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Once;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering::SeqCst};

use hsa_runtime64::abi::{QueueCallback, QueueHead};
use hsa_runtime64::api::*;

/// The library, begun once.
pub(crate) fn begin() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| assert_eq!(hsa_init(), 0));
}

unsafe extern "C" fn collect(handle: u64, data: *mut c_void) -> u32 {
    // SAFETY: every caller here passes a vector.
    unsafe { &mut *data.cast::<Vec<u64>>() }.push(handle);
    0
}

/// Agents: the CPU, the GPU.
pub(crate) fn agents() -> [u64; 2] {
    begin();
    let mut found: Vec<u64> = Vec::new();
    // SAFETY: the callback takes a vector.
    let status = unsafe { hsa_iterate_agents(Some(collect), (&raw mut found).cast()) };
    assert_eq!(status, 0);
    let mut sorted = [0; 2];
    for agent in found {
        let mut kind = u32::MAX;
        // SAFETY: attribute 17 is a dword.
        let status = unsafe { hsa_agent_get_info(agent, 17, (&raw mut kind).cast()) };
        assert_eq!(status, 0);
        sorted[kind as usize] = agent;
    }
    assert!(!sorted.contains(&0));
    sorted
}

/// The memory pools of an agent.
pub(crate) fn pools(agent: u64) -> Vec<u64> {
    let mut found: Vec<u64> = Vec::new();
    // SAFETY: the callback takes a vector.
    let status = unsafe {
        hsa_amd_agent_iterate_memory_pools(agent, Some(collect), (&raw mut found).cast())
    };
    assert_eq!(status, 0);
    found
}

/// The GPU's memory.
pub(crate) fn vram() -> u64 {
    pools(agents()[1])[0]
}

/// Memory of the GPU, freed when dropped.
pub(crate) struct Buffer {
    pub(crate) at: *mut c_void,
}

impl Buffer {
    pub(crate) fn new(bytes: usize) -> Buffer {
        let mut at = null_mut();
        // SAFETY: `at` takes the result.
        let status = unsafe { hsa_amd_memory_pool_allocate(vram(), bytes, 0, &mut at) };
        assert_eq!(status, 0);
        Buffer { at }
    }

    pub(crate) fn write<T>(&self, at: usize, value: T) {
        // SAFETY: the tests stay inside what they allocated.
        unsafe {
            self.at
                .cast::<u8>()
                .add(at)
                .cast::<T>()
                .write_unaligned(value)
        };
    }

    /// Stores a dword that a kernel may access at the same time.
    pub(crate) fn store(&self, at: usize, value: u32) {
        // SAFETY: as for writing; the tests store at multiples of 4.
        let dword = unsafe { AtomicU32::from_ptr(self.at.cast::<u8>().add(at).cast()) };
        dword.store(value, SeqCst);
    }

    pub(crate) fn read<T>(&self, at: usize) -> T {
        // SAFETY: as for writing, and the tests read plain numbers.
        unsafe { self.at.cast::<u8>().add(at).cast::<T>().read_unaligned() }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: it was allocated, and nobody uses it any more.
        assert_eq!(unsafe { hsa_amd_memory_pool_free(self.at) }, 0);
    }
}

/// A signal, destroyed when dropped.
pub(crate) struct Signal(pub(crate) u64);

impl Signal {
    pub(crate) fn new(value: i64) -> Signal {
        begin();
        let mut handle = 0;
        assert_eq!(
            // SAFETY: `handle` takes the result.
            unsafe { hsa_signal_create(value, 0, null(), &mut handle) },
            0
        );
        Signal(handle)
    }

    pub(crate) fn value(&self) -> i64 {
        hsa_signal_load_scacquire(self.0)
    }

    /// Waits for 0, for 30 s at most.
    pub(crate) fn wait(&self) {
        let value = hsa_signal_wait_scacquire(self.0, 2, 1, 30_000_000_000, 0);
        assert!(value < 1, "still {value}");
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        assert_eq!(hsa_signal_destroy(self.0), 0);
    }
}

/// A queue, destroyed when dropped.
pub(crate) struct Queue(pub(crate) *mut QueueHead);

// SAFETY: the interface may be called from every thread.
unsafe impl Send for Queue {}
// SAFETY: as above.
unsafe impl Sync for Queue {}

impl Queue {
    pub(crate) fn new(size: u32) -> Queue {
        Queue::with_callback(size, None, null_mut())
    }

    pub(crate) fn with_callback(
        size: u32,
        callback: Option<QueueCallback>,
        data: *mut c_void,
    ) -> Queue {
        let mut queue = null_mut();
        let gpu = agents()[1];
        // SAFETY: `queue` takes the result; the callback takes the data.
        let status = unsafe {
            hsa_queue_create(gpu, size, 0, callback, data, u32::MAX, u32::MAX, &mut queue)
        };
        assert_eq!(status, 0);
        Queue(queue)
    }

    fn head(&self) -> &QueueHead {
        // SAFETY: the queue lives until the drop.
        unsafe { &*self.0 }
    }

    /// Puts a packet into the queue; waits while it is full.
    pub(crate) fn put(&self, packet: [u8; 64]) {
        // SAFETY: the queue lives.
        let index = unsafe { hsa_queue_add_write_index_screlease(self.0, 1) };
        let size = u64::from(self.head().size);
        // SAFETY: the queue lives.
        while index - unsafe { hsa_queue_load_read_index_scacquire(self.0) } >= size {
            std::thread::yield_now();
        }
        let slot = self.head().base_address.cast::<u8>();
        let slot = slot.wrapping_add((index % size) as usize * 64);
        // SAFETY: the slot is free and ours; its header is written last.
        unsafe {
            slot.add(2)
                .copy_from_nonoverlapping(packet[2..].as_ptr(), 62);
            let header = u16::from_le_bytes([packet[0], packet[1]]);
            AtomicU16::from_ptr(slot.cast()).store(header, SeqCst);
        }
        hsa_signal_store_screlease(self.head().doorbell_signal, index as i64);
    }

    pub(crate) fn doorbell(&self) -> u64 {
        self.head().doorbell_signal
    }

    /// Waits until everything before has ended.
    pub(crate) fn finish(&self) {
        let done = Signal::new(1);
        self.put(barrier(3, &[], done.0));
        done.wait();
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the queue lives until now.
        assert_eq!(unsafe { hsa_queue_destroy(self.0) }, 0);
    }
}

/// A packet from its words.
fn packet(header: u16, words: &[(usize, u64)]) -> [u8; 64] {
    let mut packet = [0; 64];
    packet[..2].copy_from_slice(&header.to_le_bytes());
    for &(at, word) in words {
        packet[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
    packet
}

/// A barrier packet: type 3 waits for all, 5 for one.
pub(crate) fn barrier(kind: u16, signals: &[u64], completion: u64) -> [u8; 64] {
    let mut words = vec![(56, completion)];
    words.extend(
        signals
            .iter()
            .enumerate()
            .map(|(i, &signal)| (8 + 8 * i, signal)),
    );
    packet(kind | 1 << 8, &words)
}

/// AMD's packet that waits for a value under a mask.
pub(crate) fn barrier_value(signal: u64, value: i64, mask: i64, condition: u32) -> [u8; 64] {
    let words = [
        (8, signal),
        (16, value as u64),
        (24, mask as u64),
        (32, u64::from(condition)),
    ];
    let mut packet = packet(0, &words);
    packet[2] = 2;
    packet
}

/// A kernel of one dimension.
pub(crate) fn dispatch(
    object: u64,
    grid: u32,
    workgroup: u16,
    kernarg: u64,
    completion: u64,
) -> [u8; 64] {
    let words = [
        (4, u64::from(workgroup) | 1 << 16 | 1 << 32),
        (12, u64::from(grid) | 1 << 32),
        (20, 1),
        (32, object),
        (40, kernarg),
        (56, completion),
    ];
    let mut packet = packet(2, &words);
    packet[2] = 1;
    packet
}

/// A file of the repository.
pub(crate) fn read(path: &str) -> Vec<u8> {
    let path = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

/// An executable with one code object, destroyed when dropped.
pub(crate) struct Program {
    pub(crate) executable: u64,
    _bytes: Vec<u8>,
}

impl Program {
    pub(crate) fn load(path: &str) -> Program {
        Program::of_bytes(read(path))
    }

    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Program {
        let [_, gpu] = agents();
        let (mut executable, mut reader) = (0, 0);
        // SAFETY: the results go to our variables; the bytes live as long as the program.
        unsafe {
            assert_eq!(hsa_executable_create_alt(0, 0, null(), &mut executable), 0);
            let at = bytes.as_ptr().cast();
            let status = hsa_code_object_reader_create_from_memory(at, bytes.len(), &mut reader);
            assert_eq!(status, 0);
            let status =
                hsa_executable_load_agent_code_object(executable, gpu, reader, null(), null_mut());
            assert_eq!(status, 0);
            assert_eq!(hsa_executable_freeze(executable, null()), 0);
        }
        assert_eq!(hsa_code_object_reader_destroy(reader), 0);
        Program {
            executable,
            _bytes: bytes,
        }
    }

    pub(crate) fn symbol(&self, name: &str) -> Result<u64, u32> {
        let name = CString::new(name).unwrap();
        let [_, gpu] = agents();
        let mut symbol = 0;
        // SAFETY: the results go to our variables.
        let status = unsafe {
            hsa_executable_get_symbol_by_name(self.executable, name.as_ptr(), &gpu, &mut symbol)
        };
        if status == 0 { Ok(symbol) } else { Err(status) }
    }

    /// What packets call a kernel.
    pub(crate) fn kernel(&self, name: &str) -> u64 {
        let symbol = self.symbol(&format!("{name}.kd")).unwrap();
        let mut object = 0u64;
        // SAFETY: attribute 22 is a number of 64 bits.
        let status =
            unsafe { hsa_executable_symbol_get_info(symbol, 22, (&raw mut object).cast()) };
        assert_eq!(status, 0);
        object
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        assert_eq!(hsa_executable_destroy(self.executable), 0);
    }
}

/// The saxpy example with its arguments in memory.
pub(crate) struct Saxpy {
    program: Program,
    pub(crate) x: Buffer,
    pub(crate) y: Buffer,
    pub(crate) kernarg: Buffer,
}

/// Elements of its buffers.
pub(crate) const SAXPY_LEN: u32 = 256;

impl Saxpy {
    pub(crate) fn new() -> Saxpy {
        Saxpy::of(Program::load("examples/saxpy/saxpy.gfx906.co"))
    }

    pub(crate) fn of(program: Program) -> Saxpy {
        let bytes = SAXPY_LEN as usize * 4;
        let (x, y, kernarg) = (Buffer::new(bytes), Buffer::new(bytes), Buffer::new(512));
        for at in 0..SAXPY_LEN as usize {
            x.write(4 * at, at as f32);
            y.write(4 * at, 1.0f32);
        }
        kernarg.write(0, y.at.addr());
        kernarg.write(8, x.at.addr());
        kernarg.write(16, 2.0f32);
        kernarg.write(20, SAXPY_LEN);
        // Hidden: workgroups, their size.
        kernarg.write(24, [SAXPY_LEN / 64, 1, 1]);
        kernarg.write(36, [64u16, 1, 1]);
        Saxpy {
            program,
            x,
            y,
            kernarg,
        }
    }

    pub(crate) fn packet(&self, completion: u64) -> [u8; 64] {
        let kernarg = self.kernarg.at.addr() as u64;
        dispatch(
            self.program.kernel("saxpy"),
            SAXPY_LEN,
            64,
            kernarg,
            completion,
        )
    }
}

/// A dispatch of workgroups that wait until all of them have begun.
pub(crate) struct GridBarrier {
    /// 0 when the dispatch has ended.
    pub(crate) done: Signal,
    _queue: Queue,
    _kernarg: Buffer,
    /// The barrier's words.
    pub(crate) words: Buffer,
    _program: Program,
}

impl GridBarrier {
    /// Dispatches so many workgroups, which wait until so many have arrived. Each has so many bytes of
    /// LDS.
    pub(crate) fn dispatch(groups: u32, arrivals: u32, lds: u32) -> GridBarrier {
        let program = Program::load("tests/kernels/waits/waits.gfx906.co");
        let (words, kernarg) = (Buffer::new(256), Buffer::new(512));
        (0..64).for_each(|at| words.write(4 * at, 0u32));
        kernarg.write(0, words.at.addr());
        kernarg.write(8, arrivals);
        let queue = Queue::new(64);
        let done = Signal::new(1);
        let address = kernarg.at.addr() as u64;
        let kernel = program.kernel("grid_barrier");
        let mut packet = dispatch(kernel, 64 * groups, 64, address, done.0);
        packet[28..32].copy_from_slice(&lds.to_le_bytes());
        queue.put(packet);
        GridBarrier {
            _program: program,
            _kernarg: kernarg,
            _queue: queue,
            words,
            done,
        }
    }
}
