//! NumPy's array files. Elements stay the bytes that they are; big-endian ones are turned around.

use std::io;

use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, TypeStr, WriteOptions, WriterBuilder};

use super::array::{Array, Dtype};

/// Reads a whole `.npy` file.
pub fn read(mut file: &[u8]) -> Result<Array, String> {
    let header =
        NpyHeader::from_reader(&mut file).map_err(|error| format!("not a .npy file: {error}"))?;
    let descr = header.dtype().descr();
    let unsupported = || {
        let known: Vec<_> = Dtype::ALL.iter().map(|dtype| dtype.name()).collect();
        format!(
            "its dtype {descr} is not supported; supported are {}",
            known.join(" ")
        )
    };
    let DType::Plain(ty) = header.dtype() else {
        return Err(unsupported());
    };
    let dtype = match (ty.type_char(), ty.size_field()) {
        (TypeChar::Int, 1) => Dtype::I8,
        (TypeChar::Int, 2) => Dtype::I16,
        (TypeChar::Int, 4) => Dtype::I32,
        (TypeChar::Int, 8) => Dtype::I64,
        (TypeChar::Uint, 1) => Dtype::U8,
        (TypeChar::Uint, 2) => Dtype::U16,
        (TypeChar::Uint, 4) => Dtype::U32,
        (TypeChar::Uint, 8) => Dtype::U64,
        (TypeChar::Float, 2) => Dtype::F16,
        (TypeChar::Float, 4) => Dtype::F32,
        (TypeChar::Float, 8) => Dtype::F64,
        _ => return Err(unsupported()),
    };
    let shape = header.shape().to_vec();
    if header.order() == Order::Fortran && shape.iter().filter(|&&n| n > 1).count() > 1 {
        return Err(
            "it is stored in Fortran order; write it in C order: numpy.ascontiguousarray"
                .to_owned(),
        );
    }
    let wanted = shape
        .iter()
        .try_fold(dtype.size() as u64, |bytes, &n| bytes.checked_mul(n))
        .ok_or_else(|| format!("its shape {shape:?} is too large"))?;
    if wanted != file.len() as u64 {
        return Err(format!(
            "its header says {dtype}{shape:?}, which is {wanted} bytes, but {} bytes follow it",
            file.len()
        ));
    }
    let mut bytes = file.to_vec();
    if ty.endianness() == Endianness::Big {
        for element in bytes.chunks_exact_mut(dtype.size()) {
            element.reverse();
        }
    }
    Ok(Array {
        dtype: Some(dtype),
        shape,
        bytes,
    })
}

/// Writes a whole `.npy` file; raw bytes become `u8`.
pub fn write(mut out: impl io::Write, array: &Array) -> io::Result<()> {
    let dtype = array.dtype.unwrap_or(Dtype::U8);
    let order = if dtype.size() == 1 { '|' } else { '<' };
    let kind = match dtype {
        _ if dtype.is_float() => 'f',
        _ if dtype.is_signed() => 'i',
        _ => 'u',
    };
    let ty: TypeStr = format!("{order}{kind}{}", dtype.size())
        .parse()
        .map_err(io::Error::other)?;
    WriteOptions::new_header_only()
        .dtype(DType::Plain(ty))
        .shape(&array.shape)
        .writer(&mut out)
        .write_header_only()?;
    out.write_all(&array.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(array: &Array) -> Array {
        let mut file = Vec::new();
        write(&mut file, array).expect("memory takes everything");
        read(&file).expect("it was just written")
    }

    #[test]
    fn arrays_survive_writing() {
        for dtype in Dtype::ALL {
            let array = Array {
                dtype: Some(dtype),
                shape: vec![2, 3],
                bytes: (0..6 * dtype.size() as u8).collect(),
            };
            assert_eq!(round_trip(&array), array);
        }
        let raw = Array::raw(vec![1, 2, 3]);
        assert_eq!(round_trip(&raw).dtype, Some(Dtype::U8));
        let scalar = Array {
            dtype: Some(Dtype::U16),
            shape: vec![],
            bytes: vec![1, 2],
        };
        assert_eq!(round_trip(&scalar), scalar);
    }

    fn file(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let dict = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend(((dict.len() + 1) as u16).to_le_bytes());
        out.extend(dict.bytes());
        out.push(b'\n');
        out.extend(data);
        out
    }

    #[test]
    fn big_endian_elements_are_turned_around() {
        let array = read(&file("'>u2'", "False", "(2,)", &[1, 2, 3, 4])).expect("valid");
        assert_eq!(array.bytes, [2, 1, 4, 3]);
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let error = |bytes: &[u8]| read(bytes).expect_err("it is malformed");
        assert!(error(b"PK\x03\x04").starts_with("not a .npy file: "));
        assert!(error(b"").starts_with("not a .npy file: "));
        assert!(error(b"\x93NUMPY\x01\x00\xff\xff").starts_with("not a .npy file: "));
        assert_eq!(
            error(&file("'<c8'", "False", "(1,)", &[0; 8])),
            "its dtype '<c8' is not supported; supported are i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64"
        );
        assert!(error(&file("[('a', '<i4')]", "False", "(1,)", &[0; 4])).contains("not supported"));
        assert_eq!(
            error(&file("'<f4'", "False", "(3,)", &[0; 8])),
            "its header says f32[3], which is 12 bytes, but 8 bytes follow it"
        );
        assert_eq!(
            error(&file("'<f4'", "True", "(2, 2)", &[0; 16])),
            "it is stored in Fortran order; write it in C order: numpy.ascontiguousarray"
        );
        assert!(read(&file("'<f4'", "True", "(4,)", &[0; 16])).is_ok());
        let huge = "(4294967296, 4294967296, 4)";
        assert!(error(&file("'<f4'", "False", huge, &[])).ends_with("is too large"));
    }
}
