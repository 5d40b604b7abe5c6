use crate::memory::{Memory, Options, Purpose};

use super::*;

fn memory(exact: bool) -> Memory {
    Memory::with_options(Options {
        reserve: 64 << 20,
        exact,
        ..Options::default()
    })
    .unwrap()
}

fn buffer(memory: &Memory, bytes: u64) -> u64 {
    memory.alloc_for(Purpose::Buffer, bytes, 256).unwrap()
}

#[test]
fn a_write_behind_a_buffer_is_found_once() {
    let memory = memory(false);
    // Kernels may access what was allocated.
    let most = memory.alloc(50 << 20, 256).unwrap();
    memory.free(most).unwrap();
    for len in [0, 1, 4, 48, 4092, 4095, 4096, 5000, 1 << 20, 5 << 20] {
        let start = buffer(&memory, len);
        let first = len.next_multiple_of(4);
        for (past, bytes) in [
            (first, 4),
            (first + 1, 1),
            (first + 13, 7),
            (first + 4090, 3),
        ] {
            let past = past - len;
            assert_eq!(memory.check_marks(), None, "{len} {past}");
            for at in 0..bytes {
                let address = start + len + past + at;
                let old = memory.load_u8(address).unwrap();
                memory.store_u8(address, !old).unwrap();
            }
            let found = memory.check_marks();
            let expected = Overrun {
                start,
                len,
                past,
                changed: bytes,
            };
            assert_eq!(found, Some(expected), "{len} {past}");
        }
        assert_eq!(memory.check_marks(), None);
        memory.fill(start + first, 0, 4096).unwrap();
        let found = memory.check_marks().unwrap();
        // Some bytes of the marks are 0.
        assert!(found.past < first - len + 8, "{found:?}");
        assert!(found.changed > 4000, "{found:?}");
        memory.free(start).unwrap();
    }
}

#[test]
fn the_lowest_buffer_is_named_and_all_marks_are_restored() {
    let memory = memory(false);
    let buffers = [1000, 2000, 3000].map(|len| (buffer(&memory, len), len));
    buffer(&memory, 4);
    for &(start, len) in buffers[1..].iter().rev() {
        let old = memory.load_u8(start + len + 8).unwrap();
        memory.store_u8(start + len + 8, !old).unwrap();
    }
    let found = memory.check_marks().unwrap();
    assert_eq!((found.start, found.past), (buffers[1].0, 8));
    assert_eq!(memory.check_marks(), None);
}

#[test]
fn what_is_inside_or_freed_changes_no_mark() {
    let memory = memory(false);
    let start = buffer(&memory, 1002);
    let data = memory.alloc(1000, 256).unwrap();
    buffer(&memory, 4);
    memory.fill(start, 0xff, 1004).unwrap();
    memory.fill(data, 0xff, 2000).unwrap();
    assert_eq!(memory.check_marks(), None, "data has no marks");
    let old = memory.load_u32(start + 1004).unwrap();
    memory.store_u32(start + 1004, !old).unwrap();
    memory.free(start).unwrap();
    memory.free(data).unwrap();
    assert_eq!(memory.check_marks(), None, "there is no buffer any more");
    // Where marks were is memory of zeros.
    let again = buffer(&memory, 8000);
    assert_eq!(again, start);
    let mut bytes = vec![1; 8000];
    memory.read_bytes(again, &mut bytes).unwrap();
    assert!(bytes.iter().all(|&byte| byte == 0));
}

#[test]
fn checked_mode_needs_no_marks() {
    let memory = memory(true);
    let start = buffer(&memory, 16);
    assert!(memory.store_u32(start + 16, 7).is_err());
    assert_eq!(memory.check_marks(), None);
    assert_eq!(memory.marks.count.load(Relaxed), 0);
}

#[test]
fn an_arena_that_is_nearly_full_has_smaller_marks() {
    let memory = memory(false);
    let mut buffers = Vec::new();
    while let Ok(start) = memory.alloc_for(Purpose::Buffer, 1 << 20, 256) {
        buffers.push(start);
    }
    assert!(buffers.len() > 50, "{}", buffers.len());
    for pair in buffers.windows(2) {
        let end = pair[0] + (1 << 20);
        assert!(pair[1] > end);
        let old = memory.load_u8(end + 3).unwrap();
        memory.store_u8(end + 3, !old).unwrap();
        assert_eq!(memory.check_marks().unwrap().past, 3);
    }
}
