//! A cached object is read back unchanged, or not at all.

use super::*;

fn folder(name: &str) -> Folder {
    folder_with(name, None)
}

/// A folder with a size limit.
pub(super) fn folder_with(name: &str, limit: Option<u64>) -> Folder {
    let path = std::env::temp_dir().join(format!("wavelift-{}-{name}", std::process::id()));
    Folder::open(&path, limit).unwrap()
}

pub(super) fn object() -> Object {
    Object {
        code: (0..200).collect(),
        patches: vec![
            Patch {
                offset: 16,
                symbol: Symbol::Guest,
                addend: -4,
            },
            Patch {
                offset: 192,
                symbol: Symbol::Function(3),
                addend: 0,
            },
        ],
        frame_slots: 7,
        writes_from: 3,
        switches_waves: true,
        straight: true,
        guest_insts: 12,
        vgprs: 9,
        agprs: 10,
        reads: [
            [1, 2, 3, 4, 5, 6, 7, 8],
            [9, 10, 11, 12, 13, 14, 15, u64::MAX],
        ],
        sites: vec![0, 8, u64::MAX],
        fallbacks: vec!["v_add_f32".to_owned()],
        wide: true,
        refused: Some("fcmp of f64".to_owned()),
        shape: None,
    }
}

const KEY: Key = [7; 32];

#[test]
fn what_was_written_is_read() {
    let folder = folder("round");
    assert_eq!(folder.read(&KEY), None);
    folder.write(&KEY, &object()).unwrap();
    assert_eq!(folder.read(&KEY), Some(object()));
    // No other file is left.
    assert_eq!(fs::read_dir(&folder.path).unwrap().count(), 1);
    // Another key does not find it, even where the file is called by it.
    let other = [8; 32];
    fs::copy(folder.file(&KEY), folder.file(&other)).unwrap();
    assert_eq!(folder.read(&other), None);
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn damage_is_seen_wherever_it_is() {
    let folder = folder("damage");
    folder.write(&KEY, &object()).unwrap();
    let good = fs::read(folder.file(&KEY)).unwrap();
    for length in 0..good.len() {
        fs::write(folder.file(&KEY), &good[..length]).unwrap();
        assert_eq!(folder.read(&KEY), None, "cut to {length}");
    }
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        fs::write(folder.file(&KEY), &bad).unwrap();
        assert_eq!(folder.read(&KEY), None, "byte {at}");
    }
    let longer = [&good[..], &[0]].concat();
    fs::write(folder.file(&KEY), longer).unwrap();
    assert_eq!(folder.read(&KEY), None);
    folder.write(&KEY, &object()).unwrap();
    assert_eq!(folder.read(&KEY), Some(object()));
    fs::remove_dir_all(&folder.path).unwrap();
}

/// A file with a valid hash, and this header and body.
fn forge(folder: &Folder, header: &[u8], body: &[u8]) {
    let bytes = [header, body].concat();
    let hash = Sha256::digest(&bytes);
    fs::write(folder.file(&KEY), [&bytes[..], &hash].concat()).unwrap();
}

#[test]
fn another_translators_code_is_not_taken() {
    let folder = folder("stale");
    let mut body = Vec::new();
    encode(&object(), &mut body);
    forge(&folder, &header(&KEY), &body);
    assert_eq!(folder.read(&KEY), Some(object()));
    let mut stale = header(&KEY);
    stale[MAGIC.len()] ^= 1;
    forge(&folder, &stale, &body);
    assert_eq!(folder.read(&KEY), None);
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn lists_longer_than_the_file_and_patches_outside_the_code_are_refused() {
    let folder = folder("lists");
    let mut body = Vec::new();
    encode(&object(), &mut body);
    for at in (0..body.len() - 8).step_by(8) {
        let mut bad = body.clone();
        bad[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        forge(&folder, &header(&KEY), &bad);
        // Numbers that may have any value are taken as they are.
        if let Some(read) = folder.read(&KEY) {
            assert!(read.is_sound());
        }
    }
    let mut outside = object();
    outside.patches[0].offset = 193;
    let mut body = Vec::new();
    encode(&outside, &mut body);
    forge(&folder, &header(&KEY), &body);
    assert_eq!(folder.read(&KEY), None);
    fs::remove_dir_all(&folder.path).unwrap();
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let file = std::env::temp_dir().join(format!("wavelift-{}-file", std::process::id()));
    fs::write(&file, "").unwrap();
    assert!(Folder::open(&file, None).is_err());
    assert!(Folder::open(&file.join("below"), None).is_err());
    fs::remove_file(&file).unwrap();
}

#[test]
fn memory_forgets_the_oldest() {
    let big = |first: u8| {
        let code = vec![first; MEMORY_BYTES / 2];
        Arc::new(Object {
            code: code.into(),
            patches: Vec::new(),
            ..object()
        })
    };
    let key = |n: u8| [n; 32];
    for n in 100..103 {
        remember(key(n), &big(n));
    }
    assert_eq!(recall(&key(100)), None);
    assert_eq!(recall(&key(102)).unwrap().code[0], 102);
}
