use wavelift::manifest::random::{draw, floats, integers};
use wavelift::manifest::{Dtype, Value};

#[test]
fn draws_are_splitmix64() {
    // The published sequence for seed 1234567.
    let expected = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ];
    for (i, &z) in expected.iter().enumerate() {
        assert_eq!(draw(1_234_567, i as u64), z);
    }
}

#[test]
fn values_stay_in_their_range_and_fill_it() {
    let bytes = integers(Dtype::I8, 2000, 3, -3, 3);
    let seen: std::collections::BTreeSet<i8> = bytes.iter().map(|&b| b as i8).collect();
    assert!(seen.into_iter().eq(-3..=3));
    let (low, high) = Dtype::U64.limits();
    let bytes = integers(Dtype::U64, 1, 1_234_567, low, high);
    assert_eq!(bytes, 6_457_827_717_110_365_317u64.to_le_bytes());
    for dtype in [Dtype::F16, Dtype::F32, Dtype::F64] {
        // A range narrow enough that rounding reaches its end.
        let bytes = floats(dtype, 4000, 9, -1.0, -0.999);
        for element in bytes.chunks(dtype.size()) {
            let value = dtype.decode(element).to_f64();
            assert!((-1.0..-0.999).contains(&value), "{dtype} {value}");
        }
    }
    let bytes = floats(Dtype::F32, 1, 1_234_567, -1.0, 1.0);
    assert_eq!(Dtype::F32.decode(&bytes), Value::F32(-0.299_840_93));
}
