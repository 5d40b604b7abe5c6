//! Bundles that the tests compress themselves: each version and method, damaged, truncated and too large.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use frontend::Gfx;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;
use crate::object::tests::BUNDLE;
use crate::object::{self, entries, targets};

fn packed(contents: &[u8], method: u16) -> Vec<u8> {
    if method == ZSTD {
        return compress_to_vec(contents, CompressionLevel::Fastest);
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(contents).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

/// A compressed bundle with a stated size of the contents.
fn with_size(contents: &[u8], version: u16, method: u16, size: u64) -> Vec<u8> {
    let data = packed(contents, method);
    let mut file = MAGIC.to_vec();
    file.extend(version.to_le_bytes());
    file.extend(method.to_le_bytes());
    let (header, wide) = match version {
        1 => (20, false),
        2 => (24, false),
        _ => (32, true),
    };
    let mut number = |number: u64| match wide {
        true => file.extend(number.to_le_bytes()),
        false => file.extend((number as u32).to_le_bytes()),
    };
    if version > 1 {
        number(header + data.len() as u64);
    }
    number(size);
    // Readers ignore the hash.
    file.extend(0x0123_4567_89ab_cdef_u64.to_le_bytes());
    file.extend(data);
    file
}

fn compressed(contents: &[u8], version: u16, method: u16) -> Vec<u8> {
    with_size(contents, version, method, contents.len() as u64)
}

fn every_form() -> impl Iterator<Item = (u16, u16)> {
    (1..=3).flat_map(|version| [(version, ZLIB), (version, ZSTD)])
}

fn defect(bytes: &[u8]) -> CompressionDefect {
    match entries(bytes) {
        Err(LoadError::CompressedBundle { offset: 0, defect }) => defect,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_version_and_method_is_read() {
    let plain = entries(BUNDLE).expect("a bundle");
    for (version, method) in every_form() {
        let file = compressed(BUNDLE, version, method);
        let found = entries(&file).unwrap_or_else(|error| panic!("{version} {method}: {error}"));
        assert_eq!(found.len(), plain.len());
        for (found, plain) in found.iter().zip(&plain) {
            assert_eq!((&found.id, &found.range), (&plain.id, &plain.range));
            assert!(found.code() == plain.code(), "{}", found.id);
            assert!(found.is_compressed() && !plain.is_compressed());
        }
        let wanted = Gfx::Gfx803.into();
        let object = object::open(&file, Some(&wanted)).expect("it has one for gfx803");
        assert_eq!(object.target.gfx, Gfx::Gfx803);
        assert_eq!(targets(&file), targets(BUNDLE));
    }
    let names = targets(BUNDLE).expect("a bundle");
    let names: Vec<_> = names.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["gfx803", "gfx900:xnack-"]);
}

#[test]
fn bundles_follow_one_another() {
    for (version, method) in every_form() {
        let one = compressed(BUNDLE, version, method);
        let file = [&one[..], &[0; 100], BUNDLE, &one].concat();
        let found = entries(&file).unwrap_or_else(|error| panic!("{version} {method}: {error}"));
        let bundles: Vec<_> = found.iter().map(|entry| entry.bundle).collect();
        assert_eq!(bundles, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(targets(&file).map(|targets| targets.len()), Ok(6));
    }
}

#[test]
fn large_contents_are_decompressed_as_far_as_needed() {
    let mut contents = BUNDLE.to_vec();
    contents.resize(5 << 20, 7);
    for (version, method) in every_form() {
        let file = compressed(&contents, version, method);
        assert_eq!(entries(&file).map(|entries| entries.len()), Ok(3));
        assert_eq!(targets(&file).map(|targets| targets.len()), Ok(2));
        // Damage behind the table matters to those who want the code.
        if version > 1 {
            let mut damaged = file.clone();
            let end = damaged.len();
            damaged[end - 40..].fill(0x55);
            assert!(entries(&damaged).is_err());
        }
    }
}

#[test]
fn forms_that_are_unknown_are_named() {
    let mut file = compressed(BUNDLE, 2, ZSTD);
    file[4] = 4;
    assert_eq!(defect(&file), CompressionDefect::Version(4));
    file[4] = 2;
    file[6] = 2;
    assert_eq!(defect(&file), CompressionDefect::Method(2));
    let error = entries(&file).expect_err("the method is unknown");
    assert!(error.is_unsupported());
    assert_eq!(
        error.to_string(),
        "compressed offload bundle at offset 0x0: compression method 2 is unknown (0 is zlib, 1 is zstd); recompile \
         with -no-offload-compress"
    );
}

#[test]
fn sizes_are_checked() {
    for method in [ZLIB, ZSTD] {
        let right = BUNDLE.len() as u64;
        let (short, long) = (right - 1, right + 1);
        for (stated, found) in [(short, right), (long, right), (0, 1), (1 << 20, right)] {
            let file = with_size(BUNDLE, 2, method, stated);
            assert_eq!(defect(&file), CompressionDefect::Size { stated, found });
        }
        // More than is ever decompressed, at once and in sum; nothing is allocated for it.
        let size = MAX_UNPACKED + 1;
        let (large, limit) = (with_size(BUNDLE, 3, method, size), MAX_UNPACKED);
        assert_eq!(defect(&large), CompressionDefect::TooLarge { size, limit });
        assert!(targets(&large).is_err());
        let (first, size) = (compressed(BUNDLE, 3, method), MAX_UNPACKED - 1);
        let two = [&first[..], &with_size(BUNDLE, 3, method, size)].concat();
        let limit = MAX_UNPACKED - right;
        assert_eq!(
            entries(&two).expect_err("both are too large"),
            LoadError::CompressedBundle {
                offset: first.len() as u64,
                defect: CompressionDefect::TooLarge { size, limit },
            }
        );
    }
    let mut file = compressed(BUNDLE, 2, ZLIB);
    file[8..12].copy_from_slice(&23_u32.to_le_bytes());
    assert_eq!(defect(&file), CompressionDefect::FileSize(23));
}

#[test]
fn truncation_anywhere_is_an_error() {
    for (version, method) in every_form() {
        let file = compressed(BUNDLE, version, method);
        for len in 4..file.len() {
            assert!(entries(&file[..len]).is_err(), "{version} {method} {len}");
            // Of version 1 the end is where the data ends.
            assert!(targets(&file[..len]).is_err(), "{version} {method} {len}");
        }
    }
}

#[test]
fn what_is_no_bundle_inside_is_an_error() {
    for (version, method) in every_form() {
        let file = compressed(b"\x7fELF, but no bundle", version, method);
        let error = entries(&file).expect_err("no bundle").to_string();
        assert_eq!(
            error,
            "offload bundle at offset 0x0: decompressed, it begins with 7f 45 4c 46 2c 20 62 75"
        );
        let damaged = compressed(&BUNDLE[..200], version, method);
        assert!(matches!(
            entries(&damaged),
            Err(LoadError::Truncated { .. })
        ));
    }
}

#[test]
fn random_damage_never_panics() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    let files: Vec<_> = every_form()
        .map(|(v, m)| compressed(BUNDLE, v, m))
        .collect();
    let mut refused = 0;
    for round in 0..3000 {
        let mut bytes = files[round % files.len()].clone();
        for _ in 0..1 + random(3) {
            let at = 8 + random(bytes.len() - 8);
            bytes[at] ^= 1 << random(8);
        }
        refused += usize::from(entries(&bytes).is_err());
        let _ = targets(&bytes);
    }
    assert!(refused > 1000, "the damage is too light: {refused}");
}
