//! Queues: `amd_queue_t` and a ring of packets in guest memory, a doorbell, and a thread that takes
//! the packets in order.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread::JoinHandle;

use runtime::engine::{PRIVATE_BASE, SHARED_BASE};
use runtime::memory::Purpose;
use runtime::stack;

use crate::abi::{Handle, Outcome, QueueCallback, QueueHead, Status, packet, queue_at};
use crate::agent::COMPUTE_UNITS;
use crate::clock::Place;
use crate::lock::{lock, read, write};
use crate::pools::pointer;
use crate::signal::Kind;
use crate::state::Runtime;
use crate::worker;

/// Queues that there can be at a time.
pub(crate) const MAX_QUEUES: usize = 128;

/// Packets of a queue at least and at most.
pub(crate) const MIN_SIZE: u32 = 4;
pub(crate) const MAX_SIZE: u32 = 131_072;

/// A queue.
pub(crate) struct Queue {
    /// Address of the `amd_queue_t`, which is the program's handle.
    pub(crate) address: u64,
    /// Address of the packets.
    pub(crate) ring: u64,
    /// Number of packets, a power of two.
    pub(crate) size: u32,
    pub(crate) id: u64,
    pub(crate) doorbell: Handle,
    pub(crate) callback: Option<QueueCallback>,
    pub(crate) data: usize,
    /// It takes no more packets: destroyed, inactivated, or after an error.
    pub(crate) stopped: AtomicBool,
    /// Where the thread ran that rang last.
    pub(crate) producer: Place,
    /// The worker sleeps, or is about to.
    sleeping: AtomicBool,
    bell: Mutex<()>,
    rung: Condvar,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub(crate) priority: AtomicU32,
    pub(crate) mask: Mutex<Vec<u32>>,
}

/// The compute units that there are in word `at` of a mask.
pub(crate) fn units(at: usize) -> u32 {
    let first = u32::try_from(32 * at).unwrap_or(u32::MAX);
    match COMPUTE_UNITS.saturating_sub(first) {
        0 => 0,
        units @ 1..32 => (1 << units) - 1,
        _ => u32::MAX,
    }
}

/// So many of `threads` are for a mask, at least one; 0 threads stand for `all`.
fn share(mask: &[u32], threads: usize, all: impl FnOnce() -> usize) -> usize {
    let words = mask.iter().enumerate();
    let set: u32 = words
        .map(|(at, word)| (word & units(at)).count_ones())
        .sum();
    if mask.is_empty() || set == COMPUTE_UNITS {
        return threads;
    }
    let threads = if threads == 0 { all() } else { threads };
    (threads * set as usize)
        .div_ceil(COMPUTE_UNITS as usize)
        .max(1)
}

impl Queue {
    /// Worker threads for its kernels, of those that the user set; 0 is one for each processor.
    pub(crate) fn threads(&self, threads: usize) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        share(&lock(&self.mask), threads, all)
    }

    /// A word of the structure.
    fn word(&self, at: u64) -> &AtomicU64 {
        debug_assert!(at.is_multiple_of(8) && at < queue_at::BYTES);
        // SAFETY: the structure was allocated in guest memory for this queue, 256 bytes aligned to as
        // many, and is freed after the queue; everybody accesses these words by atomics.
        unsafe { AtomicU64::from_ptr(pointer(self.address + at).cast()) }
    }

    /// Number of the next packet that a program may write.
    pub(crate) fn write_index(&self) -> &AtomicU64 {
        self.word(queue_at::WRITE_INDEX)
    }

    /// Number of the next packet to be taken.
    pub(crate) fn read_index(&self) -> &AtomicU64 {
        self.word(queue_at::READ_INDEX)
    }

    /// Address of a packet.
    pub(crate) fn packet(&self, index: u64) -> u64 {
        self.ring + (index & u64::from(self.size - 1)) * packet::BYTES
    }

    /// The header of a packet.
    pub(crate) fn header(&self, index: u64) -> &AtomicU16 {
        // SAFETY: packets are in the ring, which lives as long as the queue; programs and the
        // worker access the header as one unit.
        unsafe { AtomicU16::from_ptr(pointer(self.packet(index)).cast()) }
    }

    /// The queue was written. `answerer` is where waiters look for the queue's thread.
    pub(crate) fn ring(&self, answerer: &Place) {
        self.producer.see();
        std::sync::atomic::fence(SeqCst);
        if self.sleeping.load(SeqCst) {
            answerer.call();
            let guard = lock(&self.bell);
            drop(guard);
            self.rung.notify_all();
        }
    }

    /// Sleeps until the bell rings and `more` is true, or the queue stops.
    pub(crate) fn sleep(&self, more: impl Fn() -> bool) {
        let mut guard = lock(&self.bell);
        self.sleeping.store(true, SeqCst);
        std::sync::atomic::fence(SeqCst);
        while !more() && !self.stopped.load(SeqCst) {
            guard = match self.rung.wait(guard) {
                Ok(guard) => guard,
                Err(poisoned) => poisoned.into_inner(),
            };
        }
        self.sleeping.store(false, SeqCst);
    }

    /// Takes no more packets.
    pub(crate) fn stop(&self, rt: &Runtime) {
        self.stopped.store(true, SeqCst);
        self.ring(&rt.signals.answerer);
        // It may wait for signals.
        rt.signals.nudge();
    }

    /// The structure that programs access.
    pub(crate) fn head(&self) -> *mut QueueHead {
        pointer(self.address).cast()
    }
}

/// All queues.
pub(crate) struct Queues {
    by_address: RwLock<HashMap<u64, Arc<Queue>>>,
    by_doorbell: RwLock<HashMap<Handle, Arc<Queue>>>,
    last_id: AtomicU64,
}

impl Queues {
    pub(crate) fn new() -> Queues {
        Queues {
            by_address: RwLock::default(),
            by_doorbell: RwLock::default(),
            last_id: AtomicU64::new(0),
        }
    }

    /// The queue with this handle.
    pub(crate) fn get(&self, address: u64) -> Outcome<Arc<Queue>> {
        let map = read(&self.by_address);
        map.get(&address).cloned().ok_or(Status::INVALID_QUEUE)
    }

    /// Rings the doorbell that is this signal.
    pub(crate) fn ring(&self, doorbell: Handle, answerer: &Place) {
        let map = read(&self.by_doorbell);
        if let Some(queue) = map.get(&doorbell) {
            queue.ring(answerer);
        }
    }
}

/// Makes a queue.
pub(crate) fn create(
    rt: &'static Runtime,
    size: u32,
    kind: u32,
    callback: Option<QueueCallback>,
    data: *mut c_void,
) -> Outcome<*mut QueueHead> {
    if !size.is_power_of_two() || !(MIN_SIZE..=MAX_SIZE).contains(&size) {
        return Err(Status::INVALID_ARGUMENT);
    }
    match kind {
        // Workgroups of every launch run at the same time, so that type 2, of cooperative launches, is
        // like the others.
        0..=2 => {}
        _ => return Err(Status::INVALID_ARGUMENT),
    }
    let out_of = |_| Status::OUT_OF_RESOURCES;
    let mut map = write(&rt.queues.by_address);
    if map.len() >= MAX_QUEUES {
        return Err(Status::OUT_OF_RESOURCES);
    }
    let ring_bytes = u64::from(size) * packet::BYTES;
    let alloc = |bytes, align| rt.memory.alloc_for(Purpose::System, bytes, align);
    let address = alloc(queue_at::BYTES, 256).map_err(out_of)?;
    let ring = match alloc(ring_bytes, 4096) {
        Ok(ring) => ring,
        Err(_) => {
            let freed = rt.memory.free(address);
            debug_assert!(freed.is_ok(), "bug: the queue was allocated just now");
            return Err(Status::OUT_OF_RESOURCES);
        }
    };
    let id = rt.queues.last_id.fetch_add(1, SeqCst);
    let give_back = || {
        for block in [address, ring] {
            let freed = rt.memory.free(block);
            debug_assert!(freed.is_ok(), "bug: the queue was allocated just now");
        }
    };
    // Programs that mistake the doorbell's value for a packet's number find none.
    let doorbell = rt
        .signals
        .create(Kind::Doorbell, -1)
        .inspect_err(|_| give_back())?;
    let queue = Arc::new(Queue {
        address,
        ring,
        size,
        id,
        doorbell,
        callback,
        data: data.expose_provenance(),
        stopped: AtomicBool::new(false),
        producer: Place::new(),
        sleeping: AtomicBool::new(false),
        bell: Mutex::new(()),
        rung: Condvar::new(),
        thread: Mutex::new(None),
        priority: AtomicU32::new(1),
        mask: Mutex::new(Vec::new()),
    });
    let written = fill(rt, &queue, kind);
    debug_assert!(written.is_ok(), "bug: the queue was allocated just now");
    let worker = queue.clone();
    let thread = stack::spawn(format!("hsa queue {id}"), move || {
        worker::serve(rt, &worker)
    });
    let thread = match thread {
        Ok(thread) => thread,
        Err(_) => {
            give_back();
            rt.signals.destroy(doorbell, Kind::Doorbell)?;
            return Err(Status::OUT_OF_RESOURCES);
        }
    };
    *lock(&queue.thread) = Some(thread);
    let mut bells = write(&rt.queues.by_doorbell);
    bells.insert(doorbell, queue.clone());
    let head = queue.head();
    map.insert(address, queue);
    Ok(head)
}

/// Writes the structure and a ring of invalid packets.
fn fill(rt: &Runtime, queue: &Queue, kind: u32) -> Result<(), runtime::MemoryError> {
    const KERNEL_DISPATCH: u32 = 1;
    const IS_PTR64: u32 = 1 << 1;
    const PROFILING: u32 = 1 << 3;
    let memory = &rt.memory;
    let u32_at = |at: u64, value: u32| memory.store_u32(queue.address + at, value);
    let u64_at = |at: u64, value: u64| memory.store_u64(queue.address + at, value);
    u32_at(queue_at::TYPE, kind)?;
    u32_at(queue_at::FEATURES, KERNEL_DISPATCH)?;
    u64_at(queue_at::BASE, queue.ring)?;
    u64_at(queue_at::DOORBELL, queue.doorbell)?;
    u32_at(queue_at::SIZE, queue.size)?;
    u64_at(queue_at::ID, queue.id)?;
    u32_at(queue_at::GROUP_APERTURE, (SHARED_BASE >> 32) as u32)?;
    u32_at(queue_at::PRIVATE_APERTURE, (PRIVATE_BASE >> 32) as u32)?;
    u32_at(queue_at::MAX_CU, crate::agent::COMPUTE_UNITS - 1)?;
    u32_at(queue_at::MAX_CU + 4, crate::agent::WAVES_PER_CU - 1)?;
    u32_at(queue_at::READ_INDEX_OFFSET, queue_at::READ_INDEX as u32)?;
    u32_at(queue_at::PROPERTIES, IS_PTR64 | PROFILING)?;
    for index in 0..u64::from(queue.size) {
        memory.store_u16(queue.packet(index), u16::from(packet::INVALID))?;
    }
    Ok(())
}

/// Ends a queue; the kernel in work runs to its end first.
pub(crate) fn destroy(rt: &'static Runtime, address: u64) -> Outcome {
    let queue = {
        let mut map = write(&rt.queues.by_address);
        map.remove(&address).ok_or(Status::INVALID_QUEUE)?
    };
    let mut bells = write(&rt.queues.by_doorbell);
    bells.remove(&queue.doorbell);
    drop(bells);
    queue.stop(rt);
    let thread = lock(&queue.thread).take();
    rt.signals.destroy(queue.doorbell, Kind::Doorbell)?;
    if let Some(thread) = thread {
        if thread.thread().id() == std::thread::current().id() {
            // An error callback destroys its own queue: the memory stays.
            return Ok(());
        }
        // A worker that panicked has said so.
        let _ = thread.join();
    }
    for block in [queue.address, queue.ring] {
        let freed = rt.memory.free(block);
        debug_assert!(freed.is_ok(), "bug: a queue's memory was freed twice");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_share_the_threads() {
        assert_eq!([units(0), units(1), units(2)], [u32::MAX, (1 << 28) - 1, 0]);
        assert_eq!((share(&[], 0, || 8), share(&[], 3, || 8)), (0, 3));
        assert_eq!(share(&[u32::MAX, u32::MAX], 0, || 8), 0, "all units");
        assert_eq!(share(&[0x3fff_ffff], 0, || 8), 4, "half of them");
        assert_eq!((share(&[1], 0, || 8), share(&[0], 5, || 8)), (1, 1));
        assert_eq!(share(&[u32::MAX], 6, || 8), 4);
    }
}
