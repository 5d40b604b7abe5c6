//! Elements of at most four bytes with a stride of a few bytes that differs from their size, for 16 lanes: bytes of
//! pixels, neighbouring bytes that a compiler loads as one halfword. Sixteen bytes contain the elements of four lanes,
//! which a byte shuffle extracts. Each element comes from one vector, so that it is not torn.

use frontend::op::Data;

use super::bytes;
use crate::legalize::Code;
use crate::vir::{Value, types};

/// Lanes whose elements one vector contains.
const QUARTER: i64 = 4;

/// Bytes of a vector.
const VECTOR: i64 = 16;

/// Are elements with this stride loaded in this way?
pub(super) fn is_narrow(data: Data, stride: i64) -> bool {
    let known = matches!(
        data,
        Data::U8 | Data::I8 | Data::U16 | Data::I16 | Data::Dwords(1)
    );
    if !known {
        return false;
    }
    let bytes = i64::from(bytes(data));
    stride > 0 && stride != bytes && (QUARTER - 1) * stride + bytes <= VECTOR
}

/// The shuffle that extracts the elements of four lanes, the first of which begins at byte `first` of the vector. It
/// extends them with zeros, or, if they are signed, places them at the upper end of their dwords.
fn extraction(data: Data, stride: i64, first: i64) -> [u8; 16] {
    let bytes = i64::from(bytes(data));
    let empty = if is_signed(data) { 4 - bytes } else { 0 };
    std::array::from_fn(|n| {
        let (lane, byte) = (n as i64 / 4, n as i64 % 4 - empty);
        match (0..bytes).contains(&byte) {
            true => (first + stride * lane + byte) as u8,
            // Zero.
            false => 0x80,
        }
    })
}

fn is_signed(data: Data) -> bool {
    matches!(data, Data::I8 | Data::I16)
}

impl Code<'_> {
    /// Loads the elements of 16 lanes that are `stride` apart, the first `away` from `start`. No byte before the first
    /// element or after the last is touched.
    pub(super) fn load_narrow(
        &mut self,
        (start, away): (Value, i64),
        stride: i64,
        data: Data,
    ) -> Value {
        let end = 15 * stride + i64::from(bytes(data));
        let (start, offset) = self.near(start, away);
        let quarters: Vec<Value> = (0..4)
            .map(|quarter| {
                let first = QUARTER * quarter * stride;
                let at = first.min(end - VECTOR);
                let vector = self.load_vector(types::I32X4, start, offset + at as i32);
                let pattern = extraction(data, stride, first - at);
                self.of_lanes(1, 4)
                    .shuffle(types::I32X4, vector, vector, pattern)
            })
            .collect();
        let joined = self.of_lanes(1, 16).join_parts(4, quarters)[0];
        if !is_signed(data) {
            return joined;
        }
        let above = 32 - 8 * i64::from(bytes(data));
        let above = self.b.iconst(types::I32, above);
        self.b.sshr(joined, above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_four_lanes_are_in_one_vector() {
        for (data, strides) in [
            (Data::U8, vec![2, 3, 4, 5]),
            (Data::I16, vec![1, 3, 4]),
            (Data::Dwords(1), vec![1, 2, 3]),
        ] {
            let found: Vec<i64> = (-8..64).filter(|&s| is_narrow(data, s)).collect();
            assert_eq!(found, strides, "{data:?}");
        }
        assert!(!is_narrow(Data::Dwords(2), 2));
    }

    #[test]
    fn signed_elements_are_at_the_upper_end() {
        let z = 0x80;
        let pixels = [1, z, z, z, 4, z, z, z, 7, z, z, z, 10, z, z, z];
        assert_eq!(extraction(Data::U8, 3, 1), pixels);
        let pairs = [z, z, 0, 1, z, z, 1, 2, z, z, 2, 3, z, z, 3, 4];
        assert_eq!(extraction(Data::I16, 1, 0), pairs);
    }
}
