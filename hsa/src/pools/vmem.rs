//! Virtual memory that a program manages itself: address ranges, memory without an address, and maps of
//! one into the other. A range is an allocation in guest memory whose pages are zeros; memory is an
//! anonymous file, and a map replaces pages of a range by it, so that the same memory may be seen at several
//! addresses, and in several processes.
//!
//! Permissions are remembered and reported. Kernels run on the host's processors, so the pages of a map
//! are accessible to both agents, and those of a range without a map read as zeros.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::os::fd::{AsRawFd as _, IntoRawFd as _};
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, Mutex, MutexGuard};

use super::share;
use super::{GRANULE, Pool};
use crate::abi::{Handle, Outcome, Status};
use crate::agent::{self, Agent};
use crate::lock::lock;
use crate::state::Runtime;

/// Memory without an address.
struct Block {
    file: File,
    bytes: u64,
    pool: Pool,
    /// `hsa_amd_memory_type_t`.
    kind: u32,
    /// It counts as used memory of the pool; memory of another process does not.
    counted: bool,
}

/// A handle, and how often it must be released.
struct Named {
    block: Arc<Block>,
    users: u32,
}

/// Memory at an address.
struct Map {
    bytes: u64,
    handle: Handle,
    block: Arc<Block>,
    /// Permissions of the CPU and the GPU, where they were set.
    access: [Option<u32>; 2],
}

/// An address range.
struct Range {
    bytes: u64,
    maps: BTreeMap<u64, Map>,
}

#[derive(Default)]
struct Inner {
    ranges: BTreeMap<u64, Range>,
    named: HashMap<Handle, Named>,
    last: Handle,
}

/// All ranges and handles.
#[derive(Default)]
pub(crate) struct Vmem(Mutex<Inner>);

/// What is known of an address in a range.
pub(crate) struct Found {
    /// Begin of the map, or of the range.
    pub(crate) start: u64,
    /// Its size.
    pub(crate) bytes: u64,
    /// The pool of the memory that is mapped there.
    pub(crate) pool: Option<Pool>,
}

impl Vmem {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        lock(&self.0)
    }

    /// What an address belongs to.
    pub(crate) fn find(&self, address: u64) -> Option<Found> {
        let inner = self.inner();
        let (start, range) = inner.containing(address)?;
        let map = range.maps.range(..=address).next_back();
        let map = map.filter(|(start, map)| address - **start < map.bytes);
        Some(match map {
            Some((&start, map)) => Found {
                start,
                bytes: map.bytes,
                pool: Some(map.block.pool),
            },
            None => Found {
                start,
                bytes: range.bytes,
                pool: None,
            },
        })
    }
}

impl Inner {
    /// The range that has an address.
    fn containing(&self, address: u64) -> Option<(u64, &Range)> {
        let (&start, range) = self.ranges.range(..=address).next_back()?;
        (address - start < range.bytes).then_some((start, range))
    }

    fn containing_mut(&mut self, address: u64) -> Option<(u64, &mut Range)> {
        let (&start, range) = self.ranges.range_mut(..=address).next_back()?;
        (address - start < range.bytes).then_some((start, range))
    }

    /// The map that begins at an address.
    fn map_at(&mut self, address: u64) -> Outcome<&mut Map> {
        let range = self.containing_mut(address);
        let map = range.and_then(|(_, range)| range.maps.get_mut(&address));
        map.ok_or(Status::INVALID_ALLOCATION)
    }

    fn named(&self, handle: Handle) -> Outcome<&Named> {
        self.named.get(&handle).ok_or(Status::INVALID_ALLOCATION)
    }

    /// A handle for memory that has none.
    fn name(&mut self, block: Block) -> Handle {
        self.last += 1;
        let block = Arc::new(block);
        self.named.insert(self.last, Named { block, users: 1 });
        self.last
    }
}

fn whole_pages(bytes: usize) -> Outcome<u64> {
    let bytes = bytes as u64;
    match bytes != 0 && bytes.is_multiple_of(GRANULE) {
        true => Ok(bytes),
        false => Err(Status::INVALID_ARGUMENT),
    }
}

/// `hsa_amd_vmem_address_reserve_align`. A requested address is a wish, which is not granted.
pub(crate) fn reserve(rt: &Runtime, bytes: usize, align: u64) -> Outcome<u64> {
    let bytes = whole_pages(bytes)?;
    let align = if align == 0 { GRANULE } else { align };
    if !align.is_power_of_two() || align < GRANULE {
        return Err(Status::INVALID_ARGUMENT);
    }
    let address = rt.memory.alloc_sparse(bytes, align);
    let address = address.map_err(|_| Status::OUT_OF_RESOURCES)?;
    let maps = BTreeMap::new();
    let range = Range { bytes, maps };
    rt.pools.vmem.inner().ranges.insert(address, range);
    Ok(address)
}

/// `hsa_amd_vmem_address_free`.
pub(crate) fn free(rt: &Runtime, address: u64, bytes: usize) -> Outcome {
    let mut inner = rt.pools.vmem.inner();
    let range = inner.ranges.get(&address);
    let range = range.ok_or(Status::INVALID_ALLOCATION)?;
    if range.bytes != bytes as u64 {
        return Err(Status::INVALID_ARGUMENT);
    }
    if !range.maps.is_empty() {
        return Err(Status::RESOURCE_FREE);
    }
    inner.ranges.remove(&address);
    rt.memory.free(address).map_err(|_| Status::ERROR)
}

/// `hsa_amd_vmem_handle_create`.
pub(crate) fn create(rt: &Runtime, pool: Pool, bytes: usize, kind: u32) -> Outcome<Handle> {
    let bytes = whole_pages(bytes)?;
    if kind > 1 {
        return Err(Status::INVALID_ARGUMENT);
    }
    if pool == Pool::Lds {
        return Err(Status::INVALID_ALLOCATION);
    }
    rt.pools.account(pool, bytes)?;
    let file = share::new_file(bytes).inspect_err(|_| rt.pools.unaccount(pool, bytes))?;
    Ok(rt.pools.vmem.inner().name(Block {
        file,
        bytes,
        pool,
        kind,
        counted: true,
    }))
}

/// Ends a use of memory: it is free when neither handles nor maps use it.
fn give_up(rt: &Runtime, block: Arc<Block>) {
    if let Some(block) = Arc::into_inner(block)
        && block.counted
    {
        rt.pools.unaccount(block.pool, block.bytes);
    }
}

/// `hsa_amd_vmem_handle_release`.
pub(crate) fn release(rt: &Runtime, handle: Handle) -> Outcome {
    let mut inner = rt.pools.vmem.inner();
    let named = inner.named.get_mut(&handle);
    let named = named.ok_or(Status::INVALID_ALLOCATION)?;
    named.users -= 1;
    if named.users == 0
        && let Some(named) = inner.named.remove(&handle)
    {
        give_up(rt, named.block);
    }
    Ok(())
}

/// `hsa_amd_vmem_map`: all of a handle's memory.
pub(crate) fn map(
    rt: &Runtime,
    address: u64,
    bytes: usize,
    offset: usize,
    handle: Handle,
) -> Outcome {
    let bytes = whole_pages(bytes)?;
    let mut inner = rt.pools.vmem.inner();
    let block = inner.named(handle).map_err(|_| Status::INVALID_ARGUMENT)?;
    let block = block.block.clone();
    let end = address.checked_add(bytes).ok_or(Status::INVALID_ARGUMENT)?;
    let range = inner.containing_mut(address);
    let (start, range) = range.ok_or(Status::INVALID_ARGUMENT)?;
    let taken = range.maps.range(..end).next_back();
    let overlap = taken.is_some_and(|(&start, map)| start + map.bytes > address);
    let inside = address.is_multiple_of(GRANULE) && end <= start + range.bytes;
    if !inside || overlap || offset != 0 || bytes != block.bytes {
        return Err(Status::INVALID_ARGUMENT);
    }
    share::map(address, bytes, Some(&block.file))?;
    let access = [None; 2];
    let map = Map {
        bytes,
        handle,
        block,
        access,
    };
    range.maps.insert(address, map);
    Ok(())
}

/// `hsa_amd_vmem_unmap`.
pub(crate) fn unmap(rt: &Runtime, address: u64, bytes: usize) -> Outcome {
    let mut inner = rt.pools.vmem.inner();
    let map = inner.map_at(address)?;
    if map.bytes != bytes as u64 {
        return Err(Status::INVALID_ARGUMENT);
    }
    share::withdraw(address, map.bytes)?;
    let range = inner.containing_mut(address);
    if let Some(map) = range.and_then(|(_, range)| range.maps.remove(&address)) {
        give_up(rt, map.block);
    }
    Ok(())
}

/// `hsa_amd_vmem_set_access` of whole maps, for each agent and its permissions: 0 none, 1 read, 2 write, 3 both.
pub(crate) fn set_access(
    rt: &Runtime,
    address: u64,
    bytes: usize,
    list: &[(u32, Agent)],
) -> Outcome {
    let mut inner = rt.pools.vmem.inner();
    inner.map_at(address)?;
    let end = address.checked_add(bytes as u64);
    let end = end.ok_or(Status::INVALID_ARGUMENT)?;
    let range = inner.containing_mut(address);
    let (_, range) = range.ok_or(Status::INVALID_ALLOCATION)?;
    // The maps must follow one another without a gap, to the end.
    let mut maps = range.maps.range(address..end);
    let covered = maps.try_fold(address, |at, (&start, map)| {
        (at == start).then(|| at.checked_add(map.bytes))?
    });
    if covered != Some(end) || list.iter().any(|&(permissions, _)| permissions > 3) {
        return Err(Status::INVALID_ARGUMENT);
    }
    for (_, map) in range.maps.range_mut(address..end) {
        for &(permissions, agent) in list {
            map.access[agent as usize] = Some(permissions);
        }
    }
    Ok(())
}

/// `hsa_amd_vmem_get_access`.
pub(crate) fn access(rt: &Runtime, address: u64, agent: Agent) -> Outcome<u32> {
    let mut inner = rt.pools.vmem.inner();
    let found = inner.map_at(address)?.access[agent as usize];
    found.ok_or(Status::INVALID_ALLOCATION)
}

/// `hsa_amd_vmem_export_shareable_handle`: a file that other processes may import.
pub(crate) fn export(rt: &Runtime, handle: Handle) -> Outcome<i32> {
    let inner = rt.pools.vmem.inner();
    let file = inner.named(handle)?.block.file.try_clone();
    let file = file.map_err(|_| Status::OUT_OF_RESOURCES)?;
    Ok(file.into_raw_fd())
}

/// `hsa_amd_vmem_import_shareable_handle`. Memory of this process gets its own handle once more.
pub(crate) fn import(rt: &Runtime, number: i32) -> Outcome<Handle> {
    let file = share::duplicate(number).map_err(|_| Status::INVALID_ALLOCATION)?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let name = std::fs::read_link(path).map_err(|_| Status::INVALID_ALLOCATION)?;
    if !name
        .as_os_str()
        .as_encoded_bytes()
        .starts_with(share::FILE_NAME)
    {
        return Err(Status::INVALID_ALLOCATION);
    }
    let data = file.metadata().map_err(|_| Status::INVALID_ALLOCATION)?;
    let same = |block: &Block| {
        let other = block.file.metadata();
        other.is_ok_and(|other| (other.dev(), other.ino()) == (data.dev(), data.ino()))
    };
    let mut inner = rt.pools.vmem.inner();
    let known = inner.named.iter_mut().find(|(_, named)| same(&named.block));
    if let Some((&handle, named)) = known {
        named.users = named.users.checked_add(1).ok_or(Status::OUT_OF_RESOURCES)?;
        return Ok(handle);
    }
    let bytes = whole_pages(data.len() as usize).map_err(|_| Status::INVALID_ALLOCATION)?;
    Ok(inner.name(Block {
        file,
        bytes,
        pool: Pool::Vram,
        kind: 0,
        counted: false,
    }))
}

/// `hsa_amd_vmem_retain_alloc_handle`: the handle of the memory at an address, once more.
pub(crate) fn retain(rt: &Runtime, address: u64) -> Outcome<Handle> {
    let mut inner = rt.pools.vmem.inner();
    let range = inner.containing(address);
    let map = range.and_then(|(_, range)| {
        let (&start, map) = range.maps.range(..=address).next_back()?;
        (address - start < map.bytes).then_some(map)
    });
    let (handle, block) = map
        .map(|map| (map.handle, map.block.clone()))
        .ok_or(Status::INVALID_ALLOCATION)?;
    // A handle that was released for the last time is valid again.
    let named = inner.named.entry(handle);
    let named = named.or_insert(Named { block, users: 0 });
    named.users = named.users.checked_add(1).ok_or(Status::OUT_OF_RESOURCES)?;
    Ok(handle)
}

/// `hsa_amd_vmem_get_alloc_properties_from_handle`: the pool and the type.
pub(crate) fn properties(rt: &Runtime, handle: Handle) -> Outcome<(Handle, u32)> {
    let inner = rt.pools.vmem.inner();
    let block = &inner.named(handle)?.block;
    Ok((block.pool.handle(), block.kind))
}

const _: () = assert!(
    Agent::Cpu as usize == 0 && Agent::Gpu as usize == 1 && agent::CPU != agent::GPU,
    "the agents number the permissions"
);
