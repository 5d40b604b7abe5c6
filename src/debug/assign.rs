//! Assignment to registers and memory.

use frontend::state::FIRST_AGPR;
use runtime::debug::State;

use super::error::DebugError;
use super::eval::{At, Place, Scope, inside};
use super::expr::Expr;
use super::value::{Scalar, Value, active};
use crate::Dtype;
use crate::dtype::Value as Number;
use crate::error::Error;

/// What an assignment writes.
pub(super) enum Write {
    /// SGPRs from a code on.
    Scalars(usize, Vec<u32>),
    /// A lane of VGPRs from a number on.
    Vectors(usize, Vec<(usize, Vec<u32>)>),
    Scc(u32),
    Mode(u32),
    /// A guest address in the wave's code.
    Pc(u64),
    Lds(u64, Vec<u8>),
    /// Guest memory: address and byte, or bytes.
    Global(Vec<(u64, Vec<u8>)>),
}

impl Scope<'_> {
    /// What `to = value` writes. Of a vector register or of scratch without a lane, the active lanes are
    /// written.
    pub(super) fn assignment(&self, to: &Expr, value: &Expr) -> Result<Write, DebugError> {
        let not_a_place = || {
            DebugError::Operation(
                "only registers and memory can be set, such as v3[5] or lds[16]".to_owned(),
            )
        };
        let place = self.place(&to.0)?.ok_or_else(not_a_place)?;
        let value = self.value(&value.0)?;
        let raw = |scalar: Scalar| converted(&place, scalar);
        let one = || match value {
            Value::One(scalar) => Ok(raw(scalar)),
            Value::Lanes(_) | Value::Many(_) => Err(DebugError::Operation(
                "one number was expected on the right of =".to_owned(),
            )),
        };
        let words = |bits: u64, count: usize| [bits as u32, (bits >> 32) as u32][..count].to_vec();
        let exec = self.wave.map_or(0, |wave| wave.state.exec());
        let by_lane = |lane: Option<usize>| -> Result<Vec<(usize, u64)>, DebugError> {
            match (lane, &value) {
                (Some(lane), _) => Ok(vec![(lane, one()?)]),
                (None, Value::One(scalar)) => {
                    Ok(active(exec).map(|lane| (lane, raw(*scalar))).collect())
                }
                (None, Value::Lanes(all)) => {
                    Ok(active(exec).map(|lane| (lane, raw(all[lane]))).collect())
                }
                (None, Value::Many(_)) => Err(not_a_place()),
            }
        };
        let size = place.dtype.size();
        Ok(match &place.at {
            At::Scalar(first, count) => Write::Scalars(*first, words(one()?, *count)),
            At::Vector(first, count, lane) => {
                let lanes = by_lane(*lane)?.into_iter();
                Write::Vectors(
                    *first,
                    lanes
                        .map(|(lane, bits)| (lane, words(bits, *count)))
                        .collect(),
                )
            }
            At::Scc => Write::Scc(u32::from(one()? != 0)),
            At::Mode => Write::Mode(one()? as u32),
            At::Pc => {
                let code = self.wave()?.code;
                Write::Pc(super::place::instruction(code, code.guest(one()?))?)
            }
            At::Global(address, 1) => {
                self.read_global(*address, 1, size as u64)?;
                Write::Global(vec![(*address, one()?.to_le_bytes()[..size].to_vec())])
            }
            At::Lds(offset, 1) => {
                inside(self.wave()?.lds, *offset, size as u64)?;
                Write::Lds(*offset, one()?.to_le_bytes()[..size].to_vec())
            }
            At::Scratch(offset, lane) => {
                let mut bytes = Vec::new();
                for (lane, bits) in by_lane(*lane)? {
                    for (n, byte) in bits.to_le_bytes()[..size].iter().enumerate() {
                        let at = self.scratch_byte(*offset, n as u64, place.dtype, lane)?;
                        bytes.push((at, vec![*byte]));
                    }
                }
                Write::Global(bytes)
            }
            At::Global(..) | At::Lds(..) | At::Buffer(..) => {
                return Err(DebugError::Operation(
                    "one element can be set at a time, such as x[3]".to_owned(),
                ));
            }
            At::Trapsts => return Err(DebugError::ReadOnly("trapsts".to_owned())),
            At::Scalars
            | At::Vectors
            | At::Accumulation
            | At::GlobalSpace
            | At::LdsSpace
            | At::ScratchSpace => return Err(not_a_place()),
        })
    }
}

/// The bits of a number at a place. A float in a place without a type of floats is an f32, or an f64 in 8
/// bytes, as a literal of an instruction is.
fn converted(place: &Place, scalar: Scalar) -> u64 {
    let wide = place.dtype.size() == 8;
    match scalar.number() {
        Number::Integer(value) if place.dtype.is_float() => {
            Scalar::float(place.dtype, value as f64).bits
        }
        Number::Integer(value) => Scalar::integer(place.dtype, value).bits,
        float if place.dtype.is_float() => Scalar::float(place.dtype, float.to_f64()).bits,
        float if place.hex => {
            let dtype = if wide { Dtype::F64 } else { Dtype::F32 };
            Scalar::float(dtype, float.to_f64()).bits
        }
        float => Scalar::integer(place.dtype, float.to_f64() as i128).bits,
    }
}

/// Changes a wave or its memory.
pub(super) fn make(state: &mut State<'_, '_>, wave: u32, write: Write) -> Result<(), DebugError> {
    match write {
        Write::Scalars(first, words) => {
            state.change_wave(wave, |wave| {
                wave.sgpr[first..first + words.len()].copy_from_slice(&words)
            });
        }
        Write::Vectors(first, lanes) => state.change_wave(wave, |wave| {
            for (lane, words) in lanes {
                for (n, word) in words.into_iter().enumerate() {
                    wave.vector_mut(first + n)[lane] = word;
                    let written = (first + n + 1).saturating_sub(usize::from(FIRST_AGPR)) as u32;
                    wave.agprs_touched = wave.agprs_touched.max(written);
                }
            }
        }),
        Write::Scc(value) => state.change_wave(wave, |wave| wave.scc = value),
        Write::Mode(value) => state.change_wave(wave, |wave| wave.mode = value),
        Write::Pc(pc) => state.change_wave(wave, |wave| wave.pc = pc),
        Write::Lds(offset, bytes) => state.change_lds(|lds| {
            lds[offset as usize..offset as usize + bytes.len()].copy_from_slice(&bytes);
        }),
        Write::Global(all) => {
            for (address, bytes) in all {
                state.write_memory(address, &bytes).map_err(Error::from)?;
            }
        }
    }
    Ok(())
}
