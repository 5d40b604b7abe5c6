use super::*;

fn memory() -> Memory {
    Memory::with_options(Options {
        reserve: 64 << 20,
        exact: false,
        ..Options::default()
    })
    .unwrap()
}

fn exact() -> Memory {
    Memory::with_options(Options {
        reserve: 64 << 20,
        exact: true,
        ..Options::default()
    })
    .unwrap()
}

#[test]
fn of_too_large_a_reserve_the_host_gives_a_part() {
    let reserve = u64::MAX;
    let memory = Memory::with_options(Options {
        reserve,
        ..Options::default()
    });
    let len = memory.expect("the host has some").arena_len();
    assert!((LEAST_RESERVE..MOST_RESERVE).contains(&len), "{len}");
}

#[test]
fn fresh_memory_is_zero_and_keeps_what_is_written() {
    let memory = memory();
    let a = memory.alloc(100, 4).unwrap();
    assert_eq!(memory.load::<16>(a).unwrap(), [0; 16]);
    memory.store_u32(a + 4, 0x1234_5678).unwrap();
    assert_eq!(memory.load_u8(a + 4).unwrap(), 0x78);
    assert_eq!(memory.load_u16(a + 6).unwrap(), 0x1234);
    assert_eq!(memory.load_u64(a + 4).unwrap(), 0x1234_5678);
    assert_eq!(memory.load_u32(a + 5).unwrap(), 0x0012_3456);
}

#[test]
fn every_alignment_and_length_copies_the_same_bytes() {
    let memory = memory();
    let a = memory.alloc(64, 4).unwrap();
    let bytes: Vec<u8> = (1..=40).collect();
    for offset in 0..9 {
        for len in 0..bytes.len() {
            memory.fill(a, 0xee, 64).unwrap();
            memory.write_bytes(a + offset, &bytes[..len]).unwrap();
            let mut all = [0; 64];
            memory.read_bytes(a, &mut all).unwrap();
            let at = offset as usize;
            assert_eq!(all[at..at + len], bytes[..len]);
            assert!(all[..at].iter().chain(&all[at + len..]).all(|&b| b == 0xee));
            let mut out = vec![0; len];
            memory.read_bytes(a + offset, &mut out).unwrap();
            assert_eq!(out, bytes[..len]);
        }
    }
}

#[test]
fn wild_addresses_are_refused() {
    let memory = memory();
    let a = memory.alloc(64, 4).unwrap();
    let end = a + 64;
    for address in [
        0,
        4,
        0x1000,
        memory.arena_base() - 4,
        end,
        end - 3,
        end - 1,
        1 << 48,
        u64::MAX,
    ] {
        let error = memory.load_u32(address).unwrap_err();
        assert_eq!(
            error,
            MemoryError::Unmapped {
                access: Access::Read,
                address,
                bytes: 4
            }
        );
        assert!(memory.store_u32(address, 1).is_err());
        assert!(
            memory.atomic_u32(address & !3, |old| old).is_err()
                || address == end - 3
                || address == end - 1
        );
    }
    assert!(memory.load_u32(end - 4).is_ok());
    assert!(!memory.contains(a, u64::MAX));
    assert!(memory.fill(a, 0, u64::MAX).is_err());
}

#[test]
fn the_limit_is_the_exact_end_of_what_was_ever_allocated() {
    let memory = memory();
    assert_eq!(memory.limit(), 0);
    let a = memory.alloc(64, 4).unwrap();
    assert_eq!(memory.arena_base() + memory.limit(), a + 64);
    let b = memory.alloc(30, 4).unwrap();
    assert_eq!(memory.arena_base() + memory.limit(), b + 32);
    memory.free(b).unwrap();
    assert_eq!(
        memory.arena_base() + memory.limit(),
        b + 32,
        "it never shrinks"
    );
    assert_eq!(memory.limit_cell().load(Relaxed), memory.limit());
}

#[test]
fn overruns_by_less_than_the_gap_reach_nothing() {
    let memory = memory();
    let code = memory.alloc_for(Purpose::System, 100, 4096).unwrap();
    let a = memory.alloc_for(Purpose::Buffer, 48, 256).unwrap();
    let arguments = memory.alloc_for(Purpose::Arguments, 64, 256).unwrap();
    let b = memory.alloc_for(Purpose::Buffer, 48, 256).unwrap();
    assert!(b - a >= (64 << 10) + 48);
    for system in [code, arguments] {
        assert!(
            a - system >= (64 << 10) + 100,
            "code and arguments are below"
        );
    }
    for address in [code, arguments, b] {
        memory.fill(address, 0x11, 48).unwrap();
    }
    memory.fill(a, 0xee, (64 << 10) + 48).unwrap();
    for address in [code, arguments, b] {
        assert_eq!(memory.load_u64(address), Ok(0x1111_1111_1111_1111));
    }
    let found = memory.check_marks().unwrap();
    assert_eq!((found.start, found.len, found.past), (a, 48, 0));
    // Behind the last one there is nothing.
    assert!(memory.fill(b, 0xee, 49).is_err());
}

#[test]
fn code_and_queues_are_zero_even_where_a_guest_has_written() {
    let memory = memory();
    let code = memory.alloc_for(Purpose::Code, 100, 256).unwrap();
    let queue = memory.alloc_for(Purpose::System, 100, 256).unwrap();
    memory.alloc(4, 4).unwrap();
    for start in [code, queue] {
        memory.fill(start, 0xee, 2 << 20).unwrap();
    }
    for (purpose, bytes, start) in [
        (Purpose::Structure, 320, code),
        (Purpose::Code, 1 << 20, code),
        (Purpose::System, 1 << 20, queue),
    ] {
        let block = memory.alloc_for(purpose, bytes, 256).unwrap();
        assert!(block - start < 2 << 20);
        let mut out = vec![1; bytes as usize];
        memory.read_bytes(block, &mut out).unwrap();
        assert!(out.iter().all(|&byte| byte == 0), "{purpose:?}");
    }
}

#[test]
fn guests_may_not_write_code_arguments_and_structures() {
    for memory in [memory(), exact()] {
        let alloc = |purpose| memory.alloc_for(purpose, 64, 256).unwrap();
        let (queue, data) = (alloc(Purpose::System), alloc(Purpose::Data));
        for purpose in [Purpose::Code, Purpose::Arguments, Purpose::Structure] {
            let at = alloc(purpose);
            assert!(at + 64 <= memory.arena_base() + memory.read_only());
            let refused = |access, address, bytes| MemoryError::ReadOnly {
                access,
                address,
                bytes,
            };
            let write = |address, bytes| Err(refused(Access::Write, address, bytes));
            assert_eq!(memory.store_u8(at + 63, 1), write(at + 63, 1));
            assert_eq!(memory.store_u16(at, 1), write(at, 2));
            assert_eq!(memory.store_u32(at, 1), write(at, 4));
            assert_eq!(memory.store(at, [1; 16]), write(at, 16));
            assert_eq!(memory.store_dwords(at, &[1; 3]), write(at, 12));
            assert_eq!(memory.store_bytes(at, &[1; 7]), write(at, 7));
            let atomic = |address, bytes| refused(Access::Atomic, address, bytes);
            let add = memory.atomic_u32(at, |old| old + 1);
            assert_eq!(add, Err(atomic(at, 4)));
            // That it is not aligned either does not matter.
            let add = memory.atomic_u64(at + 4, |old| old + 1);
            assert_eq!(add, Err(atomic(at + 4, 8)));
            assert_eq!(memory.load(at), Ok([0; 64]));
            memory.write_bytes(at, &[7; 32]).unwrap();
            memory.fill(at + 32, 7, 32).unwrap();
            assert_eq!(memory.load(at), Ok([7; 64]));
            let mut kind = FaultKind::from(atomic(at + 8, 4));
            memory.complete(&mut kind);
            let FaultKind::ReadOnly {
                protected: Some(found),
                ..
            } = kind
            else {
                panic!("{kind}");
            };
            assert_eq!((found.start, found.len, found.place), (at, 64, None));
        }
        for at in [queue, data] {
            memory.store_u32(at, 1).unwrap();
            memory.atomic_u32(at, |old| old + 1).unwrap();
            assert_eq!(memory.load_u32(at), Ok(2));
        }
        // Where nothing is, it is not for being read-only.
        let last = memory.arena_base() + memory.read_only() - 4;
        let refused = memory.store_u64(last, 0).unwrap_err();
        let unmapped = matches!(refused, MemoryError::Unmapped { .. });
        assert_eq!(unmapped, memory.is_exact(), "{refused}");
    }
}

#[test]
fn checked_mode_refuses_red_zones_and_freed_memory() {
    let memory = exact();
    let a = memory.alloc(64, 4).unwrap();
    let b = memory.alloc(64, 4).unwrap();
    assert_eq!(memory.limit(), 0);
    assert!(memory.load_u32(a + 60).is_ok());
    assert!(memory.load_u32(a + 64).is_err());
    memory.free(a).unwrap();
    assert!(memory.load_u32(a).is_err());
    assert_eq!(
        memory.nearest(a),
        Some(Nearest {
            start: a,
            len: 64,
            freed: true,
            scratch: None,
        })
    );
    assert!(memory.load_u32(b).is_ok());
}

#[test]
fn reused_memory_is_zero_again() {
    let memory = memory();
    for len in [100, 4096, 1 << 20] {
        let a = memory.alloc(len, 4).unwrap();
        memory.fill(a, 0xff, len).unwrap();
        memory.alloc(1, 1).unwrap();
        memory.free(a).unwrap();
        let b = memory.alloc(len, 4).unwrap();
        assert_eq!(a, b);
        let mut out = vec![1; len as usize];
        memory.read_bytes(b, &mut out).unwrap();
        assert!(out.iter().all(|&byte| byte == 0));
    }
}

#[test]
fn freeing_what_was_not_allocated_is_an_error() {
    let memory = memory();
    let a = memory.alloc(64, 4).unwrap();
    assert!(matches!(
        memory.free(a + 1),
        Err(AllocError::NotAllocated(_))
    ));
    assert!(matches!(memory.free(0), Err(AllocError::NotAllocated(0))));
    memory.free(a).unwrap();
    assert!(memory.free(a).is_err());
    assert!(matches!(memory.alloc(4, 3), Err(AllocError::Alignment(3))));
    let error = memory.alloc(1 << 40, 4).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no room for 1099511627776 bytes of guest memory (arena of 67108864 bytes, 0 in use); \
         free buffers or reserve a larger arena"
    );
}

#[test]
fn atomics_count_over_threads_and_refuse_misalignment() {
    let memory = memory();
    let a = memory.alloc(64, 8).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    memory.atomic_u32(a, |old| old + 1).unwrap();
                    memory.atomic_u64(a + 8, |old| old + (1 << 32)).unwrap();
                }
            });
        }
    });
    assert_eq!(memory.load_u32(a).unwrap(), 4000);
    assert_eq!(memory.load_u64(a + 8).unwrap(), 4000 << 32);
    assert_eq!(
        memory.atomic_u32(a + 2, |old| old),
        Err(MemoryError::Misaligned {
            access: Access::Atomic,
            address: a + 2,
            bytes: 4
        })
    );
    assert!(memory.atomic_u64(a + 4, |old| old).is_err());
    assert_eq!(memory.atomic_u32(a, |old| old).unwrap(), 4000);
}

#[test]
fn registered_host_memory_is_reached_at_its_own_address() {
    let memory = memory();
    let mut buffer = vec![1u32, 2, 3, 4];
    let ptr = buffer.as_mut_ptr().cast::<u8>();
    let address = ptr.addr() as u64;
    assert!(memory.load_u32(address).is_err());
    // SAFETY: `buffer` lives to the end of the test and is not touched until it is unregistered.
    unsafe { memory.register_host(ptr, 16) };
    assert_eq!(memory.load_u32(address + 4).unwrap(), 2);
    memory.store_u32(address, 9).unwrap();
    assert_eq!(memory.atomic_u32(address + 12, |old| old * 2).unwrap(), 4);
    assert!(memory.load_u32(address + 13).is_err());
    assert!(memory.load_u32(address.wrapping_sub(1)).is_err());
    assert!(memory.unregister_host(ptr));
    assert!(!memory.unregister_host(ptr));
    assert!(memory.load_u32(address).is_err());
    assert_eq!(buffer, [9, 2, 3, 8]);
}

#[test]
fn registered_host_memory_may_have_another_address() {
    let memory = memory();
    let mut buffer = vec![1u32, 2, 3, 4];
    let ptr = buffer.as_mut_ptr().cast::<u8>();
    let guest = ptr.addr() as u64 + (1 << 47);
    // SAFETY: `buffer` lives to the end of the test and is not touched until it is unregistered.
    unsafe { memory.register_host_at(guest, ptr, 16) };
    assert_eq!(memory.load_u32(guest + 8).unwrap(), 3);
    memory.store_u64(guest, 7 << 32 | 6).unwrap();
    assert!(memory.load_u32(ptr.addr() as u64).is_err());
    assert!(memory.load_u32(guest + 16).is_err());
    assert!(!memory.unregister_host(ptr));
    assert!(memory.unregister_host_at(guest));
    assert!(memory.load_u32(guest).is_err());
    assert_eq!(buffer, [6, 7, 3, 4]);
}

#[test]
fn a_thread_sees_registered_ranges_come_and_go() {
    let memories = [memory(), memory()];
    let mut buffers = [vec![1u32; 4], vec![2; 4]];
    let pointers = buffers
        .each_mut()
        .map(|buffer| buffer.as_mut_ptr().cast::<u8>());
    let guest = 1 << 47;
    let (to_thread, turns) = std::sync::mpsc::channel();
    let (done, seen) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let memories = &memories;
        scope.spawn(move || {
            for () in turns {
                let loaded = [0, 1].map(|i| memories[i].load_u32(guest).ok());
                done.send(loaded).expect("the test waits for it");
            }
        });
        let look = || {
            to_thread.send(()).expect("the thread waits for it");
            seen.recv().expect("the thread answers")
        };
        assert_eq!(look(), [None, None]);
        for (from, second) in [(0, 1), (1, 0)] {
            // SAFETY: the buffers live to the end of the test and are not touched meanwhile.
            unsafe {
                memories[0].register_host_at(guest, pointers[from], 16);
                assert_eq!(look(), [Some(from as u32 + 1), None]);
                memories[1].register_host_at(guest, pointers[second], 16);
            }
            assert_eq!(look(), [Some(from as u32 + 1), Some(second as u32 + 1)]);
            assert!(memories[0].unregister_host_at(guest));
            assert_eq!(look(), [None, Some(second as u32 + 1)]);
            assert!(memories[1].unregister_host_at(guest));
            assert_eq!(look(), [None, None]);
        }
        drop(to_thread);
    });
}

#[test]
fn messages_say_where_the_address_lies() {
    let memory = memory();
    let a = memory.alloc(4096, 4).unwrap();
    let message = |address: u64| {
        let mut kind = FaultKind::Memory {
            access: Access::Read,
            address,
            bytes: 4,
            nearest: None,
        };
        memory.complete(&mut kind);
        let text = kind.to_string();
        text.split_once(", ").unwrap().1.to_owned()
    };
    assert_eq!(message(0), "a null pointer");
    assert_eq!(message(16), "16 bytes from a null pointer");
    assert_eq!(
        message(a + 4096 + 64),
        "64 bytes past the end of a 4096-byte allocation"
    );
    assert_eq!(
        message(a + 4094),
        "running 2 bytes over the end of a 4096-byte allocation"
    );
    assert_eq!(message(a - 8), "8 bytes before a 4096-byte allocation");
}

#[test]
fn checked_mode_reports_reads_of_unwritten_scratch() {
    let memory = exact();
    let a = memory.alloc(64 * 16, 256).unwrap();
    assert!(memory.load_u32(a).is_ok(), "ordinary memory is not tracked");
    memory.begin_scratch(a, 64 * 16, false);
    // Bytes 2..4 of dword 1 of lane 3.
    let address = a + 256 + 3 * 4 + 2;
    let unwritten = MemoryError::Unwritten {
        offset: 6,
        bytes: 2,
    };
    assert_eq!(memory.load_u16(address), Err(unwritten));
    memory.store_u8(address, 1).unwrap();
    assert!(memory.load_u16(address).is_err(), "half of it is written");
    memory.store_u8(address + 1, 1).unwrap();
    assert_eq!(memory.load_u16(address), Ok(0x101));
    assert!(memory.contains(a, 4), "asking is not reading");
    memory.begin_scratch(a, 64 * 16, false);
    assert_eq!(memory.load_u16(address), Err(unwritten), "the next wave");
    memory.free(a).unwrap();
    assert_eq!(memory.alloc(64 * 16, 256).unwrap(), a);
    assert_eq!(memory.load_u16(address), Ok(0), "not scratch any more");
}

#[test]
fn large_allocations_are_aligned_to_large_pages() {
    let memory = memory();
    memory.alloc(1, 1).unwrap();
    let a = memory.alloc(5 << 20, 4).unwrap();
    assert_eq!(a % LARGE_PAGE, 0);
    memory.store_u32(a + (5 << 20) - 4, 7).unwrap();
    assert_eq!(memory.load_u32(a + (5 << 20) - 4), Ok(7));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn aligned_elements_are_not_torn() {
    if !std::arch::is_x86_feature_detected!("avx") {
        return;
    }
    let memory = memory();
    let a = memory.alloc(64, 16).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..200_000u32 {
                let word = n.to_le_bytes();
                let bytes: [u8; 16] = std::array::from_fn(|i| word[i % 4]);
                memory.store(a, bytes).unwrap();
            }
        });
        for _ in 0..200_000 {
            let bytes: [u8; 16] = memory.load(a).unwrap();
            assert!(
                bytes
                    .as_chunks::<4>()
                    .0
                    .iter()
                    .all(|word| word[..] == bytes[..4])
            );
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
#[cfg_attr(miri, ignore = "Miri chooses addresses itself")]
fn an_arena_lies_where_it_is_requested() {
    let options = Options {
        reserve: 64 << 20,
        address: Some(0x1200_0000_0000),
        ..Options::default()
    };
    let first = Memory::with_options(options).unwrap();
    assert_eq!(first.arena_base(), 0x1200_0000_0000);
    // Large blocks are released and cleared as in other arenas.
    let block = first.alloc(8 << 20, 256).unwrap();
    first.store_u32(block, 7).unwrap();
    first.free(block).unwrap();
    assert_eq!(first.alloc(8 << 20, 256).unwrap(), block);
    assert_eq!(first.load::<4>(block).unwrap(), [0; 4]);
    let second = Memory::with_options(options).map(|memory| memory.arena_base());
    assert!(
        matches!(
            second,
            Err(AllocError::ReserveAt {
                address: 0x1200_0000_0000,
                ..
            })
        ),
        "{second:?}"
    );
    drop(first);
    assert!(Memory::with_options(options).is_ok());
    let odd = Options {
        address: Some(0x1200_0000_0001),
        ..options
    };
    assert!(Memory::with_options(odd).is_err());
}

#[test]
fn memory_outside_of_the_arena_is_registered_at_its_address() {
    let memory = Memory::new().expect("there is room");
    let end = memory.arena_base() + memory.arena_len();
    let (first, second) = (0x4321, end + 0x1235);
    for (address, bytes) in [(first, 10), (second, 64)] {
        memory
            .alloc_at(Purpose::Data, address, bytes)
            .expect("nothing is there");
        assert_eq!(memory.allocation(address), Some(bytes));
    }
    memory
        .store_u32(first + 8, 7)
        .expect("the last dword is whole");
    assert!(memory.load_u32(first + 12).is_err());
    let inside = memory.alloc(100, 256).expect("there is room");
    let all = memory.allocations();
    assert_eq!(all, [(first, 12), (inside, 100), (second, 64)]);
    let whole = (first, 12);
    assert_eq!(memory.registered_ranges(), [whole, (second, 64)]);
    let found = memory.allocation_of(second + 63).expect("it is one");
    assert_eq!((found.start, found.len), (second, 64));
    assert!(memory.allocation_of(second + 64).is_none());

    // Where such memory is, across the border of the arena, and behind the last address there is none.
    for (address, bytes) in [
        (first + 9, 1),
        (memory.arena_base() - 1, 2),
        (end - 1, 2),
        (u64::MAX - 1, 4),
    ] {
        let error = memory.alloc_at(Purpose::Data, address, bytes);
        assert!(matches!(error, Err(AllocError::Taken { .. })), "{error:?}");
    }
    memory.free(first).expect("it is allocated");
    assert!(memory.load_u32(first).is_err());
    assert!(memory.free(first).is_err());
    memory
        .alloc_at(Purpose::Data, first, 10)
        .expect("it is free again");
    assert_eq!(memory.load_u32(first + 8).expect("it is there"), 0);
}

#[test]
fn ranges_that_overlap_are_one() {
    let memory = Memory::new().expect("there is room");
    let mut data = [1u8, 2, 3, 4, 5, 6];
    let ptr = data.as_mut_ptr();
    // SAFETY: the array lives as long as the registrations.
    unsafe {
        memory.register_host_at(0x1000, ptr, 4);
        memory.register_host_at(0x1002, ptr.add(2), 4);
        memory.register_host_at(0x1006, ptr, 2);
    }
    let ranges = memory.registered_ranges();
    assert_eq!(ranges, [(0x1000, 6), (0x1006, 2)]);
}
