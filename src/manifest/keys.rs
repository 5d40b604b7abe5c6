//! Every key of a launch manifest with its documentation. The parser accepts these keys and no others, and the reference
//! (`wavelift help manifest`, `docs/manifest.md`) is made of them.

mod check;

pub use check::{CHECK, SUPPRESS};

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name; several names of one meaning are separated by spaces.
    pub name: &'static str,
    /// What kind of value it takes.
    pub value: &'static str,
    /// What it means, and what holds when it is missing.
    pub about: &'static str,
}

/// A table of a manifest and its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// The table as one writes it.
    pub title: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its keys; none where the manifest chooses the names.
    pub keys: &'static [Key],
    /// Lines that show it.
    pub example: &'static str,
}

impl Section {
    /// The names of its keys.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.keys.iter().flat_map(|key| key.name.split(' '))
    }
}

const fn key(name: &'static str, value: &'static str, about: &'static str) -> Key {
    Key { name, value, about }
}

/// The manifest itself.
pub const ROOT: Section = Section {
    title: "The file",
    about: "A TOML file of at most 8 MiB. File names in it are relative to its folder. Unknown keys, missing files, unknown \
            buffers and kernels, and arguments that do not fit the kernel's metadata are errors that name key and line; \
            nothing runs then.",
    keys: &[
        key(
            "memory",
            "table",
            "Where guest memory is, for contents that have addresses in them. Default: where there is room.",
        ),
        key("buffers", "table", "Buffers by name. Default: none."),
        key(
            "dispatch",
            "array of tables",
            "Launches of kernels, in order; at least one.",
        ),
        key(
            "outputs",
            "table",
            "Files to write after the last dispatch, by buffer. Default: none.",
        ),
        key(
            "expect",
            "table",
            "What buffers must hold after the last dispatch, by buffer. Default: nothing is checked.",
        ),
        key(
            "check",
            "table",
            "How `wavelift check` checks the manifest. Default: its code only.",
        ),
    ],
    example: "",
};

/// Guest memory.
pub const MEMORY: Section = Section {
    title: "[memory]",
    about: "Guest memory at an address, on Linux, so that addresses in buffers are those of another run. `wavelift exec --record` \
            writes such manifests. Every buffer then has an `address`, and every dispatch a `code_address`.",
    keys: &[
        key(
            "address",
            "integer",
            "The first address, a multiple of 65536 that is free in the host's address space.",
        ),
        key(
            "bytes",
            "integer",
            "Size of the address space, 2^26 to 2^46.",
        ),
    ],
    example: "[memory]\naddress = 0x100000000000\nbytes = 0x1000000000",
};

/// A buffer.
pub const BUFFER: Section = Section {
    title: "[buffers]",
    about: "Each entry is a buffer and its contents before the first dispatch: `file`, or `bytes`, or `type` with one of \
            `values`, `fill`, `random` or none of them (zeros).",
    keys: &[
        key(
            "file",
            "string",
            "A .npy file, whose type and shape are kept, or a .bin file of raw bytes.",
        ),
        key(
            "bytes",
            "integer",
            "That many zero bytes without an element type.",
        ),
        key(
            "type",
            "string",
            "Element type: i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64.",
        ),
        key(
            "count",
            "integer",
            "Number of elements; may be left out with `values`.",
        ),
        key("random", "table", "Pseudo-random elements, see `random`."),
        key(
            "values",
            "array of numbers",
            "The elements. Large arrays belong in a .npy file.",
        ),
        key("fill", "number", "The value of every element."),
        key(
            "undefined",
            "boolean",
            "With `bytes`, or `type` and `count`: nobody has written the contents. `check --dynamic` finds uses of them; they \
             are zeros.",
        ),
        key(
            "address",
            "integer",
            "With `[memory]`: the address of the first byte: a multiple of 256 in guest memory; any address outside of it, where \
             accesses cost more; or that of a code object, whose memory it then is.",
        ),
    ],
    example: "[buffers]\nx = { file = \"x.npy\" }\ny = { type = \"f32\", count = 5120 }\nz = { type = \"i32\", values = [1, 2, 3] }\n\
              r = { type = \"f32\", count = 1024, random = { seed = 7, low = -1.0, high = 1.0 } }\ntmp = { bytes = 4096 }",
};

/// Random contents.
pub const RANDOM: Section = Section {
    title: "random = { ... }",
    about: "Uniformly distributed numbers, the same on every machine.",
    keys: &[
        key("seed", "integer", "Seed of the generator, 0 to 2^64 - 1."),
        key(
            "low",
            "number",
            "Least value. Default: 0 for floats, the type's least value for integers.",
        ),
        key(
            "high",
            "number",
            "Bound of floats (not reached), greatest value of integers. Default: 1 for floats, the type's greatest value for integers.",
        ),
    ],
    example: "",
};

/// A dispatch.
pub const DISPATCH: Section = Section {
    title: "[[dispatch]]",
    about: "A launch of a kernel. A code object that several dispatches name is loaded once, so its global variables keep their \
            values between them.",
    keys: &[
        key(
            "code_object",
            "string",
            "An HSA code object (ELF), a HIP fat binary, a clang offload bundle or a program with HIP kernels.",
        ),
        key(
            "code_address",
            "integer",
            "With `[memory]`: where the code object is loaded. A code object has one address in all dispatches.",
        ),
        key("kernel", "string", "The kernel's name."),
        key(
            "grid",
            "array of 1 to 3 integers",
            "Work-items in each dimension; the number of entries is the dispatch's work dimension.",
        ),
        key(
            "workgroup",
            "array of 1 to 3 integers",
            "Work-items of a workgroup in each dimension, at most 1024 in all. The last workgroup of a dimension may be partial.",
        ),
        key(
            "global_offset",
            "array of 1 to 3 integers",
            "OpenCL's global work offset. Default: 0.",
        ),
        key(
            "dynamic_lds",
            "integer",
            "Bytes of LDS in addition to the kernel's own and to `local` arguments. Default: 0.",
        ),
        key(
            "stack",
            "integer",
            "Bytes of stack of each work-item in addition to the scratch that the kernel states. Default: 16384 for kernels that declare their stack as dynamic, 0 for others.",
        ),
        key(
            "gws",
            "array of integers",
            "Counters of the resources of the global wave sync before each launch, from resource 0 on, those left out 0. \
             Default: as earlier launches leave them, 0 at first.",
        ),
        key("repeat", "integer", "How often it is launched. Default: 1."),
        key(
            "args",
            "array of arguments",
            "The kernel's explicit arguments, in order. Hidden arguments are filled in. Default: none.",
        ),
        key(
            "kernarg",
            "string",
            "In place of `args`: a .bin file with the whole kernarg segment, hidden arguments included.",
        ),
    ],
    example: "[[dispatch]]\ncode_object = \"saxpy.gfx900.co\"\nkernel = \"saxpy\"\ngrid = [5120]\nworkgroup = [256]\n\
              args = [\"@y\", \"@x\", { f32 = 2.5 }, { i32 = 5120 }]",
};

/// An argument.
pub const ARGUMENT: Section = Section {
    title: "args = [ ... ]",
    about: "An argument is `\"@name\"`, the address of a buffer; `\"@name+64\"`, the address plus bytes; or a table with one of these \
            keys.",
    keys: &[
        key(
            "i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64",
            "number",
            "A scalar of that type; its size must be the parameter's.",
        ),
        key("local", "integer", "A pointer to that many bytes of LDS."),
        key(
            "hex",
            "string",
            "Bytes of a structure or vector that is passed by value, two digits each, in memory order.",
        ),
    ],
    example: "args = [\"@y\", \"@x+64\", { f32 = 2.5 }, { local = 1024 }, { hex = \"00ff 8000\" }]",
};

/// Outputs.
pub const OUTPUTS: Section = Section {
    title: "[outputs]",
    about: "Each entry names a buffer and the .npy or .bin file that it is written to after the last dispatch. `--out DIR` writes \
            into another folder. A file is written under a temporary name and then renamed, so that an error leaves the old file as it \
            was.",
    keys: &[],
    example: "[outputs]\ny = \"y.out.npy\"",
};

/// An expectation.
pub const EXPECT: Section = Section {
    title: "[expect]",
    about: "Each entry names a buffer and what it must hold after the last dispatch: `file`, `values` or `fill`. Without a tolerance \
            every bit must be right. What fails, and the greatest errors, are printed; the exit status is 1.",
    keys: &[
        key(
            "file",
            "string",
            "A .npy or .bin file with the right contents.",
        ),
        key("values", "array of numbers", "The right elements."),
        key("fill", "number", "The right value of every element."),
        key(
            "type",
            "string",
            "Element type of `values` and `fill`. Default: the buffer's.",
        ),
        key(
            "abs",
            "number",
            "Greatest absolute part of the error: |a - b| <= abs + rel * |b|. A NaN equals a NaN. Default: 0.",
        ),
        key(
            "rel",
            "number",
            "Greatest relative part of the error. Default: 0.",
        ),
        key(
            "ulp",
            "integer",
            "Greatest distance in units in the last place of the type, in place of `abs` and `rel`.",
        ),
    ],
    example: "[expect]\ny = { file = \"y.expected.npy\", ulp = 4 }\nz = { values = [1, 2, 3] }",
};

/// All of them, in the order of the reference.
pub const SECTIONS: [Section; 11] = [
    ROOT,
    MEMORY,
    BUFFER,
    RANDOM,
    DISPATCH,
    ARGUMENT,
    OUTPUTS,
    EXPECT,
    CHECK,
    SUPPRESS,
    COMMAND_LINE,
];

/// Where command-line options decide.
const COMMAND_LINE: Section = Section {
    title: "Options that change a manifest's meaning",
    about: "`--stack` decides over `stack`; `--dynamic`, `--shuffle` and `--notes` over `[check]`; `--out` over the folder of `[outputs]`; `--target` selects among the code objects of a \
            bundle; with `--sandbox` all files must be in the manifest's folder, but for those of `--out`. `wavelift run k.co --kernel K --grid N --arg A ... --emit-manifest` prints the manifest of a kernel that is named \
            on the command line.",
    keys: &[],
    example: "",
};

/// The reference as text for a terminal.
pub fn text() -> String {
    let mut out = String::from(
        "A launch manifest describes a run: buffers, dispatches, outputs, expectations.\n",
    );
    for section in SECTIONS {
        out += &format!("\n{}\n", section.title);
        out += &wrapped(section.about, "  ", 2);
        let width = section
            .keys
            .iter()
            .map(|key| key.name.len())
            .filter(|&n| n < 16)
            .max()
            .unwrap_or(0);
        for key in section.keys {
            let name = format!("    {:width$}  ", key.name);
            out += &wrapped(&format!("{}: {}", key.value, key.about), &name, 6 + width);
        }
        for line in section.example.lines() {
            out += &format!("      {line}\n");
        }
    }
    out
}

/// The reference as a Markdown page.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Launch manifests\n\nA launch manifest describes a run: buffers, dispatches, outputs, expectations. `wavelift run`, `diff`, `bench` and \
         `profile` read it. This page is made of the parser's own table of keys (`src/manifest/keys.rs`); `wavelift help manifest` \
         prints the same.\n",
    );
    for section in SECTIONS {
        out += &format!(
            "\n## {}\n\n{}\n",
            section.title.replace('[', "\\[").replace(']', "\\]"),
            section.about
        );
        if !section.keys.is_empty() {
            out += "\n| key | value | meaning |\n|---|---|---|\n";
            for key in section.keys {
                let about = key.about.replace('|', "\\|");
                let names = key
                    .name
                    .split(' ')
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(" ");
                out += &format!("| {names} | {} | {about} |\n", key.value);
            }
        }
        if !section.example.is_empty() {
            out += &format!("\n```toml\n{}\n```\n", section.example);
        }
    }
    out
}

/// Text in lines of at most 100 columns, the first behind `first`, the others behind spaces of this width.
fn wrapped(text: &str, first: &str, rest: usize) -> String {
    let rest = " ".repeat(rest);
    let options = textwrap::Options::new(100)
        .initial_indent(first)
        .subsequent_indent(&rest);
    textwrap::fill(text, options) + "\n"
}
