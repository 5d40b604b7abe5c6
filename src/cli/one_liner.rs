//! A kernel on the command line: options become the text of a launch manifest, which is then read like any other.

use std::path::Path;

use anyhow::{Context, bail};
use runtime::foreign::{self, Foreign};
use runtime::object::{self, CodeObject, Kernel, TargetId};
use wavelift::Size;
use wavelift::manifest::{Manifest, ManifestError};

mod argument;

use argument::{Argument, Spec};

/// What the options of a kernel stand under in the help.
const HEADING: &str = "A kernel without a manifest (FILE is a code object or a source)";

/// A kernel that is named on the command line.
#[derive(clap::Args, Default)]
pub(super) struct OneLiner {
    /// The kernel [default: the only one]
    #[arg(help_heading = HEADING, long, value_name = "NAME")]
    kernel: Option<String>,
    /// Work-items in each dimension: 5120 or 640,480
    #[arg(
        help_heading = HEADING, long,
        value_name = "X[,Y[,Z]]",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    grid: Vec<u32>,
    /// Work-items of a workgroup in each dimension [default: what the kernel requires, else 256, 16,16 or 8,8,4 at most]
    #[arg(
        help_heading = HEADING, long,
        visible_alias = "workgroup",
        value_name = "X[,Y[,Z]]",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    block: Vec<u32>,
    /// An argument, in the kernel's order or by parameter name: see below
    #[arg(help_heading = HEADING, long = "arg", value_name = "[NAME=]VALUE", allow_hyphen_values = true)]
    args: Vec<String>,
    /// Bytes of LDS in addition to the kernel's own
    #[arg(help_heading = HEADING, long, value_name = "BYTES", allow_negative_numbers = true)]
    lds: Option<u32>,
    /// Launch it that often
    #[arg(help_heading = HEADING, long, value_name = "N", allow_negative_numbers = true)]
    repeat: Option<u64>,
    /// What a buffer must hold at the end: y=@y.npy, y=1,2,3 or y=@y.npy,rel=1e-5 (also abs=, ulp=)
    #[arg(help_heading = HEADING, long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    expect: Vec<String>,
    /// Write a buffer to a .npy or .bin file at the end
    #[arg(help_heading = HEADING, long, value_name = "NAME=FILE")]
    output: Vec<String>,
    /// Print the equivalent launch manifest; nothing runs
    #[arg(help_heading = HEADING, long)]
    pub(super) emit_manifest: bool,
}

/// The kinds of `--arg`, for the help of commands.
pub(super) const ARGUMENTS: &str = "\
Arguments of a kernel without a manifest (--arg), each with NAME= before it if you like:
  2.5, 5120, -1, 0x10   a scalar of the parameter's type
  f32:2.5               a scalar of this type (i8 to u64, f16, f32, f64); f32:1,2,3,4 a vector
  @x.npy, @x.bin        a buffer with a file's contents
  out:f32:5120          a buffer of zeros (also zero:)
  fill:f32:5120:1.5     a buffer of the same value
  random:f32:5120       a buffer of random numbers; random:f32:5120:SEED:LOW:HIGH
  values:f32:1,2,3      a buffer of these elements
  bytes:4096            a buffer of zero bytes
  buf:y+64              an earlier buffer, plus bytes
  local:1024            LDS of that many bytes
  hex:00ff8000          the bytes of a structure
A buffer has the name given, else the parameter's.";

/// The lines of a manifest that options were made into, each with its option.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins(Vec<String>);

impl Origins {
    /// An error about a line as one about its option.
    pub(super) fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        let Some(known) = error.downcast_ref::<ManifestError>() else {
            return error;
        };
        let origin = known
            .place
            .as_ref()
            .and_then(|place| self.0.get(place.line.checked_sub(1)?));
        match origin {
            Some(origin) if !origin.is_empty() => {
                anyhow::anyhow!("{}: {}", Foreign(origin), known.message)
            }
            _ => anyhow::anyhow!("{}", known.message),
        }
    }
}

/// The text of a manifest while it is made.
#[derive(Default)]
struct Text {
    text: String,
    origins: Origins,
}

impl Text {
    fn line(&mut self, line: &str, origin: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.origins.0.push(origin.to_owned());
    }
}

/// A manifest made of options: the text and where its lines come from.
pub(super) struct Made {
    pub(super) text: String,
    pub(super) origins: Origins,
}

impl Made {
    /// Reads the text. Names in it are relative to the current folder.
    pub(super) fn manifest(&self) -> anyhow::Result<Manifest> {
        let manifest = Manifest::parse(Path::new("options"), &self.text);
        manifest.map_err(|error| self.origins.explain(error.into()))
    }
}

impl OneLiner {
    /// Is no option given?
    pub(super) fn is_empty(&self) -> bool {
        let lists = [
            self.args.is_empty(),
            self.expect.is_empty(),
            self.output.is_empty(),
        ];
        let sizes = [self.grid.is_empty(), self.block.is_empty()];
        let single = [
            self.kernel.is_none(),
            self.lds.is_none(),
            self.repeat.is_none(),
            !self.emit_manifest,
        ];
        [&lists[..], &sizes, &single]
            .concat()
            .into_iter()
            .all(|empty| empty)
    }

    /// The manifest of a kernel in a code object's file; `shown` is what the user named.
    pub(super) fn manifest(
        &self,
        file: &Path,
        bytes: &[u8],
        target: Option<&TargetId>,
        shown: &Path,
    ) -> anyhow::Result<Made> {
        let object = match &self.kernel {
            Some(name) => object::open_kernel(bytes, target, name),
            None => object::open(bytes, target),
        };
        let object = object.map_err(|error| match error {
            object::LoadError::Ambiguous { .. } => anyhow::anyhow!("{error} with --target"),
            error => error.into(),
        });
        let object = object.with_context(|| foreign::path(shown))?;
        let kernel = self.choose(&object, shown)?;
        if self.grid.is_empty() {
            bail!(
                "{} has kernels, but nothing says on what to run them; give the grid and the arguments, for \
                 example\n  {}",
                foreign::path(shown),
                example(shown, kernel)
            );
        }
        self.text(file, kernel)
    }

    /// The kernel that is named, or the only one.
    fn choose<'o>(&self, object: &'o CodeObject, shown: &Path) -> anyhow::Result<&'o Kernel> {
        let shown = foreign::path(shown);
        if let Some(name) = &self.kernel {
            return object.kernel(name).with_context(|| shown);
        }
        match &object.kernels[..] {
            [] => bail!("{shown} has no kernels"),
            [kernel] => Ok(kernel),
            kernels => {
                let names: Vec<_> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
                bail!(
                    "{shown} has several kernels; name one with --kernel: {}",
                    Foreign(&names.join(", "))
                )
            }
        }
    }

    fn text(&self, file: &Path, kernel: &Kernel) -> anyhow::Result<Made> {
        let info = kernel.metadata.as_ref();
        let parameters: Vec<_> = info.map_or_else(Vec::new, |info| info.explicit_args().collect());
        let arguments = argument::assign(&self.args, &parameters, info.is_some())?;
        let mut out = Text::default();
        let buffers = arguments
            .iter()
            .filter_map(|argument| Some((argument.buffer()?, argument)));
        for (n, (line, argument)) in buffers.enumerate() {
            if n == 0 {
                out.line("[buffers]", "");
            }
            out.line(&line, &argument.origin());
        }
        if !out.text.is_empty() {
            out.line("", "");
        }
        out.line("[[dispatch]]", "");
        out.line(
            &format!("code_object = {}", quoted(&file.to_string_lossy())),
            "the code object",
        );
        out.line(&format!("kernel = {}", quoted(&kernel.name)), "--kernel");
        out.line(&format!("grid = {:?}", self.grid), "--grid");
        let block = match &self.block[..] {
            [] => Size::default_workgroup(self.grid.len(), info),
            block => block.to_vec(),
        };
        out.line(&format!("workgroup = {block:?}"), "--block");
        if let Some(lds) = self.lds {
            out.line(&format!("dynamic_lds = {lds}"), "--lds");
        }
        if let Some(repeat) = self.repeat {
            out.line(&format!("repeat = {repeat}"), "--repeat");
        }
        let missing = parameters
            .iter()
            .skip(arguments.len())
            .map(|parameter| parameter.label());
        let missing: Vec<_> = missing.collect();
        let about = match missing.is_empty() {
            true => "--arg".to_owned(),
            false => format!("--arg is missing for {}", missing.join(", ")),
        };
        out.line("args = [", &about);
        for argument in &arguments {
            out.line(&format!("    {},", argument.value()?), &argument.origin());
        }
        out.line("]", &about);
        if !self.output.is_empty() {
            out.line("", "");
            out.line("[outputs]", "");
            for output in &self.output {
                let (name, file) = named(output, "--output y=y.npy")?;
                out.line(
                    &format!("{} = {}", quoted_key(name), quoted(file)),
                    &format!("--output {output}"),
                );
            }
        }
        if !self.expect.is_empty() {
            out.line("", "");
            out.line("[expect]", "");
            for expect in &self.expect {
                let (name, value) = named(expect, "--expect y=@y.npy")?;
                let value = argument::expectation(value)
                    .with_context(|| format!("--expect {}", Foreign(expect)))?;
                out.line(
                    &format!("{} = {{ {value} }}", quoted_key(name)),
                    &format!("--expect {expect}"),
                );
            }
        }
        Ok(Made {
            text: out.text,
            origins: out.origins,
        })
    }
}

/// `NAME=VALUE`.
fn named<'a>(text: &'a str, example: &str) -> anyhow::Result<(&'a str, &'a str)> {
    text.split_once('=')
        .filter(|(name, value)| !name.is_empty() && !value.is_empty())
        .with_context(|| format!("`{}` is not of the form {example}", Foreign(text)))
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A key of TOML.
fn quoted_key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(plain) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// A command that launches a kernel, with something for each parameter.
fn example(file: &Path, kernel: &Kernel) -> String {
    let mut line = format!(
        "wavelift run {} --kernel {} --grid 256",
        foreign::path(file),
        Foreign(&kernel.name)
    );
    let parameters = kernel.metadata.iter().flat_map(|info| info.explicit_args());
    for (n, parameter) in parameters.enumerate() {
        let name = parameter
            .name
            .as_deref()
            .map(|name| format!("{}=", Foreign(name)))
            .unwrap_or_default();
        line += &format!(" --arg {name}{}", Spec::example(parameter, n));
    }
    line
}

/// Files whose names may be given where a manifest is expected.
pub(super) fn is_code(bytes: &[u8]) -> bool {
    let starts: [&[u8]; 4] = [
        b"\x7fELF",
        b"__CLANG_OFFLOAD_BUNDLE__",
        b"CCOB",
        b"\x10\xff\x10\xad",
    ];
    starts.iter().any(|start| bytes.starts_with(start))
}

impl Argument<'_> {
    /// The option that gave it.
    fn origin(&self) -> String {
        format!("--arg {}", self.text)
    }
}
