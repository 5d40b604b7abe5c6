//! The structures of a dispatch that a kernel may read through its pointers: the AQL packet
//! (`hsa_kernel_dispatch_packet_t`) and the queue (`amd_queue_t`).

use super::registers::scratch_descriptor;
use super::shape::Shape;
use crate::engine::{PRIVATE_BASE, SHARED_BASE};

/// Size of an AQL packet.
pub(super) const PACKET_BYTES: usize = 64;

/// Size of `amd_queue_t`.
pub(super) const QUEUE_BYTES: usize = 256;

/// Fields of the packet besides the geometry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PacketFacts {
    pub(super) private_bytes: u32,
    pub(super) group_bytes: u32,
    /// Address of the kernel descriptor.
    pub(super) kernel_object: u64,
    pub(super) kernarg: u64,
}

/// Builds the packet.
pub(super) fn packet(shape: &Shape, facts: &PacketFacts) -> [u8; PACKET_BYTES] {
    // Kernel dispatch, barrier bit clear, system scope acquire and release.
    const HEADER: u16 = 2 | 2 << 9 | 2 << 11;
    let mut out = Fields::<PACKET_BYTES>::new();
    out.put(0, HEADER.to_le_bytes());
    out.put(2, shape.dims.to_le_bytes());
    for (dim, at) in [(0, 4), (1, 6), (2, 8)] {
        out.put(at, (shape.workgroup[dim] as u16).to_le_bytes());
    }
    for (dim, at) in [(0, 12), (1, 16), (2, 20)] {
        out.put(at, shape.grid[dim].to_le_bytes());
    }
    out.put(24, facts.private_bytes.to_le_bytes());
    out.put(28, facts.group_bytes.to_le_bytes());
    out.put(32, facts.kernel_object.to_le_bytes());
    out.put(40, facts.kernarg.to_le_bytes());
    out.0
}

/// Fields of the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QueueFacts {
    /// Address of the packets.
    pub(super) packets: u64,
    /// Number of the packet in work.
    pub(super) dispatch_id: u64,
    /// Scratch: first byte and size, 0 for none.
    pub(super) scratch: (u64, u64),
    /// gfx7 and gfx8: base of scratch addresses; 0 on gfx9.
    pub(super) hidden_base: u64,
    /// Scratch bytes of a lane.
    pub(super) lane_bytes: u32,
}

/// Builds the queue.
pub(super) fn queue(facts: &QueueFacts) -> [u8; QUEUE_BYTES] {
    const KERNEL_DISPATCH: u32 = 1;
    const IS_PTR64: u32 = 1 << 1;
    let mut out = Fields::<QUEUE_BYTES>::new();
    out.put(4, KERNEL_DISPATCH.to_le_bytes());
    out.put(8, facts.packets.to_le_bytes());
    out.put(24, 1u32.to_le_bytes());
    out.put(0x38, (facts.dispatch_id + 1).to_le_bytes());
    out.put(0x40, ((SHARED_BASE >> 32) as u32).to_le_bytes());
    out.put(0x44, ((PRIVATE_BASE >> 32) as u32).to_le_bytes());
    out.put(0x80, facts.dispatch_id.to_le_bytes());
    out.put(0x88, 0x80u32.to_le_bytes());
    for (i, word) in scratch_descriptor(facts.scratch).into_iter().enumerate() {
        out.put(0x90 + 4 * i, word.to_le_bytes());
    }
    let location = facts.scratch.0.wrapping_sub(facts.hidden_base);
    out.put(0xa0, location.to_le_bytes());
    out.put(0xa8, facts.scratch.1.to_le_bytes());
    out.put(0xb0, facts.lane_bytes.to_le_bytes());
    out.put(0xb4, IS_PTR64.to_le_bytes());
    out.0
}

/// Bytes with fields at offsets.
struct Fields<const N: usize>([u8; N]);

impl<const N: usize> Fields<N> {
    fn new() -> Fields<N> {
        Fields([0; N])
    }

    fn put<const B: usize>(&mut self, at: usize, bytes: [u8; B]) {
        self.0[at..at + B].copy_from_slice(&bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn u32_at(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(*bytes[at..].first_chunk().unwrap())
    }

    fn u64_at(bytes: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(*bytes[at..].first_chunk().unwrap())
    }

    #[test]
    fn the_packet_tells_sizes_and_addresses() {
        let shape = Shape::new([1000, 20, 1], [256, 2, 1], 2).unwrap();
        let packet = packet(
            &shape,
            &PacketFacts {
                private_bytes: 48,
                group_bytes: 512,
                kernel_object: 0x1122_3344_5566,
                kernarg: 0x7788_99aa_bbcc,
            },
        );
        assert_eq!(packet[0], 2, "a kernel dispatch");
        assert_eq!(packet[2..12], [2, 0, 0, 1, 2, 0, 1, 0, 0, 0]);
        assert_eq!([12, 16, 20].map(|at| u32_at(&packet, at)), [1000, 20, 1]);
        assert_eq!([24, 28].map(|at| u32_at(&packet, at)), [48, 512]);
        assert_eq!(u64_at(&packet, 32), 0x1122_3344_5566);
        assert_eq!(u64_at(&packet, 40), 0x7788_99aa_bbcc);
        assert_eq!(u64_at(&packet, 56), 0, "no completion signal");
    }

    #[test]
    fn the_queue_tells_apertures_and_scratch() {
        let queue = queue(&QueueFacts {
            packets: 0x4000,
            dispatch_id: 6,
            scratch: (0x7f00_0001_0000, 0x2000),
            hidden_base: 0,
            lane_bytes: 32,
        });
        assert_eq!(u64_at(&queue, 8), 0x4000);
        assert_eq!(u64::from(u32_at(&queue, 0x40)) << 32, SHARED_BASE);
        assert_eq!(u64::from(u32_at(&queue, 0x44)) << 32, PRIVATE_BASE);
        assert_eq!(u64_at(&queue, 0x80), 6);
        assert_eq!(u64_at(&queue, 0x38), 7);
        assert_eq!(
            [0x90, 0x94, 0x98, 0x9c].map(|at| u32_at(&queue, at)),
            [0x0001_0000, 0x8000_7f00, 0x2000, 0x00ea_4fac]
        );
        assert_eq!(u64_at(&queue, 0xa0), 0x7f00_0001_0000);
        assert_eq!(u32_at(&queue, 0xb0), 32);
    }
}
