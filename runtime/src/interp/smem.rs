//! SMEM and SMRD: scalar loads, stores and atomics, and the clocks.

use std::sync::OnceLock;
use std::time::Instant;

use frontend::Op;
use frontend::inst::Operand;
use frontend::op::{Atomic, Space};
use frontend::ops;

use super::atomic::{Operands, apply, apply32, apply64};
use super::observe::{Accessed, Observer};
use super::operand::Exec;
use super::stop::{Run, Stop};
use crate::fault::Access;
use crate::math::Denorm;
use crate::memory::MemoryError;

/// Nanoseconds since the first call; monotonic.
fn clock() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

fn stop(error: MemoryError) -> Stop {
    Stop::wave(error.into())
}

/// A scalar access: a base, and for buffers the size that accesses are checked against.
pub(super) struct Target {
    base: u64,
    offset: u64,
    size: Option<u64>,
}

impl Target {
    /// Address of the dword `i`, unless it lies outside the buffer.
    pub(super) fn dword(&self, i: usize) -> Option<u64> {
        let offset = self.offset.wrapping_add(4 * i as u64);
        match self.size {
            Some(size) if offset >= size => None,
            _ => Some(self.base.wrapping_add(offset)),
        }
    }
}

impl<O: Observer> Exec<'_, '_, O> {
    /// One instruction of scalar memory.
    pub(crate) fn exec_smem(&mut self) -> Run<()> {
        let inst = self.inst;
        match inst.op() {
            Op::Load(space, _) => {
                let target = self.smem_target(space)?;
                let count = inst.dst_ty(0).regs() as usize;
                let mut words = [0; 16];
                // All dwords are read before any register is written: they may hold the address.
                if target.size.is_none() {
                    let address = target.base.wrapping_add(target.offset);
                    let words = &mut words[..count];
                    let loaded = self.group.memory.load_dwords(address, words);
                    loaded.map_err(stop)?;
                    self.observer
                        .note(|| Accessed::scalar(Access::Read, address, words));
                } else {
                    for (i, word) in words.iter_mut().enumerate().take(count) {
                        if let Some(address) = target.dword(i) {
                            *word = self.group.memory.load_u32(address).map_err(stop)?;
                            self.observer
                                .note(|| Accessed::scalar(Access::Read, address, &[*word]));
                        }
                    }
                }
                self.set_uniform(inst.dst[0], &words[..count])
            }
            Op::Store(space, _) => {
                let target = self.smem_target(space)?;
                let count = inst.src_ty(2).regs() as usize;
                let words = self.uniform_words(inst.src[2], count)?;
                if target.size.is_none() {
                    let address = target.base.wrapping_add(target.offset);
                    let words = &words[..count];
                    let memory = self.group.memory;
                    self.observer.before_store(memory, address, 4 * count);
                    let stored = memory.store_dwords(address, words);
                    stored.map_err(stop)?;
                    self.observer
                        .note(|| Accessed::scalar(Access::Write, address, words));
                    return Ok(());
                }
                for (i, &word) in words.iter().enumerate().take(count) {
                    if let Some(address) = target.dword(i) {
                        let memory = self.group.memory;
                        self.observer.before_store(memory, address, 4);
                        memory.store_u32(address, word).map_err(stop)?;
                        self.observer
                            .note(|| Accessed::scalar(Access::Write, address, &[word]));
                    }
                }
                Ok(())
            }
            Op::Atomic(space, op) => self.smem_atomic(space, op),
            Op::MemTime | Op::MemRealtime => {
                // The constant clock of the hardware runs at 100 MHz.
                let now = if inst.op() == Op::MemTime {
                    clock()
                } else {
                    clock() / 10
                };
                self.set_uniform64(inst.dst[0], now)
            }
            Op::CacheCtl => Ok(()),
            Op::StoreLds | Op::Image(_) | Op::Export => self.unknown(),
            ops!(alu | salu | valu | lds) => self.unknown(),
        }
    }

    /// Up to four scalar registers.
    fn uniform_words(&self, operand: Operand, count: usize) -> Run<[u32; 4]> {
        let mut words = [0; 4];
        match count {
            1 => words[0] = self.uniform32(operand)?,
            2 => words[..2].copy_from_slice(&self.uniform_block::<2>(operand)?),
            4 => words = self.uniform_block::<4>(operand)?,
            _ => return self.unknown(),
        }
        Ok(words)
    }

    /// Base and offset. The low two bits of every part are ignored.
    pub(super) fn smem_target(&self, space: Space) -> Run<Target> {
        let inst = self.inst;
        let register = if inst.src[1] == Operand::None {
            0
        } else if space == Space::ScalarScratch {
            // Scratch offsets are in units of 64 bytes, so every bit counts there.
            u64::from(self.uniform32(inst.src[1])?) * 64
        } else {
            u64::from(self.uniform32(inst.src[1])? & !3)
        };
        let immediate = if space == Space::ScalarBuffer && self.gfx.is_gfx9() {
            // Unsigned here, unlike in the plain forms of gfx9.
            inst.mem.offset & 0xf_ffff
        } else {
            inst.mem.offset
        };
        let offset = register.wrapping_add_signed(immediate & !3);
        if space != Space::ScalarBuffer {
            return Ok(Target {
                base: self.uniform64(inst.src[0])? & !3,
                offset,
                size: None,
            });
        }
        let [v0, v1, records, _] = self.uniform_block::<4>(inst.src[0])?;
        let stride = u64::from(v1 >> 16 & 0x3fff);
        let records = u64::from(records);
        Ok(Target {
            base: (u64::from(v0) | u64::from(v1 & 0xffff) << 32) & !3,
            offset,
            size: Some(if stride == 0 {
                records
            } else {
                stride * records
            }),
        })
    }

    fn smem_atomic(&mut self, space: Space, op: Atomic) -> Run<()> {
        let inst = self.inst;
        let target = self.smem_target(space)?;
        let wide = inst.dst_ty(0).bits() == 64;
        let count = inst.src_ty(2).regs() as usize;
        let words = self.uniform_words(inst.src[2], count)?;
        let [w0, w1, w2, w3] = words.map(u64::from);
        // Compare-and-swap: the new value, then the compare value.
        let operands = match wide {
            true => Operands {
                data: w0 | w1 << 32,
                other: w2 | w3 << 32,
            },
            false => Operands {
                data: w0,
                other: w1,
            },
        };
        // All or nothing.
        let last = if wide { 7 } else { 3 };
        let inside = target.size.is_none_or(|size| target.offset + last < size);
        let address = target.base.wrapping_add(target.offset);
        let old = match inside.then_some(address) {
            None => 0,
            Some(address) if wide => self
                .group
                .memory
                .atomic_u64(address, |old| apply64(op, old, operands, Denorm::KEEP))
                .map_err(stop)?,
            Some(address) => {
                let operands = Operands {
                    data: operands.data as u32,
                    other: operands.other as u32,
                };
                let update = |old| apply32(op, old, operands, Denorm::KEEP);
                let old = self.group.memory.atomic_u32(address, update);
                u64::from(old.map_err(stop)?)
            }
        };
        if inside {
            self.observer.note(|| {
                let new = apply(op, old, operands, wide, Denorm::KEEP);
                Accessed::atomic(false, None, address, (old, new), wide)
            });
        }
        if inst.dst[0] == Operand::None {
            Ok(())
        } else if wide {
            self.set_uniform64(inst.dst[0], old)
        } else {
            self.set_uniform(inst.dst[0], &[old as u32])
        }
    }
}
