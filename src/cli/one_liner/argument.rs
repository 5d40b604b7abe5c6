//! The values of `--arg` and `--expect`.

use anyhow::{Context, bail};
use runtime::foreign::Foreign;
use runtime::object::{ArgKind, ArgMetadata};
use wavelift::manifest::Dtype;

use super::{quoted, quoted_key};

/// An argument of a kernel.
pub(super) struct Argument<'a> {
    /// As it was given.
    pub(super) text: &'a str,
    /// Name of the buffer.
    name: String,
    spec: Spec<'a>,
    parameter: Option<&'a ArgMetadata>,
}

/// What an argument is.
pub(super) enum Spec<'a> {
    /// A new buffer, by its entry in `[buffers]`.
    Buffer(String),
    /// An earlier buffer with an offset, as a manifest writes it.
    Earlier(&'a str),
    /// Elements of a type by value.
    Typed(Dtype, &'a str),
    /// A number of the parameter's type.
    Number(&'a str),
    /// LDS.
    Local(&'a str),
    /// Bytes.
    Hex(&'a str),
}

/// Gives arguments to parameters: those whose name is a parameter's to that one, the others in order to what is left.
pub(super) fn assign<'a>(
    texts: &'a [String],
    parameters: &[&'a ArgMetadata],
    described: bool,
) -> anyhow::Result<Vec<Argument<'a>>> {
    let number = |name: &str| {
        let named = |parameter: &&ArgMetadata| parameter.name.as_deref() == Some(name);
        parameters.iter().position(named)
    };
    let mut slots: Vec<Option<Argument<'a>>> = Vec::new();
    slots.resize_with(texts.len().max(parameters.len()), || None);
    let mut rest = Vec::new();
    for text in texts {
        let (name, value) = split_name(text);
        match name.and_then(number) {
            Some(n) if slots[n].is_some() => {
                bail!("--arg {}: the parameter has a value already", Foreign(text))
            }
            Some(n) => {
                slots[n] = Some(Argument::new(
                    text,
                    name,
                    value,
                    parameters.get(n).copied(),
                    n,
                )?)
            }
            None => rest.push((text, name, value)),
        }
    }
    let mut rest = rest.into_iter();
    for (n, slot) in slots
        .iter_mut()
        .enumerate()
        .filter(|(_, slot)| slot.is_none())
    {
        if let Some((text, name, value)) = rest.next() {
            let parameter = parameters.get(n).copied();
            *slot = Some(Argument::new(text, name, value, parameter, n)?);
        }
    }
    let given = slots
        .iter()
        .rposition(Option::is_some)
        .map_or(0, |last| last + 1);
    let missing = slots[..given].iter().position(Option::is_none);
    if let Some(n) = missing {
        bail!("--arg is missing for {}", parameters[n].label());
    }
    if described && texts.len() > parameters.len() {
        bail!(
            "{} arguments are given, but the kernel takes {}: {}",
            texts.len(),
            parameters.len(),
            Foreign(
                &parameters
                    .iter()
                    .map(|parameter| parameter.label())
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        );
    }
    let arguments: Vec<_> = slots.into_iter().flatten().collect();
    for (n, argument) in arguments.iter().enumerate() {
        let same = |other: &&Argument<'_>| {
            other.name == argument.name && matches!(other.spec, Spec::Buffer(_))
        };
        if matches!(argument.spec, Spec::Buffer(_))
            && arguments[..n].iter().any(|other| same(&other))
        {
            bail!(
                "--arg {}: there are two buffers `{}`; use buf:{0} for the same buffer",
                Foreign(argument.text),
                Foreign(&argument.name)
            );
        }
    }
    Ok(arguments)
}

/// The name before the first `=`, if it is a name.
fn split_name(text: &str) -> (Option<&str>, &str) {
    let is_name = |name: &str| {
        let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(letter)
    };
    match text.split_once('=') {
        Some((name, value)) if is_name(name) => (Some(name), value),
        _ => (None, text),
    }
}

impl<'a> Argument<'a> {
    fn new(
        text: &'a str,
        name: Option<&str>,
        value: &'a str,
        parameter: Option<&'a ArgMetadata>,
        n: usize,
    ) -> anyhow::Result<Argument<'a>> {
        let spec = Spec::parse(value).with_context(|| format!("--arg {}", Foreign(text)))?;
        let known = parameter.and_then(|parameter| parameter.name.clone());
        let name = name
            .map(str::to_owned)
            .or(known)
            .unwrap_or_else(|| format!("arg{n}"));
        Ok(Argument {
            text,
            name,
            spec,
            parameter,
        })
    }

    /// The line of its buffer.
    pub(super) fn buffer(&self) -> Option<String> {
        match &self.spec {
            Spec::Buffer(entry) => Some(format!("{} = {{ {entry} }}", quoted_key(&self.name))),
            _ => None,
        }
    }

    /// The argument as a manifest writes it.
    pub(super) fn value(&self) -> anyhow::Result<String> {
        let text = match &self.spec {
            Spec::Buffer(_) => quoted(&format!("@{}", self.name)),
            Spec::Earlier(of) => quoted(&format!("@{of}")),
            Spec::Local(bytes) => format!("{{ local = {bytes} }}"),
            Spec::Hex(digits) => format!("{{ hex = {} }}", quoted(digits)),
            Spec::Typed(dtype, text) if text.contains(',') => {
                let mut bytes = Vec::new();
                for element in text.split(',') {
                    encode(*dtype, element, &mut bytes).with_context(|| self.about())?;
                }
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("{{ hex = {} }}", quoted(&digits))
            }
            Spec::Typed(dtype, text) => format!(
                "{{ {dtype} = {} }}",
                number(*dtype, text).with_context(|| self.about())?
            ),
            Spec::Number(text) => {
                let dtype = self.scalar_type(text)?;
                format!(
                    "{{ {dtype} = {} }}",
                    number(dtype, text).with_context(|| self.about())?
                )
            }
        };
        Ok(text)
    }

    fn about(&self) -> String {
        format!("--arg {}", Foreign(self.text))
    }

    /// The type of a number that is given without one.
    fn scalar_type(&self, text: &str) -> anyhow::Result<Dtype> {
        let Some(parameter) = self.parameter else {
            bail!(
                "{}: the code object does not describe the kernel's parameters; give the type: f32:{}",
                self.about(),
                Foreign(text)
            );
        };
        if parameter.kind != ArgKind::ByValue {
            bail!(
                "{}: the parameter {} takes a buffer or LDS: @FILE, out:TYPE:COUNT, local:BYTES ...",
                self.about(),
                parameter.label()
            );
        }
        let float = text.contains(['.', 'e', 'E', 'n', 'N']) && !text.contains(['x', 'X']);
        let unsigned = |signed: Dtype, wide: Dtype| {
            let fits = integer(text).is_none_or(|value| value <= signed.limits().1);
            if fits { signed } else { wide }
        };
        let named = parameter.type_name.as_deref().and_then(Dtype::of_opencl);
        let dtype = match (named, parameter.size) {
            (Some(dtype), size) if dtype.size() as u32 == size => dtype,
            (_, 2) if float => Dtype::F16,
            (_, 4) if float => Dtype::F32,
            (_, 8) if float => Dtype::F64,
            (_, 1) => unsigned(Dtype::I8, Dtype::U8),
            (_, 2) => unsigned(Dtype::I16, Dtype::U16),
            (_, 4) => unsigned(Dtype::I32, Dtype::U32),
            (_, 8) => unsigned(Dtype::I64, Dtype::U64),
            (_, size) => bail!(
                "{}: the parameter {} has {size} bytes; give a vector (f32:1,2,3,4) or bytes (hex:00ff)",
                self.about(),
                parameter.label()
            ),
        };
        Ok(dtype)
    }
}

impl<'a> Spec<'a> {
    fn parse(text: &'a str) -> anyhow::Result<Spec<'a>> {
        if let Some(file) = text.strip_prefix('@') {
            return Ok(Spec::Buffer(format!("file = {}", quoted(file))));
        }
        let Some((kind, rest)) = text.split_once(':') else {
            return Ok(Spec::Number(text));
        };
        let parts: Vec<&str> = rest.split(':').collect();
        let ty = |name: &str| {
            Dtype::from_name(name).with_context(|| {
                let known = Dtype::ALL.map(Dtype::name).join(" ");
                format!("`{}` is no element type; known are {known}", Foreign(name))
            })
        };
        let count = |text: &str| {
            let number: u64 = text
                .parse()
                .with_context(|| format!("`{}` is no number of elements", Foreign(text)))?;
            anyhow::Ok(number)
        };
        let entry = match (kind, &parts[..]) {
            ("out" | "zero", [dtype, n]) => {
                format!("type = \"{}\", count = {}", ty(dtype)?, count(n)?)
            }
            ("fill", [dtype, n, value]) => {
                let dtype = ty(dtype)?;
                format!(
                    "type = \"{dtype}\", count = {}, fill = {}",
                    count(n)?,
                    number(dtype, value)?
                )
            }
            ("random", [dtype, n, how @ ..]) if how.len() <= 3 => {
                let dtype = ty(dtype)?;
                let mut options = vec![format!(
                    "seed = {}",
                    how.first()
                        .map_or(Ok(0), |seed| seed.parse::<u64>())
                        .context("a seed is a number from 0")?
                )];
                for (key, value) in ["low", "high"].into_iter().zip(how.iter().skip(1)) {
                    options.push(format!("{key} = {}", number(dtype, value)?));
                }
                format!(
                    "type = \"{dtype}\", count = {}, random = {{ {} }}",
                    count(n)?,
                    options.join(", ")
                )
            }
            ("values", [dtype, list]) => {
                let dtype = ty(dtype)?;
                format!("type = \"{dtype}\", values = [{}]", numbers(dtype, list)?)
            }
            ("bytes", [n]) => format!("bytes = {}", count(n)?),
            ("buf", [of]) => return Ok(Spec::Earlier(of)),
            ("local", [n]) => {
                count(n)?;
                return Ok(Spec::Local(n));
            }
            ("hex", [digits]) => return Ok(Spec::Hex(digits)),
            (kind, [value]) if Dtype::from_name(kind).is_some() => {
                return Ok(Spec::Typed(ty(kind)?, value));
            }
            _ => bail!(
                "`{}` is no argument; write a number, f32:2.5, @x.npy, out:f32:5120, fill:f32:5120:1.5, random:f32:5120, \
                 values:f32:1,2,3, bytes:4096, buf:y, local:1024 or hex:00ff",
                Foreign(text)
            ),
        };
        Ok(Spec::Buffer(entry))
    }

    /// Something that suits a parameter.
    pub(super) fn example(parameter: &ArgMetadata, n: usize) -> String {
        match parameter.kind {
            ArgKind::ByValue => match (parameter.type_name.as_deref(), parameter.size) {
                (Some("half" | "float" | "double"), _) => "1.5".to_owned(),
                (_, 1 | 2 | 4 | 8) => "256".to_owned(),
                (_, size) => format!("hex:{}", "00".repeat(size.min(16) as usize)),
            },
            ArgKind::DynamicSharedPointer => "local:1024".to_owned(),
            _ if n == 0 => "out:f32:256".to_owned(),
            _ => "random:f32:256".to_owned(),
        }
    }
}

/// An integer in decimal or hexadecimal digits.
fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(digits) => i128::from_str_radix(digits, 16).ok()?,
        None if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse().ok()?,
        None => return None,
    };
    Some(if negative { -value } else { value })
}

/// A number of a type as TOML writes it.
fn number(dtype: Dtype, text: &str) -> anyhow::Result<String> {
    if dtype.is_float() {
        let value: f64 = match integer(text) {
            Some(value) => value as f64,
            None => text
                .parse()
                .with_context(|| format!("`{}` is no number", Foreign(text)))?,
        };
        return Ok(match value {
            value if value.is_nan() => "nan".to_owned(),
            f64::INFINITY => "inf".to_owned(),
            f64::NEG_INFINITY => "-inf".to_owned(),
            value => format!("{value:?}"),
        });
    }
    let value = integer(text)
        .with_context(|| format!("`{}` is no integer, which {dtype} takes", Foreign(text)))?;
    let (low, high) = dtype.limits();
    if !(low..=high).contains(&value) {
        bail!("{value} does not fit {dtype} ({low} to {high})");
    }
    Ok(value.to_string())
}

/// A number as TOML writes it, an integer where it is one.
fn any_number(text: &str) -> anyhow::Result<String> {
    match integer(text) {
        Some(value) => Ok(value.to_string()),
        None => number(Dtype::F64, text),
    }
}

/// Numbers of a type, separated by commas.
fn numbers(dtype: Dtype, text: &str) -> anyhow::Result<String> {
    let numbers = text.split(',').map(|element| number(dtype, element.trim()));
    Ok(numbers.collect::<Result<Vec<_>, _>>()?.join(", "))
}

/// The bytes of a number.
fn encode(dtype: Dtype, text: &str, out: &mut Vec<u8>) -> anyhow::Result<()> {
    let written = number(dtype, text.trim())?;
    match dtype.is_float() {
        true => dtype.encode_float(written.parse().context("it is no number")?, out),
        false => dtype.encode_integer(written.parse().context("it is no integer")?, out),
    }
    Ok(())
}

/// The entry of an expectation: a file or values, and tolerances behind them.
pub(super) fn expectation(text: &str) -> anyhow::Result<String> {
    let mut values = Vec::new();
    let mut entries = Vec::new();
    for part in text.split(',') {
        if let Some(file) = part.strip_prefix('@') {
            entries.push(format!("file = {}", quoted(file)));
        } else if let Some((key, value)) = part.split_once('=') {
            match key {
                "abs" | "rel" => entries.push(format!("{key} = {}", number(Dtype::F64, value)?)),
                "ulp" => entries.push(format!("ulp = {}", number(Dtype::U64, value)?)),
                "fill" => entries.push(format!("fill = {}", any_number(value)?)),
                _ => bail!(
                    "`{}` is unknown; known are abs, rel, ulp and fill",
                    Foreign(key)
                ),
            }
        } else {
            values.push(any_number(part)?);
        }
    }
    if !values.is_empty() {
        entries.insert(0, format!("values = [{}]", values.join(", ")));
    }
    Ok(entries.join(", "))
}
