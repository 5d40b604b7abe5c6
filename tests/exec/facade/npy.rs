use wavelift::manifest::npy::{read, write};
use wavelift::manifest::{Array, Dtype};

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
