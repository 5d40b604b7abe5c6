//! Memory is never writable and executable at once, while code of both back ends and both tiers runs, and code from the
//! cache.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};

use super::*;

/// Long enough for hot regions to be translated again.
const SECONDS: &str = "1";

/// What the memory of a process was seen to be like.
#[derive(Default)]
struct Seen {
    looks: usize,
    /// Most mappings with code that no file holds.
    code: usize,
}

impl Seen {
    fn look(&mut self, child: &Child) {
        // It is gone once the process has ended.
        let path = format!("/proc/{}/maps", child.id());
        let Ok(maps) = std::fs::read_to_string(path) else {
            return;
        };
        let mut code = 0;
        for line in maps.lines() {
            let mut words = line.split_whitespace().skip(1);
            let rights = words.next().unwrap_or_default();
            let both = rights.contains('w') && rights.contains('x');
            assert!(!both, "writable and executable: {line}");
            let of_no_file = words.nth(2) == Some("0") && words.next().is_none();
            code += usize::from(rights.contains('x') && of_no_file);
        }
        self.looks += 1;
        self.code = self.code.max(code);
    }
}

#[test]
fn no_page_is_writable_and_executable() {
    for emitter in ["auto", "cranelift"] {
        let cache = folder(&format!("sandbox-pages-{emitter}")).join("code");
        let cache = cache.to_str().expect("it is text");
        for cached in [false, true] {
            let mut child = Command::new(env!("CARGO_BIN_EXE_wavelift"))
                .args(["bench", "benches/manifests/alu-64k.gfx900.toml", "--json"])
                .args(["--seconds", SECONDS, "--emitter", emitter, "--cache", cache])
                .current_dir(root())
                .stdout(Stdio::piped())
                .spawn()
                .expect("the program is built");
            let mut seen = Seen::default();
            while child.try_wait().expect("it is ours").is_none() {
                seen.look(&child);
                std::thread::sleep(Duration::from_millis(5));
            }
            let mut text = String::new();
            let mut out = child.stdout.take().expect("it is a pipe");
            out.read_to_string(&mut text).expect("it is text");
            let report: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
            let dispatches = report["dispatches"].as_array().expect("a list");
            let sum = |key: &str| {
                dispatches
                    .iter()
                    .filter_map(|d| d[key].as_u64())
                    .sum::<u64>()
            };
            assert!(seen.looks > 20 && seen.code > 0, "{} looks", seen.looks);
            match cached {
                false => assert_ne!(sum("regions_improved"), 0, "{emitter}: the second tier"),
                true => assert_ne!(sum("regions_cached"), 0, "{emitter}: from the cache"),
            }
        }
    }
}
