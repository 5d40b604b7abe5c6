//! NumPy's array files. Elements are raw bytes; big-endian ones are swapped.

use std::io;

use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, TypeStr, WriteOptions, WriterBuilder};

use runtime::foreign::Foreign;

use super::{Array, Dtype};

/// Reads a whole `.npy` file.
pub fn read(mut file: &[u8]) -> Result<Array, String> {
    let header = NpyHeader::from_reader(&mut file)
        .map_err(|error| format!("not a .npy file: {}", Foreign(&error.to_string())))?;
    let descr = header.dtype().descr();
    let descr = Foreign(&descr);
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
        .ok_or_else(|| format!("its shape {} is too large", Foreign(&format!("{shape:?}"))))?;
    if wanted != file.len() as u64 {
        return Err(format!(
            "its header says {dtype}{}, which is {wanted} bytes, but {} bytes follow it",
            Foreign(&format!("{shape:?}")),
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
