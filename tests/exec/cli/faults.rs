//! Guests that do wrong: message, status 3, and the fault as JSON, on every engine.

use serde_json::json;

use super::{engines, file, folder, json, root, wavelift};

/// A manifest for one of the kernels in `tests/kernels/faults`; the number is its second argument.
fn manifest(name: &str, kernel: &str, number: &str) -> String {
    let code_object = root().join("tests/kernels/faults/faults.gfx900.co");
    // One wave alone, so that it is known which one the time limit stops.
    let workgroup = if kernel == "endless" { 64 } else { 128 };
    let text = format!(
        "[buffers]\nb = {{ bytes = 1024 }}\n[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"{kernel}\"\n\
         grid = [256]\nworkgroup = [{workgroup}]\nargs = [\"@b\", {{ u64 = {number} }}]\n"
    );
    file(&folder(&format!("fault-{name}")), "m.toml", text)
}

/// Replaces addresses that depend on where the host put guest memory.
fn without_addresses(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("0x7") {
        let digits = rest[at + 2..].find(|c: char| !c.is_ascii_hexdigit());
        let end = digits.map_or(rest.len(), |digits| at + 2 + digits);
        out.push_str(&rest[..at]);
        out.push_str(if end - at > 12 {
            "ADDRESS"
        } else {
            &rest[at..end]
        });
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// What messages end with where checked mode may say more.
pub(super) const ADVICE: &str =
    "\n   to find the first access outside an allocation, try --memcheck";

/// The kernel faults on each engine with just this message and what checked mode may say.
fn faults_by_access(kernel: &str, number: &str, message: &str) {
    faults(kernel, number, &format!("{message}{ADVICE}"));
}

/// The kernel faults on each engine with just this message.
fn faults(kernel: &str, number: &str, message: &str) {
    for engine in engines() {
        let manifest = manifest(&format!("{kernel}-{number}"), kernel, number);
        let run = wavelift(&[
            "run",
            &manifest,
            "--engine",
            engine,
            "--timeout",
            "0.25",
            "--threads",
            "1",
        ]);
        assert_eq!(run.status, 3, "{engine}: {}{}", run.stdout, run.stderr);
        assert_eq!(run.stdout, "", "{engine}");
        assert_eq!(
            without_addresses(&run.stderr),
            format!("fault: {message}\n"),
            "{engine}"
        );
    }
}

#[test]
fn an_unknown_opcode_matters_only_when_it_is_reached() {
    faults(
        "unknown_reached",
        "0",
        "the wave executed an illegal instruction: unknown opcode 127 in SOPP on gfx900 (word 0xbfff0000)\n   \
         at 0x2c18  .long 0xbfff0000  (unknown_reached+0x18)\n   \
         wave 0 of workgroup (0,0,0) of kernel unknown_reached, exec 0xffffffffffffffff",
    );
    for engine in engines() {
        let manifest = manifest("unknown_skipped", "unknown_skipped", "0");
        let run = wavelift(&["run", &manifest, "--engine", engine]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{engine}");
    }
}

#[test]
fn wild_loads_and_stores() {
    faults_by_access(
        "wild_load",
        "0x1000000000",
        "lane 17 read 4 bytes at 0x1000000000, near no allocation\n   \
         at 0x2e30  global_load_dword v6, v[2:3], off  (wild_load+0x30)\n   \
         wave 0 of workgroup (0,0,0) of kernel wild_load, exec 0xffffffffffffffff",
    );
    faults_by_access(
        "wild_store",
        "0x1000000000",
        "lane 17 wrote 8 bytes at 0x1000000000, near no allocation\n   \
         at 0x2f30  global_store_dwordx2 v[2:3], v[0:1], off  (wild_store+0x30)\n   \
         wave 0 of workgroup (0,0,0) of kernel wild_store, exec 0xffffffffffffffff",
    );
    // The aperture of LDS is no global memory, and neither is the far end of the address space.
    for number in ["0x1000000000000", "0xfffffffffffffffc"] {
        for engine in engines() {
            let manifest = manifest(&format!("far-{number}"), "wild_store", number);
            let run = wavelift(&["run", &manifest, "--engine", engine]);
            assert_eq!(run.status, 3, "{engine} {number}: {}", run.stderr);
            assert!(
                run.stderr.starts_with("fault: lane 17 wrote 8 bytes at "),
                "{}",
                run.stderr
            );
        }
    }
}

#[test]
fn null_pointers() {
    faults_by_access(
        "null_load",
        "0",
        "lane 0 read 8 bytes at 0x8, 8 bytes from a null pointer\n   \
         at 0x3018  global_load_dwordx2 v[2:3], v[2:3], off offset:8  (null_load+0x18)\n   \
         wave 0 of workgroup (0,0,0) of kernel null_load, exec 0xffffffffffffffff",
    );
    faults_by_access(
        "null_scalar",
        "0",
        "the wave read 4 bytes at 0x0, a null pointer\n   \
         at 0x3114  s_load_dword s8, s[8:9], 0x0  (null_scalar+0x14)\n   \
         wave 0 of workgroup (0,0,0) of kernel null_scalar, exec 0xffffffffffffffff",
    );
    faults_by_access(
        "wild_jump",
        "0",
        "the wave executed 4 bytes at 0x0, a null pointer\n   at 0x0000  (no code)\n   \
         wave 0 of workgroup (0,0,0) of kernel wild_jump, exec 0xffffffffffffffff",
    );
}

#[test]
fn a_misaligned_atomic() {
    faults_by_access(
        "misaligned",
        "0",
        "lane 0 atomically updated 4 bytes at ADDRESS, which is not aligned to 4\n   \
         at 0x3218  global_atomic_add v2, v3, s[0:1]  (misaligned+0x18)\n   \
         wave 0 of workgroup (0,0,0) of kernel misaligned, exec 0xffffffffffffffff",
    );
}

#[test]
fn an_endless_loop_ends_at_the_timeout() {
    faults(
        "endless",
        "0",
        "the wave was still running after 0.25 s, the time limit of the dispatch\n   \
         at 0x3310  s_add_u32 s8, s8, 1  (endless+0x10)\n   \
         wave 0 of workgroup (0,0,0) of kernel endless, exec 0xffffffffffffffff",
    );
}

#[test]
fn a_trap_names_the_workgroup() {
    faults(
        "trap",
        "0",
        "the wave stopped at trap 2 (llvm.trap)\n   at 0x3418  s_trap 2  (trap+0x18)\n   \
         wave 0 of workgroup (1,0,0) of kernel trap, exec 0xffffffffffffffff",
    );
}

#[test]
fn code_that_runs_past_its_end() {
    faults_by_access(
        "runs_off",
        "0",
        "the wave executed 4 bytes at ADDRESS, 13844 bytes into a 20480-byte allocation\n   \
         at 0x3614  (no code)\n   \
         wave 0 of workgroup (0,0,0) of kernel runs_off, exec 0xffffffffffffffff",
    );
}

#[test]
fn a_fault_as_json() {
    for engine in engines() {
        let manifest = manifest("json", "wild_load", "0x1000000000");
        let run = wavelift(&["run", &manifest, "--engine", engine, "--json"]);
        assert_eq!(run.status, 3);
        assert!(run.stderr.starts_with("fault: lane 17 read 4 bytes"));
        let value = json(&run);
        assert_eq!(
            (&value["ok"], &value["expect"]),
            (&json!(false), &json!([]))
        );
        let expected = json!({
            "kind": "memory",
            "kernel": "wild_load",
            "pc": 0x2e30,
            "instruction": "global_load_dword v6, v[2:3], off",
            "workgroup": [0, 0, 0],
            "wave": 0,
            "lane": 17,
            "address": 0x10_0000_0000u64,
            "message": "lane 17 read 4 bytes at 0x1000000000, near no allocation\n   at 0x2e30  \
                global_load_dword v6, v[2:3], off  (wild_load+0x30)\n   wave 0 of workgroup (0,0,0) of kernel \
                wild_load, exec 0xffffffffffffffff\n   to find the first access outside an allocation, try --memcheck",
            "symbol": "wild_load+0x30",
            "exec": "0xffffffffffffffff",
        });
        assert_eq!(value["fault"], expected, "{engine}");
    }
}

#[test]
fn writes_to_arguments_and_code() {
    let code_object = root().join("tests/kernels/faults/read_only.gfx900.co");
    let remedy = "\n   data that a kernel changes belongs in a buffer or in a global variable that is not \
                  constant";
    for (kernel, message, address) in [
        (
            "write_arguments",
            "lane 3 wrote 4 bytes at ADDRESS, 4 bytes into 16 bytes of kernel arguments, which kernels may \
             only read\n   at 0x1710  global_store_dword v[1:2], v0, off offset:4  \
             (write_arguments+0x10)\n   wave 0 of workgroup (0,0,0) of kernel write_arguments, exec \
             0x0000000000000008",
            None,
        ),
        (
            "write_code",
            "lane 5 atomically updated 4 bytes at ADDRESS, in the kernel's code object at \
             write_code+0x28, which kernels may only read\n   at 0x181c  global_atomic_add v1, v0, s[8:9]  \
             (write_code+0x1c)\n   wave 0 of workgroup (0,0,0) of kernel write_code, exec \
             0x0000000000000020",
            Some(0x1828),
        ),
    ] {
        let text = format!(
            "[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"{kernel}\"\ngrid = [64]\n\
             workgroup = [64]\nargs = [{{ u64 = 1 }}]\n"
        );
        let manifest = file(&folder(&format!("fault-{kernel}")), "m.toml", text);
        for engine in engines() {
            for more in [&[][..], &["--memcheck"]] {
                let run =
                    wavelift(&[&["run", &manifest, "--engine", engine, "--json"], more].concat());
                assert_eq!(run.status, 3, "{engine}: {}", run.stderr);
                let said = without_addresses(&run.stderr);
                assert_eq!(said, format!("fault: {message}{remedy}\n"), "{engine}");
                let fault = &json(&run)["fault"];
                assert_eq!(fault["kind"], "read_only", "{engine}");
                let at = fault["address"].as_u64().expect("it has an address");
                if let Some(local) = address {
                    assert_eq!(at % 4096, local % 4096, "{engine}");
                }
            }
        }
    }
}

#[test]
fn outputs_are_not_written_after_a_fault() {
    let home = folder("fault-outputs");
    let code_object = root().join("tests/kernels/faults/faults.gfx900.co");
    let text = format!(
        "[buffers]\nb = {{ bytes = 1024 }}\n[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"trap\"\n\
         grid = [256]\nworkgroup = [128]\nargs = [\"@b\", {{ u64 = 0 }}]\n[outputs]\nb = \"b.npy\"\n"
    );
    let manifest = file(&home, "m.toml", text);
    let run = wavelift(&["run", &manifest, "--engine", "interp"]);
    assert_eq!(run.status, 3);
    assert!(!home.join("b.npy").exists());
}

#[test]
fn memcheck_reports_what_lies_outside_the_exact_allocation() {
    let code_object = root().join("tests/kernels/faults/faults.gfx900.co");
    let text = format!(
        "[buffers]\nb = {{ bytes = 256 }}\nc = {{ bytes = 4096 }}\n[[dispatch]]\ncode_object = {code_object:?}\n\
         kernel = \"fine\"\ngrid = [128]\nworkgroup = [128]\nargs = [\"@b\", {{ u64 = 0 }}]\n"
    );
    let manifest = file(&folder("memcheck"), "m.toml", text);
    for engine in engines() {
        // Without it only the kernel is named.
        let run = wavelift(&["run", &manifest, "--engine", engine]);
        assert_eq!((run.status, run.stdout.as_str()), (3, ""), "{engine}");
        let start = "fault: kernel fine wrote past the end of a 256-byte buffer: ";
        assert!(run.stderr.starts_with(start), "{engine}: {}", run.stderr);
        assert!(
            run.stderr.ends_with(&format!("{ADVICE}\n")),
            "{engine}: {}",
            run.stderr
        );
        let run = wavelift(&["run", &manifest, "--engine", engine, "--memcheck"]);
        assert_eq!(run.status, 3, "{engine}");
        assert_eq!(
            without_addresses(&run.stderr),
            "fault: lane 0 wrote 4 bytes at ADDRESS, 0 bytes past the end of a 256-byte allocation\n   \
             at 0x2b10  global_store_dword v1, v0, s[0:1]  (fine+0x10)\n   \
             wave 1 of workgroup (0,0,0) of kernel fine, exec 0xffffffffffffffff\n",
            "{engine}"
        );
    }
}

/// A kernel that is launched more often than there is time.
#[test]
fn the_time_limit_is_of_the_whole_run() {
    let code_object = root().join("tests/kernels/faults/faults.gfx900.co");
    let text = format!(
        "[buffers]\nb = {{ bytes = 1024 }}\n[[dispatch]]\ncode_object = {code_object:?}\nkernel = \"fine\"\ngrid = [64]\n\
         workgroup = [64]\nrepeat = 4000000000\nargs = [\"@b\", {{ u64 = 0 }}]\n"
    );
    let manifest = file(&folder("whole-run"), "m.toml", text);
    for engine in engines() {
        let run = wavelift(&[
            "run",
            &manifest,
            "--engine",
            engine,
            "--timeout",
            "0.5",
            "--json",
        ]);
        assert_eq!(run.status, 3, "{engine}: {}", run.stderr);
        assert!(run.stderr.starts_with("fault: "), "{}", run.stderr);
        assert!(run.stderr.contains("500ms"), "{}", run.stderr);
        assert_eq!(json(&run)["fault"]["kind"], "timeout");
        let bench = wavelift(&["bench", &manifest, "--engine", engine, "--timeout", "0.5"]);
        assert_eq!(bench.status, 3, "{engine}: {}", bench.stderr);
        assert_eq!(
            bench.stderr,
            "error: the run was stopped after 500ms, its time limit, before a launch of kernel fine\n"
        );
    }
    if engines().contains(&"jit") {
        for command in ["diff", "profile"] {
            let run = wavelift(&[command, &manifest, "--timeout", "0.5"]);
            assert_eq!(run.status, 3, "{command}: {}", run.stderr);
            assert!(
                run.stderr.contains("before a launch of kernel fine"),
                "{}",
                run.stderr
            );
        }
    }
}
