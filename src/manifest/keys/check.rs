//! Keys of checks.

use super::{Section, key};

/// How the manifest is checked.
pub const CHECK: Section = Section {
    title: "[check]",
    about: "How `wavelift check` checks the manifest; its options decide over these keys. Other commands do not use them.",
    keys: &[
        key(
            "dynamic",
            "boolean",
            "Checks what the kernels do when they run, as well as their code. Default: only with `--dynamic`, which leaves out the \
             checks of code.",
        ),
        key(
            "shuffle",
            "integer",
            "Seed of another order of workgroups and waves, in which dynamic checks repeat each launch. Default: none.",
        ),
        key("notes", "boolean", "Notes are printed. Default: false."),
        key(
            "suppress",
            "array of tables",
            "Findings that are known, see `suppress`. Default: none.",
        ),
    ],
    example: "[check]\ndynamic = true\nshuffle = 1",
};

/// A known finding.
pub const SUPPRESS: Section = Section {
    title: "[[check.suppress]]",
    about: "A finding that is known and not reported. A file of `--suppress` has the same as `[[suppress]]`.",
    keys: &[
        key(
            "rule",
            "string",
            "The rule, which a finding has in brackets.",
        ),
        key("kernel", "string", "The kernel or function; `*`: all."),
        key("reason", "string", "Why it is known."),
        key(
            "address",
            "integer",
            "Address of the instruction in the code object. Default: all of the kernel.",
        ),
        key(
            "file",
            "string",
            "The end of the path of the code object (of dynamic checks: of the manifest). Default: any.",
        ),
    ],
    example: "[[check.suppress]]\nrule = \"race-global\"\nkernel = \"count\"\nreason = \"each wave may store the last number\"",
};
