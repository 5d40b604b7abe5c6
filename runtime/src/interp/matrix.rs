//! The matrix unit of CDNA: matrix products whose factors and sums lie in the registers of a whole
//! wave, and moves of accumulation registers.
//!
//! Sources: the CDNA1, CDNA2 and CDNA3 ISA manuals (M1, M2, M3); AMD's matrix instruction
//! calculator (C), whose layouts are these; MMA-Sim (S; arXiv 2511.10909), which gives the only
//! numerics bit by bit. Decisions where no source or more than one answers:
//!
//! * EXEC is ignored and EXEC = 0 skips nothing (M3, table 28; M1 and M2 say nothing). Moves of
//!   accumulation registers obey EXEC (inferred).
//! * CBSZ and ABID: see [`choices::matrix_block_of_a`].
//! * f64 products ignore CBSZ, ABID (M3) and BLGP (M2 says nothing; C has no such modifier).
//! * An inline constant as S2 of an f64 product is a double (compilers emit those), although M2
//!   says f32.
//! * Denormals of f32 factors are flushed as MODE says (M2, M3), those of sums are kept (M3), on
//!   all targets.
//! * NaN results: see [`choices::MATRIX_NAN`].
//! * i8 sums wrap.

use frontend::inst::Operand;
use frontend::op::{Factor, Matrix, MatrixKinds};
use frontend::{Gfx, LANES};

use super::observe::Observer;
use super::operand::{Exec, Lanes};
use super::stop::Run;
use crate::choices;
use crate::math::{self, Env};

mod sums;
#[cfg(test)]
#[allow(clippy::wildcard_enum_match_arm, reason = "no arms of instructions")]
mod tests;

/// Most registers of a factor.
const FACTOR_REGISTERS: usize = 2;

/// Most registers of a sum.
const SUM_REGISTERS: usize = 32;

/// Where the elements of a shape lie. (M3 7.1.4; C)
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Rows and columns of a block of D.
    size: usize,
    k: usize,
    blocks: usize,
    /// Values of K that a lane holds: so many products are summed at once.
    per_lane: usize,
    /// Bits of an element of A and B.
    bits: usize,
    /// Registers of an element of C and D.
    sum_registers: usize,
    /// Rows of D in consecutive items.
    rows: usize,
    /// Blocks of D beside one another in lanes.
    blocks_in_lanes: usize,
}

impl Layout {
    fn of(shape: Matrix) -> Layout {
        let [size, k, blocks] = [shape.size, shape.k, shape.blocks].map(usize::from);
        let wide = shape.factor == Factor::F64;
        let rows = if wide { 1 } else { 4 };
        Layout {
            size,
            k,
            blocks,
            per_lane: k / (LANES / (size * blocks)),
            bits: shape.factor.bits() as usize,
            sum_registers: if wide { 2 } else { 1 },
            rows,
            blocks_in_lanes: (LANES * rows / (size * size)).max(1),
        }
    }

    /// Lane and item of A\[block\]\[outer\]\[k\] or B\[block\]\[k\]\[outer\].
    fn factor(&self, block: usize, outer: usize, k: usize) -> (usize, usize) {
        let lane = outer + self.size * (block + self.blocks * (k / self.per_lane));
        (lane, k % self.per_lane)
    }

    /// Lane and item of C and D\[block\]\[i\]\[j\].
    fn sum(&self, block: usize, i: usize, j: usize) -> (usize, usize) {
        let groups = LANES / (self.size * self.blocks_in_lanes);
        let of_block = self.size / (self.rows * groups);
        let (beside, behind) = (block % self.blocks_in_lanes, block / self.blocks_in_lanes);
        let item = i % self.rows + self.rows * (i / (self.rows * groups) + of_block * behind);
        let lane = j + self.size * (beside + self.blocks_in_lanes * (i / self.rows % groups));
        (lane, item)
    }

    /// Registers of C and D.
    fn sums(&self) -> usize {
        self.size * self.size * self.blocks * self.sum_registers / LANES
    }
}

/// The lane that lane `lane` takes B from. (M3, BLGP)
fn permuted(lane: usize, blgp: u8) -> usize {
    match blgp {
        0 => lane,
        1 => lane % 32,
        2 => lane % 32 + 32,
        3 => (lane + 16) % 64,
        _ => lane % 16 + 16 * usize::from(blgp & 3),
    }
}

/// Registers of one factor.
type FactorRegisters = [Lanes; FACTOR_REGISTERS];

/// Registers of the sums.
type SumRegisters = [Lanes; SUM_REGISTERS];

/// An element of `bits` bits in a lane's registers.
fn element(registers: &FactorRegisters, bits: usize, lane: usize, item: usize) -> u64 {
    if bits == 64 {
        return u64::from(registers[0][lane]) | u64::from(registers[1][lane]) << 32;
    }
    let per_register = 32 / bits;
    let word = registers[item / per_register][lane] >> (bits * (item % per_register));
    u64::from(word) & (u64::MAX >> (64 - bits))
}

/// The sources of a product as they lie in registers.
struct Product {
    layout: Layout,
    a: FactorRegisters,
    b: FactorRegisters,
    c: SumRegisters,
    /// CBSZ, ABID, BLGP.
    fields: [u8; 3],
}

impl Product {
    /// A by block, row and k, converted.
    fn rows<T>(&self, convert: impl Fn(u64) -> T) -> Vec<T> {
        let [cbsz, abid, _] = self.fields;
        self.gather(|layout, block, i, k| {
            let from = choices::matrix_block_of_a(block, layout.blocks, cbsz, abid);
            let (lane, item) = layout.factor(from, i, k);
            convert(element(&self.a, layout.bits, lane, item))
        })
    }

    /// B by block, column and k, converted.
    fn columns<T>(&self, convert: impl Fn(u64) -> T) -> Vec<T> {
        let [_, _, blgp] = self.fields;
        self.gather(|layout, block, j, k| {
            let (lane, item) = layout.factor(block, j, k);
            convert(element(&self.b, layout.bits, permuted(lane, blgp), item))
        })
    }

    fn gather<T>(&self, value: impl Fn(&Layout, usize, usize, usize) -> T) -> Vec<T> {
        let layout = &self.layout;
        let mut all = Vec::with_capacity(layout.blocks * layout.size * layout.k);
        for block in 0..layout.blocks {
            for outer in 0..layout.size {
                all.extend((0..layout.k).map(|k| value(layout, block, outer, k)));
            }
        }
        all
    }

    fn sum_at(&self, lane: usize, item: usize) -> u64 {
        let first = item * self.layout.sum_registers;
        let low = u64::from(self.c[first][lane]);
        match self.layout.sum_registers {
            1 => low,
            _ => low | u64::from(self.c[first + 1][lane]) << 32,
        }
    }

    /// D. `convert` gives the value of an element's bits; `chunk` adds to a sum's bits the products
    /// that one lane holds.
    fn sums<T>(
        &self,
        convert: impl Fn(u64) -> T,
        chunk: impl Fn(u64, &[T], &[T]) -> u64,
    ) -> SumRegisters {
        let layout = &self.layout;
        let (rows, columns) = (self.rows(&convert), self.columns(&convert));
        let mut d = [[0; LANES]; SUM_REGISTERS];
        for (n, row) in rows.chunks_exact(layout.k).enumerate() {
            let (block, i) = (n / layout.size, n % layout.size);
            let of_block = columns.chunks_exact(layout.k).skip(block * layout.size);
            for (j, column) in of_block.take(layout.size).enumerate() {
                let (lane, item) = layout.sum(block, i, j);
                let a = row.chunks_exact(layout.per_lane);
                let chunks = a.zip(column.chunks_exact(layout.per_lane));
                let sum = chunks.fold(self.sum_at(lane, item), |c, (a, b)| chunk(c, a, b));
                let first = item * layout.sum_registers;
                d[first][lane] = sum as u32;
                if layout.sum_registers == 2 {
                    d[first + 1][lane] = (sum >> 32) as u32;
                }
            }
        }
        d
    }

    /// D of a shape's element type, by the numerics of the target.
    fn run(&self, factor: Factor, gfx: Gfx, mode: u32) -> SumRegisters {
        let exact = !gfx.has_unified_vgprs();
        match (factor, exact) {
            (Factor::F32, _) => {
                let denorm = Env::f32_of_mode(mode).denorm;
                self.sums(|x| denorm.src_f32(x as u32), sums::fused_f32)
            }
            (Factor::F64, _) => self.sums(|x| x, sums::fused_f64),
            (Factor::I8, _) => self.sums(|x| i32::from(x as i8), sums::wrapping_i32),
            (Factor::F16, true) => self.sums(|x| sums::double(f16_to_f32(x)), sums::exact),
            (Factor::Bf16, true) => self.sums(|x| sums::double(bf16_to_f32(x)), sums::exact),
            (Factor::F16, false) => self.sums(
                |x| f32::from_bits(f16_to_f32(sums::flushed_f16(x))),
                sums::pairwise,
            ),
            (Factor::Bf16, false) => self.sums(
                |x| f32::from_bits(sums::flushed_f32(bf16_to_f32(x))),
                sums::pairwise,
            ),
        }
    }
}

fn f16_to_f32(bits: u64) -> u32 {
    math::f16_to_f32(bits as u16, false)
}

fn bf16_to_f32(bits: u64) -> u32 {
    (bits as u32) << 16
}

impl<O: Observer> Exec<'_, '_, O> {
    /// `v_mfma_*`. All sources are read before the destination is written, which may overlap them.
    pub(crate) fn exec_mfma(&mut self, shape: Matrix) -> Run<()> {
        let kinds = &mut self.group.stats.matrix_kinds;
        *kinds = kinds.with(MatrixKinds::of(shape));
        let layout = Layout::of(shape);
        let to = self.vector_range(self.inst.dst[0], layout.sums())?;
        let fields = match shape.factor {
            Factor::F64 => [0; 3],
            Factor::F32 | Factor::F16 | Factor::Bf16 | Factor::I8 => self.inst.mods.mfma,
        };
        let product = Product {
            layout,
            a: self.factor_registers(0)?,
            b: self.factor_registers(1)?,
            c: self.sum_registers(&layout)?,
            fields,
        };
        let d = product.run(shape.factor, self.gfx, self.wave.mode);
        for (n, values) in d.iter().enumerate().take(layout.sums()) {
            *self.wave.vector_mut(to + n) = *values;
        }
        Ok(())
    }

    fn factor_registers(&self, n: usize) -> Run<FactorRegisters> {
        let count = self.inst.src_ty(n).regs() as usize;
        let first = self.vector_range(self.inst.src[n], count)?;
        let mut registers = [[0; LANES]; FACTOR_REGISTERS];
        for (i, register) in registers.iter_mut().enumerate().take(count) {
            *register = *self.wave.vector(first + i);
        }
        Ok(registers)
    }

    /// C: registers, or a constant in all elements.
    fn sum_registers(&self, layout: &Layout) -> Run<SumRegisters> {
        let mut registers = [[0; LANES]; SUM_REGISTERS];
        let source = self.inst.src[2];
        if let Operand::Inline { bits, .. } = source {
            let words = [bits as u32, (bits >> 32) as u32];
            for (n, register) in registers.iter_mut().enumerate() {
                *register = [words[n % layout.sum_registers]; LANES];
            }
            return Ok(registers);
        }
        let first = self.vector_range(source, layout.sums())?;
        for (n, register) in registers.iter_mut().enumerate().take(layout.sums()) {
            *register = *self.wave.vector(first + n);
        }
        Ok(registers)
    }

    /// `v_accvgpr_read_b32`.
    pub(crate) fn exec_accvgpr_read(&mut self) -> Run<()> {
        let from = self.vector_range(self.inst.src[0], 1)?;
        let values = *self.wave.vector(from);
        self.write32(&values)
    }

    /// `v_accvgpr_write_b32` and `v_accvgpr_mov_b32`.
    pub(crate) fn exec_accvgpr_write(&mut self) -> Run<()> {
        let values = match self.inst.src[0] {
            Operand::Agpr(_) => *self.wave.vector(self.vector_range(self.inst.src[0], 1)?),
            Operand::Vgpr(_)
            | Operand::Sgpr(_)
            | Operand::Inline { .. }
            | Operand::Literal { .. }
            | Operand::Special(_)
            | Operand::Imm(_)
            | Operand::None => self.raw32(0)?,
        };
        let to = self.vector_range(self.inst.dst[0], 1)?;
        self.set_vector(to, &values, self.active);
        Ok(())
    }
}
