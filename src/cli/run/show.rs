//! `--print`: a buffer, or a slice of it, as text and as JSON.

use std::fmt::Write as _;

use anyhow::{Context, bail};
use runtime::foreign::Foreign;
use serde::Serialize;
use wavelift::manifest::{Array, Dtype, Manifest, Value};

/// Elements that are all printed where no slice is given.
const MANY: u64 = 1000;

/// Elements that are printed at each end of a dimension where there are many.
const ENDS: u64 = 3;

/// A buffer to print.
pub(super) struct Selection {
    /// Its number in the manifest.
    pub(super) buffer: usize,
    name: String,
    /// As it was given.
    text: String,
    /// A part for each dimension; nothing for all.
    parts: Option<Vec<Part>>,
}

/// A part of a dimension.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// One index; the dimension falls away.
    Index(i64),
    /// A range as in Python.
    Range {
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    },
}

/// A printed buffer.
#[derive(Serialize)]
pub(in super::super) struct Printed {
    buffer: String,
    #[serde(rename = "type")]
    ty: &'static str,
    /// Elements in each dimension of the slice.
    shape: Vec<u64>,
    values: Vec<serde_json::Value>,
    #[serde(skip)]
    text: String,
}

impl Printed {
    /// The lines for readers.
    pub(in super::super) fn text(&self) -> &str {
        &self.text
    }
}

/// The buffers that are to be printed.
pub(super) fn find(manifest: &Manifest, texts: &[String]) -> anyhow::Result<Vec<Selection>> {
    let number = |name: &str| {
        manifest
            .buffers
            .iter()
            .position(|buffer| buffer.name == name)
    };
    let found = texts.iter().map(|text| {
        let ends = text.match_indices(':').map(|(at, _)| at);
        let split = ends
            .filter_map(|at| Some((number(&text[..at])?, Some(&text[at + 1..]))))
            .next_back();
        let (buffer, slice) = match number(text) {
            Some(buffer) => (buffer, None),
            None => split.with_context(|| {
                let known: Vec<_> = manifest
                    .buffers
                    .iter()
                    .map(|buffer| buffer.name.as_str())
                    .collect();
                format!(
                    "--print {}: there is no such buffer; known are {}",
                    Foreign(text),
                    Foreign(&known.join(", "))
                )
            })?,
        };
        let parts = slice
            .map(parts)
            .transpose()
            .with_context(|| format!("--print {}", Foreign(text)))?;
        let array = &manifest.buffers[buffer].array;
        let selection = Selection {
            buffer,
            name: manifest.buffers[buffer].name.clone(),
            text: text.clone(),
            parts,
        };
        // A slice that does not fit is reported before anything runs.
        selection.indices(&array.shape)?;
        Ok(selection)
    });
    found.collect()
}

/// A slice as in Python: `start:end:step` or an index for each dimension, separated by commas.
fn parts(text: &str) -> anyhow::Result<Vec<Part>> {
    let number = |text: &str| match text.trim() {
        "" => Ok(None),
        digits => digits
            .parse()
            .map(Some)
            .with_context(|| format!("`{}` is no index", Foreign(digits))),
    };
    let part = |text: &str| {
        let fields: Vec<_> = text.split(':').map(number).collect::<Result<_, _>>()?;
        Ok(match fields[..] {
            [Some(index)] => Part::Index(index),
            [start, end] => Part::Range {
                start,
                end,
                step: 1,
            },
            [start, end, step] => match step.unwrap_or(1) {
                step if step > 0 => Part::Range { start, end, step },
                _ => bail!("the step of a slice must be at least 1"),
            },
            _ => bail!("`{}` is no slice; write 5, 0:16 or 0:16:2", Foreign(text)),
        })
    };
    text.split(',').map(part).collect()
}

impl Selection {
    /// The indices in each dimension, and whether it remains.
    fn indices(&self, shape: &[u64]) -> anyhow::Result<Vec<(Vec<u64>, bool)>> {
        let all = Part::Range {
            start: None,
            end: None,
            step: 1,
        };
        let given = self.parts.as_deref().unwrap_or_default();
        if given.len() > shape.len() {
            bail!(
                "--print {}: {} parts, but the buffer has {} dimensions",
                Foreign(&self.text),
                given.len(),
                shape.len()
            );
        }
        let parts = given.iter().copied().chain(std::iter::repeat(all));
        shape
            .iter()
            .zip(parts)
            .map(|(&size, part)| {
                let clamp = |at: i64| match at {
                    at if at < 0 => size.saturating_sub(at.unsigned_abs()),
                    at => size.min(at.unsigned_abs()),
                };
                Ok(match part {
                    Part::Index(index) => {
                        let at = match index {
                            at if at < 0 => size.checked_sub(at.unsigned_abs()),
                            at => Some(at.unsigned_abs()).filter(|&at| at < size),
                        };
                        let at = at.with_context(|| {
                            format!(
                                "--print {}: index {index} is outside a dimension of {size}",
                                Foreign(&self.text)
                            )
                        })?;
                        (vec![at], false)
                    }
                    Part::Range { start, end, step } => {
                        let (start, end) = (start.map_or(0, clamp), end.map_or(size, clamp));
                        ((start..end).step_by(step as usize).collect(), true)
                    }
                })
            })
            .collect()
    }

    /// The contents.
    pub(super) fn of(&self, array: &Array) -> anyhow::Result<Printed> {
        let dtype = array.dtype.unwrap_or(Dtype::U8);
        let dimensions = self.indices(&array.shape)?;
        let total: u64 = dimensions
            .iter()
            .map(|(indices, _)| indices.len() as u64)
            .product();
        let view = View {
            dtype,
            array,
            dimensions: &dimensions,
            cut: self.parts.is_none() && total > MANY,
        };
        let shape: Vec<u64> = dimensions
            .iter()
            .filter(|(_, stays)| *stays)
            .map(|(indices, _)| indices.len() as u64)
            .collect();
        let mut text = format!("{}: {dtype}{shape:?} = ", self.name);
        view.print(0, 0, &mut text);
        let mut values = Vec::new();
        view.collect(0, 0, &mut values);
        Ok(Printed {
            buffer: self.text.clone(),
            ty: dtype.name(),
            shape,
            values,
            text,
        })
    }
}

/// Selected elements.
struct View<'a> {
    dtype: Dtype,
    array: &'a Array,
    dimensions: &'a [(Vec<u64>, bool)],
    /// Print only the ends of each dimension.
    cut: bool,
}

impl View<'_> {
    /// An element by its number.
    fn element(&self, number: u64) -> Value {
        let size = self.dtype.size();
        let at = number as usize * size;
        self.dtype.decode(&self.array.bytes[at..at + size])
    }

    /// Appends what lies below an index of the dimensions before `dimension`.
    fn print(&self, dimension: usize, base: u64, out: &mut String) {
        let Some((indices, stays)) = self.dimensions.get(dimension) else {
            // Writing to a string does not fail.
            let _ = write!(out, "{}", self.element(base));
            return;
        };
        let base = base * self.array.shape[dimension];
        if !stays {
            self.print(dimension + 1, base + indices[0], out);
            return;
        }
        let inner = self.dimensions[dimension + 1..]
            .iter()
            .any(|(_, stays)| *stays);
        let separator = match inner {
            true => format!(",\n{}", " ".repeat(2 * (dimension + 1))),
            false => ", ".to_owned(),
        };
        let count = indices.len() as u64;
        out.push('[');
        if inner && count != 0 {
            out.push_str(&separator[1..]);
        }
        let mut first = true;
        for (n, index) in indices.iter().enumerate() {
            let n = n as u64;
            let left_out = self.cut && n >= ENDS && n + ENDS < count;
            if left_out && n > ENDS {
                continue;
            }
            if !std::mem::take(&mut first) {
                out.push_str(&separator);
            }
            match left_out {
                true => out.push_str("..."),
                false => self.print(dimension + 1, base + index, out),
            }
        }
        out.push(']');
    }

    /// Appends all elements.
    fn collect(&self, dimension: usize, base: u64, out: &mut Vec<serde_json::Value>) {
        let Some((indices, _)) = self.dimensions.get(dimension) else {
            let value = self.element(base);
            out.push(match value {
                Value::Integer(value) => match u64::try_from(value) {
                    Ok(value) => value.into(),
                    Err(_) => (value as i64).into(),
                },
                // JSON has no other numbers: these are strings.
                value if !value.to_f64().is_finite() => value.to_string().into(),
                value => value.to_f64().into(),
            });
            return;
        };
        let base = base * self.array.shape[dimension];
        for index in indices {
            self.collect(dimension + 1, base + index, out);
        }
    }
}
