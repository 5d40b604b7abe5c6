//! Which barriers `wavelift check --dynamic` names redundant, on both engines.

use wavelift::check::{Code, routines};
use wavelift::frontend::Op;
use wavelift::object;

use super::TARGETS;
use crate::cli::{engines, file, folder, json, root, wavelift};

/// Kernel of `tests/kernels/races/barriers.cl`, work-items, those of a workgroup, arguments behind `x` and `y`; which of its
/// barriers are redundant, in the order of addresses.
const KERNELS: &str = "
    one_of_two      | 256 | 128 |              | 1
    between_atomics | 256 |  64 |              | 0 1
    in_a_loop       | 256 | 128 | , { u32 = 5 } |
    in_a_loop       | 256 | 128 | , { u32 = 0 } |
    two_executions  | 256 | 128 | , { u32 = 2 } |
    between_atomics | 256 | 128 |              | 1
    either          | 128 | 128 |              | 0 1
    before_a_flag   | 256 | 128 | , \"@flag\"  |
    before_a_flag   | 128 | 128 | , \"@flag\"  | 0
";

/// The addresses of a kernel's barriers.
fn barriers(object: &[u8], kernel: &str) -> Vec<u64> {
    let open = object::open(object, None).expect("it is a code object");
    let mut all = routines(&open).into_iter();
    let found = all.find(|named| named.name == kernel);
    let code = Code::new(&found.expect("it has the kernel").routine);
    let barriers = code.items.iter();
    let barriers = barriers.filter(|item| item.inst.op() == Op::Barrier);
    barriers.map(|item| item.address).collect()
}

#[test]
fn barriers_on_which_nothing_depends_are_named() {
    let home = folder("redundant-barriers");
    for line in KERNELS.trim().lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [kernel, grid, workgroup, args, redundant] = cells[..] else {
            panic!("{line}")
        };
        for target in TARGETS {
            let code_object = root().join(format!("tests/kernels/races/barriers.{target}.co"));
            let object = std::fs::read(&code_object).expect("the code object is there");
            let barriers = barriers(&object, kernel);
            let text = format!(
                "[buffers]\nx = {{ type = \"u32\", random = {{ seed = 1 }}, count = 256 }}\n\
                 y = {{ type = \"u32\", count = 512 }}\nflag = {{ type = \"u32\", count = 1 }}\n\
                 [[dispatch]]\ncode_object = {:?}\nkernel = {kernel:?}\ngrid = [{grid}]\n\
                 workgroup = [{workgroup}]\nargs = [\"@x\", \"@y\"{args}]\n",
                code_object.display().to_string()
            );
            let manifest = file(&home, "barriers.toml", text);
            for engine in engines() {
                let options = ["--dynamic", "--notes", "--json", "--engine", engine];
                let check = wavelift(&[&["check", &manifest], &options[..]].concat());
                let report = json(&check);
                let found = report["findings"].as_array().expect("an array").iter();
                let notes = found.filter(|found| found["rule"] == "redundant-barrier");
                let named = notes.map(|note| {
                    assert_eq!(note["severity"], "note");
                    let address = note["instruction"]["address"].as_u64();
                    let index = barriers.iter().position(|at| Some(*at) == address);
                    index.expect("it is at a barrier").to_string()
                });
                let named: Vec<_> = named.collect();
                assert_eq!(named.join(" "), redundant, "{line} {target} {engine}");
                assert_eq!(check.status, 0, "{}", check.stderr);
            }
        }
    }
}
