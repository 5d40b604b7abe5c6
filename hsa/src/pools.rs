//! Memory pools, allocations, locked host memory, and pointer information. All memory is host
//! memory in the arena of guest memory: host and kernels use the same addresses, and pages are
//! committed on first touch.

pub(crate) mod share;
pub(crate) mod svm;
pub(crate) mod vmem;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::c_void;
use std::fs::File;
use std::sync::{Mutex, MutexGuard, RwLock};

use runtime::memory::Purpose;

use crate::abi::{FreeHandler, Handle, LinkInfo, Outcome, PointerInfo, Status};
use crate::agent::{self, Agent};
use crate::config::Config;
use crate::guard::{list, put, put_any};
use crate::lock::{lock, read, write};
use crate::state::Runtime;

/// Sizes are multiples of this.
pub(crate) const GRANULE: u64 = 4096;

/// LDS of a workgroup.
const LDS_BYTES: u64 = 64 << 10;

/// Where kernels see locked host memory: the host's address plus this. Host programs have no
/// addresses there, and 48 bits still hold it.
const ALIAS: u64 = 1 << 47;

/// A memory pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    /// Host memory, fine grained.
    HostFine,
    /// Host memory for kernel arguments.
    HostKernarg,
    /// Host memory, coarse grained.
    HostCoarse,
    /// The GPU's memory.
    Vram,
    /// LDS; nothing can be allocated there.
    Lds,
}

impl Pool {
    const ALL: [Pool; 5] = [
        Pool::HostFine,
        Pool::HostKernarg,
        Pool::HostCoarse,
        Pool::Vram,
        Pool::Lds,
    ];

    pub(crate) fn of(agent: Agent) -> &'static [Pool] {
        match agent {
            Agent::Cpu => &Pool::ALL[..3],
            Agent::Gpu => &Pool::ALL[3..],
        }
    }

    pub(crate) fn handle(self) -> Handle {
        0x100 + 0x10 * (self as Handle + 1)
    }

    pub(crate) fn from_handle(handle: Handle, wrong: Status) -> Outcome<Pool> {
        let mut all = Pool::ALL.into_iter();
        all.find(|pool| pool.handle() == handle).ok_or(wrong)
    }

    fn flags(self) -> u32 {
        match self {
            Pool::HostFine => 2,
            Pool::HostKernarg => 3,
            Pool::HostCoarse | Pool::Vram => 4,
            Pool::Lds => 0,
        }
    }

    fn owner(self) -> Agent {
        match self {
            Pool::Vram | Pool::Lds => Agent::Gpu,
            _ => Agent::Cpu,
        }
    }
}

// Kinds of memory of `hsa_amd_pointer_info`.
const ALLOCATED: u32 = 1;
const LOCKED: u32 = 2;
const FOREIGN: u32 = 3;
const ATTACHED: u32 = 4;
const RESERVED: u32 = 5;
const MAPPED: u32 = 6;

/// Backing of an allocation.
enum Backing {
    /// The process's own memory.
    Own,
    /// A file that other processes may attach.
    Exported(File),
    /// A file of another process's.
    Attached,
    /// A file of another driver's.
    Foreign,
}

/// An allocation.
struct Allocation {
    bytes: u64,
    pool: Pool,
    backing: Backing,
    user_data: usize,
    callbacks: Vec<(FreeHandler, usize)>,
}

impl Allocation {
    fn new(bytes: u64, pool: Pool, backing: Backing) -> Allocation {
        Allocation {
            bytes,
            pool,
            backing,
            user_data: 0,
            callbacks: Vec::new(),
        }
    }

    /// Bytes of its pages.
    fn whole(&self) -> u64 {
        self.bytes.next_multiple_of(GRANULE)
    }

    /// Its kind for `hsa_amd_pointer_info`.
    fn kind(&self) -> u32 {
        match self.backing {
            Backing::Own | Backing::Exported(_) => ALLOCATED,
            Backing::Foreign => FOREIGN,
            Backing::Attached => ATTACHED,
        }
    }
}

/// All allocations and locked ranges.
pub(crate) struct Pools {
    vram: u64,
    host: u64,
    allocations: RwLock<BTreeMap<u64, Allocation>>,
    /// Host memory that is locked, with its sizes, the newest last.
    locked: Mutex<BTreeMap<u64, Vec<u64>>>,
    /// Bytes in use: the host's pools, the GPU's.
    used: Mutex<[u64; 2]>,
    pub(crate) vmem: vmem::Vmem,
    pub(crate) svm: svm::Svm,
}

/// Memory of the host.
fn host_bytes() -> u64 {
    // SAFETY: asking the system takes no pointers.
    let (pages, page) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    let bytes = u64::try_from(pages).unwrap_or(0) * u64::try_from(page).unwrap_or(0);
    bytes.clamp(1 << 30, 40 << 30)
}

impl Pools {
    pub(crate) fn new(config: &Config) -> Pools {
        Pools {
            vram: config.vram,
            host: host_bytes(),
            allocations: RwLock::default(),
            locked: Mutex::default(),
            used: Mutex::new([0; 2]),
            vmem: vmem::Vmem::default(),
            svm: svm::Svm::default(),
        }
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<u64, Vec<u64>>> {
        lock(&self.locked)
    }

    /// Size of a pool.
    pub(crate) fn size(&self, pool: Pool) -> u64 {
        match pool {
            Pool::Vram => self.vram,
            Pool::Lds => LDS_BYTES,
            _ => self.host,
        }
    }

    /// Bytes of the GPU's memory that are free.
    pub(crate) fn vram_free(&self) -> u64 {
        let used = lock(&self.used);
        self.vram.saturating_sub(used[1])
    }

    /// Bytes of the host's memory that are free, as far as the system tells.
    pub(crate) fn host_free(&self) -> u64 {
        // SAFETY: asking the system takes no pointers.
        let (pages, page) = unsafe {
            (
                libc::sysconf(libc::_SC_AVPHYS_PAGES),
                libc::sysconf(libc::_SC_PAGESIZE),
            )
        };
        u64::try_from(pages).unwrap_or(0) * u64::try_from(page).unwrap_or(0)
    }

    fn account(&self, pool: Pool, bytes: u64) -> Outcome {
        let mut used = lock(&self.used);
        let slot = &mut used[usize::from(pool == Pool::Vram)];
        let sum = slot
            .checked_add(bytes)
            .filter(|&sum| sum <= self.size(pool));
        *slot = sum.ok_or(Status::OUT_OF_RESOURCES)?;
        Ok(())
    }

    fn unaccount(&self, pool: Pool, bytes: u64) {
        let mut used = lock(&self.used);
        let slot = &mut used[usize::from(pool == Pool::Vram)];
        *slot = slot.saturating_sub(bytes);
    }
}

/// `hsa_amd_memory_pool_get_info`.
///
/// # Safety
/// `value` must be null or fit the attribute.
pub(crate) unsafe fn info(rt: &Runtime, pool: Pool, attribute: u32, value: *mut c_void) -> Outcome {
    let size = rt.pools.size(pool);
    let allocates = pool != Pool::Lds;
    // SAFETY: the caller answers for the address; each attribute writes its own type.
    unsafe {
        match attribute {
            0 => put_any::<u32>(value, if allocates { 0 } else { 3 }),
            1 => put_any::<u32>(value, pool.flags()),
            2 => put_any::<usize>(value, size as usize),
            5 => put_any::<bool>(value, allocates),
            6 | 7 => put_any::<usize>(value, if allocates { GRANULE as usize } else { 0 }),
            15 => put_any::<bool>(value, pool.owner() == Agent::Cpu),
            16 => put_any::<usize>(value, if allocates { size as usize } else { 0 }),
            // Where it is: 0 the host, 1 a GPU; the recommended granule.
            17 => put_any::<u32>(value, u32::from(pool.owner() == Agent::Gpu)),
            18 => put_any::<usize>(value, if allocates { GRANULE as usize } else { 0 }),
            _ => Err(Status::INVALID_ARGUMENT),
        }
    }
}

/// `hsa_amd_agent_memory_pool_get_info`.
///
/// # Safety
/// `value` must be null or fit the attribute.
pub(crate) unsafe fn agent_info(
    agent: Agent,
    pool: Pool,
    attribute: u32,
    value: *mut c_void,
) -> Outcome {
    let own = pool.owner() == agent;
    let far = if agent == Agent::Cpu && own { 0 } else { 1 };
    // SAFETY: the caller answers for the address; each attribute writes its own type.
    unsafe {
        match attribute {
            // 0 never, 1 by default, 2 when allowed. LDS is private. The host could access the
            // GPU's memory, but if that is reported, HIP writes a few KiB there itself and waits
            // for the queue every time, which takes ten times as long as a copy request.
            0 => put_any::<u32>(
                value,
                match (own, pool) {
                    (true, _) => 1,
                    (false, Pool::Vram | Pool::Lds) => 0,
                    (false, _) => 2,
                },
            ),
            1 => put_any::<u32>(value, if own { 0 } else { far }),
            2 if own => Ok(()),
            2 => put_any(
                value,
                LinkInfo {
                    atomic_32: true,
                    atomic_64: true,
                    coherent: true,
                    link_type: 2,
                    numa_distance: 20,
                    max_bandwidth: 16_000,
                    min_bandwidth: 16_000,
                    ..LinkInfo::default()
                },
            ),
            _ => Err(Status::INVALID_ARGUMENT),
        }
    }
}

/// Allocates.
pub(crate) fn allocate(rt: &Runtime, pool: Pool, bytes: usize) -> Outcome<u64> {
    if pool == Pool::Lds || bytes == 0 {
        return Err(Status::INVALID_ARGUMENT);
    }
    let bytes = bytes as u64;
    let whole = bytes
        .checked_next_multiple_of(GRANULE)
        .ok_or(Status::OUT_OF_RESOURCES)?;
    rt.pools.account(pool, whole)?;
    let exact = rt.config.exact_sizes();
    let wanted = if exact { bytes } else { whole };
    let purpose = match pool {
        Pool::HostKernarg => Purpose::System,
        _ => Purpose::Data,
    };
    let address = rt.memory.alloc_for(purpose, wanted, GRANULE).map_err(|_| {
        rt.pools.unaccount(pool, whole);
        Status::OUT_OF_RESOURCES
    })?;
    let allocation = Allocation::new(bytes, pool, Backing::Own);
    write(&rt.pools.allocations).insert(address, allocation);
    Ok(address)
}

/// Removes an allocation from the list, if it is of this kind, and calls its free handlers.
fn remove(rt: &Runtime, address: u64, kind: u32) -> Option<Allocation> {
    let mut allocations = write(&rt.pools.allocations);
    let Entry::Occupied(entry) = allocations.entry(address) else {
        return None;
    };
    if entry.get().kind() != kind {
        return None;
    }
    let allocation = entry.remove();
    drop(allocations);
    for (callback, data) in &allocation.callbacks {
        let (pointer, data) = (pointer(address), pointer(*data as u64));
        // SAFETY: the program registered the function for this, with this data.
        unsafe { callback(pointer, data) };
    }
    Some(allocation)
}

/// Frees.
pub(crate) fn free(rt: &Runtime, address: u64) -> Outcome {
    let allocation = remove(rt, address, ALLOCATED).ok_or(Status::INVALID_ALLOCATION)?;
    rt.pools.unaccount(allocation.pool, allocation.whole());
    if let Backing::Exported(_) = allocation.backing {
        share::withdraw(address, allocation.whole())?;
    }
    rt.memory
        .free(address)
        .map_err(|_| Status::INVALID_ALLOCATION)
}

/// Registers or removes a function that is called when the memory at `address` is freed.
pub(crate) fn on_free(
    rt: &Runtime,
    address: u64,
    callback: FreeHandler,
    data: Option<usize>,
) -> Outcome {
    let mut allocations = write(&rt.pools.allocations);
    let (_, allocation) =
        containing(&mut allocations, address).ok_or(Status::INVALID_ALLOCATION)?;
    let callbacks = &mut allocation.callbacks;
    let found = callbacks
        .iter()
        .position(|(other, _)| std::ptr::fn_addr_eq(*other, callback));
    match (data, found) {
        (Some(data), None) => callbacks.push((callback, data)),
        (None, Some(at)) => drop(callbacks.remove(at)),
        _ => return Err(Status::INVALID_ARGUMENT),
    }
    Ok(())
}

fn containing(
    allocations: &mut BTreeMap<u64, Allocation>,
    address: u64,
) -> Option<(u64, &mut Allocation)> {
    let (&start, allocation) = allocations.range_mut(..=address).next_back()?;
    (address - start < allocation.bytes).then_some((start, allocation))
}

/// An address as a pointer.
pub(crate) fn pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Checks that agents may be allowed to use memory; they always may.
pub(crate) fn allow_access(rt: &Runtime, agents: &[Handle], address: u64) -> Outcome {
    for &agent in agents {
        Agent::from_handle(agent)?;
    }
    match containing(&mut write(&rt.pools.allocations), address) {
        Some(_) => Ok(()),
        None => Err(Status::ERROR),
    }
}

/// Shows host memory to kernels; the address that they see.
///
/// # Safety
/// The `bytes` bytes at `host` must stay valid until [`unlock_host`].
pub(crate) unsafe fn lock_host(rt: &Runtime, host: u64, bytes: usize) -> Outcome<u64> {
    if host == 0 || bytes == 0 || host.checked_add(bytes as u64).is_none() {
        return Err(Status::INVALID_ARGUMENT);
    }
    let mut locked = rt.pools.locked();
    locked.entry(host).or_default().push(bytes as u64);
    if rt.memory.contains(host, bytes as u64) {
        return Ok(host);
    }
    let guest = host + ALIAS;
    // SAFETY: the caller answers for the memory until it is unlocked; kernels race with the program at
    // their own risk.
    unsafe {
        rt.memory
            .register_host_at(guest, pointer(host).cast(), bytes);
    }
    Ok(guest)
}

/// Ends [`lock_host`].
pub(crate) fn unlock_host(rt: &Runtime, host: u64) -> Outcome {
    let mut locked = rt.pools.locked();
    // Unlocking memory that was not locked is not an error.
    let Some(sizes) = locked.get_mut(&host) else {
        return Ok(());
    };
    sizes.pop();
    if sizes.is_empty() {
        locked.remove(&host);
    }
    rt.memory.unregister_host_at(host + ALIAS);
    Ok(())
}

/// The host address of a kernel's `address`.
pub(crate) fn host_address(address: u64) -> u64 {
    if (ALIAS..2 * ALIAS).contains(&address) {
        address - ALIAS
    } else {
        address
    }
}

/// `hsa_amd_pointer_info`.
///
/// # Safety
/// `info` must be valid for as many bytes as it says, `count` and `agents` null or valid; `alloc`
/// must give memory.
pub(crate) unsafe fn pointer_info(
    rt: &Runtime,
    address: u64,
    info: *mut PointerInfo,
    alloc: Option<unsafe extern "C" fn(usize) -> *mut c_void>,
    count: *mut u32,
    agents: *mut *mut Handle,
) -> Outcome {
    if info.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    // SAFETY: not null, and begins with its size.
    let size = unsafe { info.cast::<u32>().read_unaligned() } as usize;
    if size == 0 {
        return Err(Status::INVALID_ARGUMENT);
    }
    let found = find(rt, address);
    let mut out = PointerInfo {
        size: size.min(size_of::<PointerInfo>()) as u32,
        kind: 0,
        agent_base: std::ptr::null_mut(),
        host_base: std::ptr::null_mut(),
        bytes: 0,
        user_data: std::ptr::null_mut(),
        owner: 0,
        global_flags: 0,
    };
    if let Some(found) = &found {
        out = PointerInfo {
            size: out.size,
            ..*found
        };
    }
    let bytes = std::ptr::from_ref(&out).cast::<u8>();
    // SAFETY: the caller gave as many bytes as it said, and no more than there are are written.
    unsafe { std::ptr::copy_nonoverlapping(bytes, info.cast(), out.size as usize) };
    if count.is_null() || agents.is_null() {
        return Ok(());
    }
    let (Some(alloc), Some(_)) = (alloc, &found) else {
        // SAFETY: the caller answers for it.
        return unsafe { put(count, 0) };
    };
    let accessible = [agent::CPU, agent::GPU];
    // SAFETY: the program's own allocator.
    let memory = unsafe { alloc(size_of_val(&accessible)) }.cast::<[Handle; 2]>();
    // SAFETY: the allocator gave that many bytes, which `put` checks for null; the others are the
    // caller's.
    unsafe {
        put(memory, accessible).map_err(|_| Status::OUT_OF_RESOURCES)?;
        put(agents, memory.cast())?;
        put(count, 2)
    }
}

fn find(rt: &Runtime, address: u64) -> Option<PointerInfo> {
    let allocations = read(&rt.pools.allocations);
    if let Some((&start, allocation)) = allocations.range(..=address).next_back()
        && address - start < allocation.bytes
    {
        return Some(PointerInfo {
            size: 0,
            kind: allocation.kind(),
            agent_base: pointer(start),
            host_base: pointer(start),
            bytes: allocation.bytes as usize,
            user_data: pointer(allocation.user_data as u64),
            owner: allocation.pool.owner().handle(),
            global_flags: allocation.pool.flags(),
        });
    }
    drop(allocations);
    if let Some(found) = rt.pools.vmem.find(address) {
        let pool = found.pool;
        return Some(PointerInfo {
            size: 0,
            kind: if pool.is_some() { MAPPED } else { RESERVED },
            agent_base: pointer(found.start),
            host_base: pointer(found.start),
            bytes: found.bytes as usize,
            user_data: std::ptr::null_mut(),
            owner: pool.map_or(0, |pool| pool.owner().handle()),
            global_flags: pool.map_or(0, Pool::flags),
        });
    }
    let host = host_address(address);
    let locked = rt.pools.locked();
    let (&start, sizes) = locked.range(..=host).next_back()?;
    let bytes = *sizes.iter().max()?;
    (host - start < bytes).then(|| PointerInfo {
        size: 0,
        kind: LOCKED,
        agent_base: pointer(start + ALIAS),
        host_base: pointer(start),
        bytes: bytes as usize,
        user_data: std::ptr::null_mut(),
        owner: agent::CPU,
        global_flags: 2,
    })
}

/// Attaches a program's own data to an allocation.
pub(crate) fn set_user_data(rt: &Runtime, address: u64, data: usize) -> Outcome {
    let mut allocations = write(&rt.pools.allocations);
    let (_, allocation) = containing(&mut allocations, address).ok_or(Status::INVALID_ARGUMENT)?;
    allocation.user_data = data;
    Ok(())
}

/// The agents of a list.
///
/// # Safety
/// As for [`list`].
pub(crate) unsafe fn agents<'a>(at: *const Handle, count: i64) -> Outcome<&'a [Handle]> {
    let count = usize::try_from(count).map_err(|_| Status::INVALID_ARGUMENT)?;
    // SAFETY: the caller answers for it.
    let agents = unsafe { list(at, count) }?;
    for &agent in agents {
        Agent::from_handle(agent)?;
    }
    Ok(agents)
}
