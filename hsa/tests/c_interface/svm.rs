//! Attributes of the program's own memory.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

use hsa_runtime64::abi::SvmAttribute;
use hsa_runtime64::api::*;

use crate::support::{Buffer, Queue, SAXPY_LEN, Saxpy, Signal, agents, begin};

const PAGE: usize = 4096;

/// Pages of the program's own.
struct Pages(*mut u8, usize);

impl Pages {
    fn layout(count: usize) -> Layout {
        Layout::from_size_align(count * PAGE, PAGE).unwrap()
    }

    fn new(count: usize) -> Pages {
        begin();
        // SAFETY: the size is not 0.
        Pages(unsafe { alloc_zeroed(Pages::layout(count)) }, count)
    }

    fn at(&self, page: usize) -> *mut c_void {
        self.0.wrapping_add(page * PAGE).cast()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.0, Pages::layout(self.1)) };
    }
}

fn set(at: *mut c_void, bytes: usize, list: &[(u64, u64)]) -> u32 {
    let list: Vec<_> = list.iter().map(|&pair| attribute(pair)).collect();
    // SAFETY: as many as there are.
    unsafe { hsa_amd_svm_attributes_set(at, bytes, list.as_ptr(), list.len()) }
}

fn attribute((attribute, value): (u64, u64)) -> SvmAttribute {
    SvmAttribute { attribute, value }
}

fn get(at: *mut c_void, bytes: usize, pair: (u64, u64)) -> Result<(u64, u64), u32> {
    let mut one = attribute(pair);
    // SAFETY: one element.
    match unsafe { hsa_amd_svm_attributes_get(at, bytes, &mut one, 1) } {
        0 => Ok((one.attribute, one.value)),
        status => Err(status),
    }
}

#[test]
fn attributes_are_remembered_by_pages() {
    let [cpu, gpu] = agents();
    let pages = Pages::new(8);
    let all = 8 * PAGE;
    assert_eq!(get(pages.at(0), all, (0, 9)), Ok((0, 0)), "fine grained");
    let list = [(0, 1), (1, 1), (3, 9), (4, gpu), (6, 5)];
    assert_eq!(set(pages.at(2), PAGE + 1, &list), 0);
    for (number, value) in [(0, 1), (1, 1), (2, 0), (3, 9), (4, gpu), (6, 1), (7, 0)] {
        assert_eq!(get(pages.at(2), 2 * PAGE, (number, 0)), Ok((number, value)));
        assert_eq!(get(pages.at(4), 1, (number, 7)), Ok((number, 0)));
    }
    // Where the pages differ.
    assert_eq!(get(pages.at(0), all, (0, 0)), Ok((0, 2)));
    assert_eq!(get(pages.at(0), all, (4, cpu)), Ok((4, 0)));
    assert_eq!(
        set(pages.at(0), all, &[(0, 0), (1, 0), (3, 0), (4, 0), (6, 0)]),
        0
    );
    assert_eq!(get(pages.at(0), all, (0, 0)), Ok((0, 0)));
}

#[test]
fn wrong_attributes_are_refused() {
    let pages = Pages::new(1);
    let at = pages.at(0);
    for wrong in [(0, 2), (3, 64), (4, 4711), (5, 0), (8, 0), (0x203, 0)] {
        assert_eq!(
            set(at, PAGE, &[(1, 1), wrong]),
            if wrong.0 == 4 { 0x1004 } else { 0x1001 }
        );
    }
    assert_eq!(get(at, PAGE, (1, 0)), Ok((1, 0)), "nothing was changed");
    assert_eq!(set(at, PAGE, &[(0x200, 0)]), 0x1004);
    assert_eq!(get(at, PAGE, (0x200, 0)), Err(0x1001));
    assert_eq!(get(at, PAGE, (0x203, 4711)), Err(0x1004));
    assert_eq!(get(at, 0, (0, 0)), Err(0x1001));
    assert_eq!(get(null_mut(), PAGE, (0, 0)), Err(0x1001));
    assert_eq!(get(at, usize::MAX, (0, 0)), Err(0x1001));
    // SAFETY: nothing is read from null.
    assert_eq!(
        // SAFETY: nothing is read from null.
        unsafe { hsa_amd_svm_attributes_set(at, PAGE, null(), 1) },
        0x1001
    );
}

#[test]
fn kernels_use_memory_that_they_have_access_to() {
    let [_, gpu] = agents();
    let pages = Pages::new(4);
    let at = pages.at(1);
    assert_eq!(get(at, PAGE, (0x203, gpu)), Ok((0x202, gpu)), "no access");
    assert_eq!(set(at, PAGE, &[(0x200, gpu)]), 0);
    // A second range next to it joins it.
    assert_eq!(set(pages.at(2), PAGE, &[(0x201, gpu)]), 0);
    assert_eq!(get(at, PAGE, (0x203, gpu)), Ok((0x200, gpu)));
    assert_eq!(
        get(at, 2 * PAGE, (0x203, gpu)),
        Ok((0x202, gpu)),
        "two kinds"
    );
    let saxpy = Saxpy::new();
    // Across the border of the two.
    let y = at.wrapping_byte_add(PAGE - 64).cast::<f32>();
    saxpy.kernarg.write(0, y.addr());
    let queue = Queue::new(64);
    let done = Signal::new(1);
    queue.put(saxpy.packet(done.0));
    done.wait();
    for index in 0..SAXPY_LEN as usize {
        // SAFETY: inside the pages.
        assert_eq!(unsafe { y.add(index).read_volatile() }, 2.0 * index as f32);
    }
    drop(queue);
    assert_eq!(set(at, 2 * PAGE, &[(0x202, gpu)]), 0);
    assert_eq!(get(at, 2 * PAGE, (0x203, gpu)), Ok((0x202, gpu)));
    // Memory of a pool is accessible without more.
    let buffer = Buffer::new(PAGE);
    assert_eq!(get(buffer.at, PAGE, (0x203, gpu)), Ok((0x201, gpu)));
}

#[test]
fn prefetches_end() {
    let [cpu, gpu] = agents();
    let pages = Pages::new(2);
    let (gate, done) = (Signal::new(1), Signal::new(1));
    let prefetch = |agent, after: &[u64]| {
        // SAFETY: as many as there are.
        unsafe {
            let (count, after) = (after.len() as u32, after.as_ptr());
            hsa_amd_svm_prefetch_async(pages.at(0), PAGE, agent, count, after, done.0)
        }
    };
    assert_eq!(prefetch(gpu, &[gate.0]), 0);
    std::thread::sleep(std::time::Duration::from_millis(2));
    assert_eq!(done.value(), 1);
    hsa_signal_store_screlease(gate.0, 0);
    done.wait();
    assert_eq!(get(pages.at(0), PAGE, (5, 0)), Ok((5, gpu)));
    assert_eq!(
        get(pages.at(0), 2 * PAGE, (5, 0)),
        Ok((5, 0)),
        "not uniform"
    );
    hsa_signal_store_screlease(done.0, 1);
    assert_eq!(prefetch(cpu, &[]), 0);
    done.wait();
    assert_eq!(get(pages.at(0), PAGE, (5, 0)), Ok((5, cpu)));
    assert_eq!(prefetch(4711, &[]), 0x1004);
}
