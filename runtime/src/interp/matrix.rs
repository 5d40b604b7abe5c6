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
//! * i8 sums wrap; on gfx942 they and overflowing floats are limited if MODE.FP16_OVFL is set (M3, table 28).
//! * gfx942: the sums of f16, bf16, xf32 and floats of 8 bits are those of [`truncating`] (S). BLGP of f64 negates (M3).
//!   Of sparse products no source has the numerics: see [`choices::sparse_chunk`].

use frontend::inst::Operand;
use frontend::op::{Factor, Matrix, MatrixKinds, MatrixSums};
use frontend::state::mode as mode_bits;
use frontend::{Gfx, LANES, Op};

use super::observe::Observer;
use super::operand::{Exec, Lanes};
use super::stop::Run;
use crate::choices;
use crate::math::{self, Env};
use truncating::{Grouping, Part};

mod sums;
#[cfg(test)]
#[allow(clippy::wildcard_enum_match_arm, reason = "no arms of instructions")]
mod tests;
mod truncating;

/// Most registers of a factor.
const FACTOR_REGISTERS: usize = 4;

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
    /// CBSZ, ABID, BLGP, which f64 ignores.
    fields: [u8; 3],
    /// Of f64: whether A, B and C are negated, from bit 0 on.
    negate: u8,
    /// Of a sparse product: the register that says which values of K those of A are for.
    places: Option<Lanes>,
}

impl Product {
    /// A of a sparse product by row: K and value of each stored item, in ascending order.
    fn sparse_rows<T>(&self, places: &Lanes, convert: impl Fn(u64) -> T) -> Vec<Vec<(usize, T)>> {
        let layout = &self.layout;
        // Half of the values that a lane has of B.
        let stored = layout.per_lane / 2;
        let [cbsz, abid, _] = self.fields;
        let sets = 32 / (2 * stored);
        let set = if cbsz & 3 == 0 {
            usize::from(abid) % sets
        } else {
            0
        };
        let lanes = |i: usize| (i..LANES).step_by(layout.size);
        let items = |lane: usize| {
            let first = lane / layout.size * layout.per_lane;
            let convert = &convert;
            (0..stored).map(move |item| {
                let place = places[lane] >> (2 * stored * set + 2 * item) & 3;
                let k = first + 4 * (item / 2) + place as usize;
                (k, convert(element(&self.a, layout.bits, lane, item)))
            })
        };
        (0..layout.size)
            .map(|i| lanes(i).flat_map(items).collect())
            .collect()
    }

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
    fn sums<T: Copy>(
        &self,
        convert: impl Fn(u64) -> T,
        chunk: impl Fn(u64, &[T], &[T]) -> u64,
    ) -> SumRegisters {
        self.sums_of(self.layout.per_lane, &convert, &convert, chunk)
    }

    /// As [`Product::sums`], with `length` products in a chunk, and with conversions of A and of B.
    fn sums_of<T: Copy>(
        &self,
        length: usize,
        convert_a: impl Fn(u64) -> T,
        convert_b: impl Fn(u64) -> T,
        chunk: impl Fn(u64, &[T], &[T]) -> u64,
    ) -> SumRegisters {
        let layout = &self.layout;
        let mut d = [[0; LANES]; SUM_REGISTERS];
        let columns = self.columns(convert_b);
        if let Some(places) = &self.places {
            for (i, row) in self.sparse_rows(places, convert_a).iter().enumerate() {
                let a: Vec<T> = row.iter().map(|&(_, value)| value).collect();
                for (j, column) in columns.chunks_exact(layout.k).enumerate() {
                    let b: Vec<T> = row.iter().map(|&(k, _)| column[k]).collect();
                    let (lane, item) = layout.sum(0, i, j);
                    let chunks = a.chunks(length).zip(b.chunks(length));
                    let sum = chunks.fold(self.sum_at(lane, item), |c, (a, b)| chunk(c, a, b));
                    d[item][lane] = sum as u32;
                }
            }
            return d;
        }
        let rows = self.rows(convert_a);
        for (n, row) in rows.chunks_exact(layout.k).enumerate() {
            let (block, i) = (n / layout.size, n % layout.size);
            let of_block = columns.chunks_exact(layout.k).skip(block * layout.size);
            for (j, column) in of_block.take(layout.size).enumerate() {
                let (lane, item) = layout.sum(block, i, j);
                let chunks = row.chunks(length).zip(column.chunks(length));
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
        let saturates = gfx.limits_matrix_sums() && mode & mode_bits::FP16_OVFL != 0;
        // Of a sparse product the stored values are cut off as those of a dense one.
        let cut = |length, grouping, a: &dyn Fn(u64) -> Part, b: &dyn Fn(u64) -> Part| {
            self.sums_of(length, a, b, |c, a, b| {
                truncating::sum(grouping, saturates, c, a, b)
            })
        };
        let cut_alike = |length, part: &dyn Fn(u64) -> Part| cut(length, Grouping::All, part, part);
        match (factor, gfx.matrix_sums()) {
            (Factor::F32, _) => {
                let denorm = Env::f32_of_mode(mode).denorm;
                self.sums(
                    |x| denorm.src_f32(x as u32),
                    |c, a, b| sums::fused_f32(c, a, b, saturates),
                )
            }
            (Factor::F64, _) => {
                let sign = |n: u8| u64::from(self.negate >> n & 1) << 63;
                let (a, b, c) = (sign(0), sign(1), sign(2));
                self.sums_of(
                    self.layout.k,
                    |x| x ^ a,
                    |x| x ^ b,
                    |sum, a, b| sums::fused_f64(sum ^ c, a, b),
                )
            }
            (Factor::I8, _) => {
                let value = |x: u64| i32::from(x as i8);
                let sum = match saturates {
                    true => sums::limited_i32,
                    false => sums::wrapping_i32,
                };
                self.sums_of(self.layout.k, value, value, sum)
            }
            (Factor::F16, MatrixSums::Exact) => {
                self.sums(|x| sums::double(f16_to_f32(x)), sums::exact)
            }
            (Factor::Bf16, MatrixSums::Exact) => {
                self.sums(|x| sums::double(bf16_to_f32(x)), sums::exact)
            }
            (Factor::F16, MatrixSums::Pairs) => self.sums(
                |x| f32::from_bits(f16_to_f32(sums::flushed_f16(x))),
                sums::pairwise,
            ),
            (Factor::Bf16, MatrixSums::Pairs) => self.sums(
                |x| f32::from_bits(sums::flushed_f32(bf16_to_f32(x))),
                sums::pairwise,
            ),
            (Factor::F16, MatrixSums::CutOff) => cut_alike(8, &Part::f16),
            (Factor::Bf16, MatrixSums::CutOff) => cut_alike(8, &Part::bf16),
            (Factor::Xf32, _) => cut_alike(4, &Part::xf32),
            (Factor::F8(a, b), _) => {
                let (a, b) = (|x: u64| Part::f8(a, x), |x: u64| Part::f8(b, x));
                cut(16, Grouping::EvenOdd, &a, &b)
            }
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
    /// `v_mfma_*` and `v_smfmac_*`. All sources are read before the destination is written, which may overlap them.
    pub(crate) fn exec_mfma(&mut self, shape: Matrix) -> Run<()> {
        let kinds = &mut self.group.stats.matrix_kinds;
        *kinds = kinds.with(MatrixKinds::of(shape));
        let layout = Layout::of(shape);
        let to = self.vector_range(self.inst.dst[0], layout.sums())?;
        let fields = self.inst.mods.mfma;
        let wide = shape.factor == Factor::F64;
        let negates = self.inst.negates_factors(self.gfx);
        let sparse = matches!(self.inst.op(), Op::Smfmac(_));
        let (c, places) = match sparse {
            false => (self.sum_registers(self.inst.src[2], &layout)?, None),
            true => {
                let places = self.vector_range(self.inst.src[2], 1)?;
                let c = self.sum_registers(self.inst.dst[0], &layout)?;
                (c, Some(*self.wave.vector(places)))
            }
        };
        let product = Product {
            layout,
            a: self.factor_registers(0)?,
            b: self.factor_registers(1)?,
            c,
            fields: if wide { [0; 3] } else { fields },
            negate: if negates { fields[2] } else { 0 },
            places,
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
    fn sum_registers(&self, source: Operand, layout: &Layout) -> Run<SumRegisters> {
        let mut registers = [[0; LANES]; SUM_REGISTERS];
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
