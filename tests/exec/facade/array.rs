use half::f16;
use wavelift::manifest::{Dtype, Value};

#[test]
fn elements_survive_encoding() {
    for dtype in Dtype::ALL {
        let mut bytes = Vec::new();
        if dtype.is_float() {
            dtype.encode_float(-1.5, &mut bytes);
            assert_eq!(dtype.decode(&bytes).to_f64(), -1.5);
            assert_eq!(dtype.decode(&bytes).to_string(), "-1.5");
        } else {
            let (low, high) = dtype.limits();
            dtype.encode_integer(low, &mut bytes);
            dtype.encode_integer(high, &mut bytes);
            assert_eq!(dtype.decode(&bytes), Value::Integer(low));
            assert_eq!(dtype.decode(&bytes[dtype.size()..]), Value::Integer(high));
        }
        assert_eq!(bytes.len() % dtype.size(), 0);
        assert_eq!(Dtype::from_name(dtype.name()), Some(dtype));
    }
}

#[test]
fn neighbours_differ_by_one() {
    assert_eq!(
        Value::F32(1.0).rank(),
        Value::F32(1.0f32.next_up()).rank().map(|r| r - 1)
    );
    assert_eq!(Value::F64(-0.0).rank(), Value::F64(0.0).rank());
    let below = Value::F64(-f64::from_bits(1)).rank();
    assert_eq!(below, Some(-1));
    assert_eq!(Value::F16(f16::from_bits(0x8001)).rank(), Some(-1));
    assert_eq!(Value::F32(f32::NAN).rank(), None);
}
