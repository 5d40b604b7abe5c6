use wavelift::manifest::{Array, Dtype, Tolerance};

fn floats(values: &[f32]) -> Array {
    Array::list(
        Dtype::F32,
        values.iter().flat_map(|v| v.to_le_bytes()).collect(),
    )
}

fn ok(tolerance: Tolerance, got: f32, expected: f32) -> bool {
    tolerance
        .compare(&floats(&[got]), &floats(&[expected]), false)
        .ok()
}

#[test]
fn exact_means_every_bit() {
    assert!(ok(Tolerance::Exact, f32::NAN, f32::NAN));
    assert!(!ok(Tolerance::Exact, 0.0, -0.0));
    let result = Tolerance::Exact.compare(&floats(&[-f32::NAN]), &floats(&[f32::NAN]), false);
    assert_eq!(
        result.message(),
        "1 of 1 elements differ; first at [0]: got NaN (0xffc00000), expected NaN (0x7fc00000); \
         both are NaN, `ulp = 0` would accept it"
    );
}

#[test]
fn tolerances_hold_at_their_edge() {
    let close = Tolerance::Close {
        abs: 0.5,
        rel: 0.25,
    };
    assert!(ok(close, 5.5, 4.0));
    assert!(!ok(close, 5.5f32.next_up(), 4.0));
    assert!(ok(close, -f32::NAN, f32::NAN));
    assert!(!ok(close, 1.0, f32::INFINITY));
    assert!(!ok(close, f32::INFINITY, 1.0));
    assert!(!ok(close, 1.0, f32::NAN));
    assert!(ok(Tolerance::Ulp(1), 1.0f32.next_up(), 1.0));
    assert!(!ok(Tolerance::Ulp(1), 1.0f32.next_up().next_up(), 1.0));
    assert!(ok(Tolerance::Ulp(0), -0.0, 0.0));
    assert!(ok(Tolerance::Ulp(0), -f32::NAN, f32::NAN));
    assert!(!ok(Tolerance::Ulp(u64::MAX), 1.0, f32::NAN));
    assert!(ok(Tolerance::Ulp(1), f32::INFINITY, f32::MAX));
}

#[test]
fn integers_have_tolerances_too() {
    let list = |values: &[i8]| Array::list(Dtype::I8, values.iter().map(|&v| v as u8).collect());
    let (a, b) = (list(&[127, -128]), list(&[126, -126]));
    assert!(Tolerance::Ulp(2).compare(&a, &b, false).ok());
    let result = Tolerance::Ulp(1).compare(&a, &b, false);
    assert_eq!(result.mismatches, 1);
    assert_eq!(
        result.message(),
        "1 of 2 elements differ; first at [1]: got -128 (0x80), expected -126 (0x82)"
    );
    assert!(
        Tolerance::Close { abs: 2.0, rel: 0.0 }
            .compare(&a, &b, false)
            .ok()
    );
}

#[test]
fn kinds_must_agree_unless_one_side_is_raw() {
    let a = floats(&[1.0, 2.0]);
    let raw = Array::raw(a.bytes.clone());
    assert!(Tolerance::Exact.compare(&raw, &a, false).ok());
    let ints = Array::list(Dtype::U32, a.bytes.clone());
    let result = Tolerance::Exact.compare(&ints, &a, false);
    assert!(!result.ok());
    assert_eq!(
        result.message(),
        "the buffer is u32[2], the expected array f32[2]"
    );
    let column = Array {
        shape: vec![2, 1],
        ..a.clone()
    };
    assert!(Tolerance::Exact.compare(&a, &column, false).ok());
    let result = Tolerance::Exact.compare(&a, &column, true);
    assert_eq!(
        result.message(),
        "the buffer is f32[2], the expected array f32[2, 1]"
    );
    let short = floats(&[1.0]);
    assert!(!Tolerance::Exact.compare(&short, &a, false).ok());
}

#[test]
fn positions_count_the_last_dimension_first() {
    let first = |shape: &[u64], differs: usize| {
        let elements = shape.iter().product::<u64>() as usize;
        let array = |bytes| Array {
            dtype: Some(Dtype::U8),
            shape: shape.to_vec(),
            bytes,
        };
        let mut bytes = vec![0; elements];
        bytes[differs] = 1;
        let result = Tolerance::Exact.compare(&array(bytes), &array(vec![0; elements]), true);
        result.first.expect("one element differs").position
    };
    assert_eq!(first(&[2, 3, 2], 7), [1, 0, 1]);
    assert_eq!(first(&[], 0), [0u64; 0]);
}
