//! Arguments by value: Python's numbers, vectors and structures as the bytes that a kernel's metadata
//! asks for.

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt};
use wavelift::{Dtype, half::f16};

use crate::array::View;
use crate::exported::Exported;
use crate::parameter::{Element, Parameter, type_name};

/// The bytes of an argument.
pub(crate) fn bytes(parameter: &Parameter, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match parameter.value_type() {
        Some(Element { dtype, lanes: 1 }) => {
            let mut out = Vec::new();
            match encode(parameter, dtype, value, &mut out) {
                Ok(()) => Ok(out),
                // The bytes of a number are as good.
                Err(error) => match value.is_instance_of::<PyBytes>() {
                    true => raw(parameter, value),
                    false => Err(error),
                },
            }
        }
        Some(element) => vector(parameter, element, value),
        None => untyped(parameter, value),
    }
}

/// Appends a number.
fn encode(
    parameter: &Parameter,
    dtype: Dtype,
    value: &Bound<'_, PyAny>,
    out: &mut Vec<u8>,
) -> PyResult<()> {
    let takes = |what: &str| {
        let message = format!("must be {what}, not {}", type_name(value));
        parameter.type_error(message)
    };
    if dtype.is_float() {
        let number: f64 = value.extract().map_err(|error: PyErr| {
            match error.is_instance_of::<PyOverflowError>(value.py()) {
                true => parameter.overflow_error(error.value(value.py())),
                false => takes("a number"),
            }
        })?;
        let rounded = match dtype {
            Dtype::F16 => f64::from(f16::from_f64(number)),
            Dtype::F32 => f64::from(number as f32),
            _ => number,
        };
        if number.is_finite() && !rounded.is_finite() {
            return Err(parameter.overflow_error(format!("{value} is too large for {dtype}")));
        }
        dtype.encode_float(number, out);
        return Ok(());
    }
    let (low, high) = dtype.limits();
    let outside = |number: &dyn std::fmt::Display| {
        parameter.overflow_error(format!("{number} does not fit {dtype} ({low} to {high})"))
    };
    let number: i128 = match value.extract() {
        Ok(number) => number,
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            return Err(outside(value));
        }
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            return Err(takes("an integer"));
        }
        Err(error) => return Err(error),
    };
    if !(low..=high).contains(&number) {
        return Err(outside(&number));
    }
    dtype.encode_integer(number, out);
    Ok(())
}

/// A vector such as `float4`: a sequence of its elements, or an array or bytes.
fn vector(parameter: &Parameter, element: Element, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let Element { dtype, lanes } = element;
    let mut out = Vec::with_capacity(element.size());
    if let Ok(buffer) = Exported::get(value) {
        let view = View::of_buffer(parameter, buffer)?;
        let (expected, given) = (dtype.size() * lanes, view.bytes());
        if given != expected && given != element.size() {
            return Err(parameter.value_error(format!(
                "must be {lanes} elements of {dtype}, which are {expected} bytes, not {given} bytes"
            )));
        }
        view.check_elements(parameter, Some(element))?;
        out = view.read();
    } else {
        let elements = value.try_iter().map_err(|_| {
            let message = format!(
                "must be a sequence of {lanes} numbers, not {}",
                type_name(value)
            );
            parameter.type_error(message)
        })?;
        for number in elements {
            encode(parameter, dtype, &number?, &mut out)?;
        }
        let given = out.len() / dtype.size();
        if given != lanes {
            let message = format!("must be a sequence of {lanes} numbers, not {given}");
            return Err(parameter.value_error(message));
        }
    }
    // The fourth element of a vector of three.
    out.resize(element.size(), 0);
    Ok(out)
}

/// A parameter whose type is unknown: a number of its size, or its bytes.
fn untyped(parameter: &Parameter, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let size = parameter.about.size;
    let mut out = Vec::new();
    if value.is_instance_of::<PyFloat>() {
        let dtype = match size {
            2 => Dtype::F16,
            4 => Dtype::F32,
            8 => Dtype::F64,
            _ => return Err(parameter.type_error(format!("must be {size} bytes, not a float"))),
        };
        encode(parameter, dtype, value, &mut out)?;
        return Ok(out);
    }
    if value.is_instance_of::<PyInt>() {
        let negative = value.lt(0)?;
        let dtype = match (size, negative) {
            (1, true) => Dtype::I8,
            (1, false) => Dtype::U8,
            (2, true) => Dtype::I16,
            (2, false) => Dtype::U16,
            (4, true) => Dtype::I32,
            (4, false) => Dtype::U32,
            (8, true) => Dtype::I64,
            (8, false) => Dtype::U64,
            _ => return Err(parameter.type_error(format!("must be {size} bytes, not an int"))),
        };
        encode(parameter, dtype, value, &mut out)?;
        return Ok(out);
    }
    raw(parameter, value)
}

/// The bytes of an object with a buffer: `bytes`, a NumPy scalar, a `ctypes` structure.
fn raw(parameter: &Parameter, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let expected = parameter.about.size as usize;
    let buffer = Exported::get(value).map_err(|_| {
        let message = format!(
            "must be {expected} bytes (bytes, a NumPy scalar, a ctypes structure), not {}",
            type_name(value)
        );
        parameter.type_error(message)
    })?;
    let view = View::of_buffer(parameter, buffer)?;
    let given = view.bytes();
    if given != expected {
        return Err(parameter.value_error(format!("must be {expected} bytes, not {given}")));
    }
    Ok(view.read())
}
