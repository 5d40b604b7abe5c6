//! Stacks, registers and memory as the variables of the protocol.

use serde_json::{Value as Json, json};
use wavelift::debug::{Evaluated, Frame, Radix, Value};

use super::Refused;
use super::arguments::Arguments;
use super::session::Adapter;

/// Frames of a thread have this many numbers.
const FRAMES: u32 = 10_000;

/// Most children that are told of at once, if the client does not say how many it wants.
const MOST: u32 = 1024;

/// Registers that are neither SGPRs nor VGPRs.
const SPECIAL: [&str; 7] = ["pc", "exec", "vcc", "scc", "m0", "mode", "flat_scratch"];

/// Something with children.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Handle {
    Special {
        wave: u32,
    },
    Scalars {
        wave: u32,
    },
    Vectors {
        wave: u32,
    },
    Buffers,
    Lds {
        wave: u32,
    },
    /// The lanes of an expression.
    Lanes {
        wave: u32,
        text: String,
    },
    /// The elements of a buffer.
    Elements {
        name: String,
    },
}

/// What the references of variables are. They are valid until the program goes on.
#[derive(Default)]
pub(super) struct Handles(Vec<Handle>);

impl Handles {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn add(&mut self, handle: Handle) -> u32 {
        let found = self.0.iter().position(|other| *other == handle);
        let index = found.unwrap_or_else(|| {
            self.0.push(handle);
            self.0.len() - 1
        });
        index as u32 + 1
    }

    fn get(&self, reference: u32) -> Result<Handle, Refused> {
        let index = (reference as usize).checked_sub(1);
        let handle = index.and_then(|index| self.0.get(index));
        handle.cloned().ok_or_else(|| {
            Refused::from(format!(
                "there are no variables {reference}: references are valid until the program goes on"
            ))
        })
    }

    /// The expression of a child.
    pub(super) fn expression(&self, reference: u32, name: &str) -> Result<String, Refused> {
        Ok(match self.get(reference)? {
            Handle::Special { .. }
            | Handle::Scalars { .. }
            | Handle::Vectors { .. }
            | Handle::Lds { .. } => name.to_owned(),
            Handle::Buffers => format!("@{name}"),
            Handle::Lanes { text, .. } => format!("{text}{name}"),
            Handle::Elements { name: buffer } => format!("@{buffer}{name}"),
        })
    }
}

impl Handle {
    fn wave(&self) -> Option<u32> {
        match self {
            Handle::Special { wave }
            | Handle::Scalars { wave }
            | Handle::Vectors { wave }
            | Handle::Lds { wave }
            | Handle::Lanes { wave, .. } => Some(*wave),
            Handle::Buffers | Handle::Elements { .. } => None,
        }
    }
}

/// The part of a list that a client wants.
fn part(given: Arguments<'_>, all: u32) -> Result<std::ops::Range<u32>, Refused> {
    let start = given.number("start")?.unwrap_or(0).min(all);
    let count = given.number("count")?.filter(|n| *n != 0).unwrap_or(MOST);
    Ok(start..start.saturating_add(count).min(all))
}

/// Does the client want hexadecimal numbers?
fn radix(given: Arguments<'_>) -> Result<Option<Radix>, Refused> {
    let format = match given.object("format", "a format") {
        Ok(format) => format,
        Err(_) => return Ok(None),
    };
    Ok(format.flag("hex")?.then_some(Radix::Hex))
}

impl Adapter<'_, '_> {
    fn frames(&mut self, thread: u32) -> Result<Vec<Frame>, Refused> {
        self.select(thread)?;
        Ok(self.program()?.debugger.backtrace()?)
    }

    /// Selects the wave of a frame, if the request names one.
    pub(super) fn select_frame(&mut self, given: Arguments<'_>) -> Result<(), Refused> {
        match given.number("frameId")? {
            Some(frame) => self.select(frame / FRAMES),
            None => Ok(()),
        }
    }

    pub(super) fn stack_trace(&mut self, given: Arguments<'_>) -> Result<Json, Refused> {
        let thread = given.need_number("threadId")?;
        let frames = self.frames(thread)?;
        let start = given.number("startFrame")?.unwrap_or(0) as usize;
        let levels = given
            .number("levels")?
            .filter(|n| *n != 0)
            .map_or(usize::MAX, |n| n as usize);
        let mut shown = Vec::new();
        for (index, frame) in frames.iter().enumerate().skip(start).take(levels) {
            let name = match (&frame.place.symbol, frame.function.as_str()) {
                (Some((symbol, _)), "") => symbol.clone(),
                (None, "") => format!("0x{:x}", frame.place.address),
                (_, function) => function.to_owned(),
            };
            let mut it = json!({
                "id": thread * FRAMES + index as u32,
                "name": name,
                "line": 0,
                "column": 0,
                "instructionPointerReference": format!("0x{:x}", frame.pc),
            });
            if let Some((source, line, column)) = self.source_of(frame)? {
                it["source"] = source;
                it["line"] = line.into();
                it["column"] = column.into();
            }
            shown.push(it);
        }
        Ok(json!({"stackFrames": shown, "totalFrames": frames.len()}))
    }

    pub(super) fn scopes(&mut self, given: Arguments<'_>) -> Result<Json, Refused> {
        let frame = given.need_number("frameId")?;
        self.select(frame / FRAMES)?;
        let program = self.program()?;
        let wave = program.debugger.selected();
        let registers = program.debugger.registers()?;
        let buffers = program.session.buffers.len();
        let lds = program.debugger.inspect(|state| state.lds().len() / 4)?;
        let scalars = registers.sgpr_count.min(102);
        let all = [
            (
                "Vector registers",
                Handle::Vectors { wave },
                registers.vgpr_count as usize,
                true,
            ),
            (
                "Scalar registers",
                Handle::Scalars { wave },
                scalars as usize,
                true,
            ),
            (
                "Special registers",
                Handle::Special { wave },
                SPECIAL.len(),
                false,
            ),
            ("Buffers", Handle::Buffers, buffers, false),
            ("LDS", Handle::Lds { wave }, lds, true),
        ];
        let mut scopes = Vec::new();
        for (name, handle, count, indexed) in all {
            if count == 0 {
                continue;
            }
            let mut scope = json!({
                "name": name,
                "variablesReference": self.handles.add(handle),
                "expensive": name == "LDS",
            });
            if name.ends_with("registers") {
                scope["presentationHint"] = "registers".into();
            }
            scope[if indexed {
                "indexedVariables"
            } else {
                "namedVariables"
            }] = count.into();
            scopes.push(scope);
        }
        Ok(json!({"scopes": scopes}))
    }

    /// A variable with the value of an expression.
    fn variable(&mut self, name: &str, text: &str, radix: Option<Radix>) -> Json {
        let Some(program) = &self.program else {
            return Json::Null;
        };
        let wave = program.debugger.selected();
        let found = program.debugger.evaluate(text);
        let shown = found.and_then(|value| Ok((value.show(radix)?, value)));
        match shown {
            Ok((shown, value)) => self.shown(name, text, shown, &value, wave),
            Err(error) => {
                json!({"name": name, "value": error.to_string(), "variablesReference": 0})
            }
        }
    }

    fn shown(
        &mut self,
        name: &str,
        text: &str,
        shown: String,
        value: &Evaluated,
        wave: u32,
    ) -> Json {
        let mut it =
            json!({"name": name, "value": shown, "evaluateName": text, "variablesReference": 0});
        if let Some((wavelift::trace::Space::Global, address)) = value.place {
            it["memoryReference"] = format!("0x{address:x}").into();
        }
        if let Value::Lanes(lanes) = &value.value {
            let text = text.to_owned();
            it["variablesReference"] = self.handles.add(Handle::Lanes { wave, text }).into();
            it["indexedVariables"] = lanes.len().into();
        }
        it
    }

    pub(super) fn variables(&mut self, given: Arguments<'_>) -> Result<Json, Refused> {
        let handle = self.handles.get(given.need_number("variablesReference")?)?;
        let filter = given.text("filter")?;
        let indexed = !matches!(handle, Handle::Special { .. } | Handle::Buffers);
        if filter.is_some_and(|filter| (filter == "indexed") != indexed) {
            return Ok(json!({"variables": []}));
        }
        let radix = radix(given)?;
        if let Some(wave) = handle.wave() {
            self.select(wave + 1)?;
        }
        let debugger = &self.program()?.debugger;
        let all: Vec<Json> = match handle {
            Handle::Special { .. } => SPECIAL
                .iter()
                .map(|name| self.variable(name, name, radix))
                .collect(),
            Handle::Scalars { .. } => {
                let count = debugger.registers()?.sgpr_count.min(102);
                part(given, count)?
                    .map(|n| self.variable(&format!("s{n}"), &format!("s{n}"), radix))
                    .collect()
            }
            Handle::Vectors { .. } => {
                let count = debugger.registers()?.vgpr_count;
                part(given, count)?
                    .map(|n| self.variable(&format!("v{n}"), &format!("v{n}"), radix))
                    .collect()
            }
            Handle::Lds { .. } => {
                let count = debugger.inspect(|state| state.lds().len() / 4)? as u32;
                part(given, count)?
                    .map(|n| format!("lds[{}]", u64::from(n) * 4))
                    .map(|text| self.variable(&text, &text, radix))
                    .collect()
            }
            Handle::Buffers => self.buffers()?,
            Handle::Lanes { text, .. } => self.lanes(given, &text, radix)?,
            Handle::Elements { name } => self.elements(given, &name, radix)?,
        };
        Ok(json!({"variables": all}))
    }

    fn lanes(
        &mut self,
        given: Arguments<'_>,
        text: &str,
        radix: Option<Radix>,
    ) -> Result<Vec<Json>, Refused> {
        let value = self.program()?.debugger.evaluate(text)?;
        let Value::Lanes(lanes) = &value.value else {
            return Err(format!("`{text}` has no lanes any more").into());
        };
        let range = part(given, lanes.len() as u32)?;
        let mut all = Vec::new();
        for lane in range {
            let one = Evaluated {
                value: Value::One(lanes[lane as usize]),
                ..value.clone()
            };
            let off = if value.exec >> lane & 1 == 0 {
                " (inactive)"
            } else {
                ""
            };
            all.push(json!({
                "name": format!("[{lane}]"),
                "value": format!("{}{off}", one.show(radix)?),
                "evaluateName": format!("{text}[{lane}]"),
                "variablesReference": 0,
            }));
        }
        Ok(all)
    }

    fn buffers(&mut self) -> Result<Vec<Json>, Refused> {
        let session = &self.program()?.session;
        let specs = session.buffers.iter().zip(&session.manifest.buffers);
        let all: Vec<_> = specs
            .map(|(buffer, spec)| {
                let dtype = spec.array.dtype;
                let size = dtype.map_or(1, |dtype| dtype.size() as u64);
                let what = dtype.map_or("bytes".to_owned(), |dtype| format!("elements of {dtype}"));
                (
                    spec.name.clone(),
                    buffer.address(),
                    buffer.len() / size,
                    what,
                )
            })
            .collect();
        let shown = all.into_iter().map(|(name, address, count, what)| {
            json!({
                "name": name,
                "value": format!("{count} {what} at 0x{address:x}"),
                "evaluateName": format!("@{name}"),
                "memoryReference": format!("0x{address:x}"),
                "variablesReference": self.handles.add(Handle::Elements { name: name.clone() }),
                "indexedVariables": count,
            })
        });
        Ok(shown.collect())
    }

    fn elements(
        &mut self,
        given: Arguments<'_>,
        name: &str,
        radix: Option<Radix>,
    ) -> Result<Vec<Json>, Refused> {
        let session = &self.program()?.session;
        let mut specs = session.buffers.iter().zip(&session.manifest.buffers);
        let Some((buffer, spec)) = specs.find(|(_, spec)| spec.name == name) else {
            return Err(format!("there is no buffer `{name}`").into());
        };
        let size = spec.array.dtype.map_or(1, |dtype| dtype.size() as u64);
        let count = u32::try_from(buffer.len() / size).unwrap_or(u32::MAX);
        let range = part(given, count)?;
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let text = format!("@{name}[{}:{}]", range.start, range.end - 1);
        let value = self.program()?.debugger.evaluate(&text)?;
        let elements = match &value.value {
            Value::Many(all) => all.clone(),
            Value::One(one) => vec![*one],
            Value::Lanes(_) => return Err(format!("`{text}` has lanes").into()),
        };
        let mut all = Vec::new();
        for (index, element) in range.zip(elements) {
            let one = Evaluated {
                value: Value::One(element),
                ..value.clone()
            };
            all.push(json!({
                "name": format!("[{index}]"),
                "value": one.show(radix)?,
                "evaluateName": format!("@{name}[{index}]"),
                "variablesReference": 0,
            }));
        }
        Ok(all)
    }

    pub(super) fn set_variable(&mut self, given: Arguments<'_>) -> Result<Json, Refused> {
        let reference = given.need_number("variablesReference")?;
        let text = self
            .handles
            .expression(reference, given.need_text("name")?)?;
        if let Some(wave) = self.handles.get(reference)?.wave() {
            self.select(wave + 1)?;
        }
        self.assign(&text, given)
    }

    pub(super) fn set_expression(&mut self, given: Arguments<'_>) -> Result<Json, Refused> {
        self.select_frame(given)?;
        let text = given.need_text("expression")?.to_owned();
        self.assign(&text, given)
    }

    fn assign(&mut self, text: &str, given: Arguments<'_>) -> Result<Json, Refused> {
        let value = given.need_text("value")?;
        self.program()?.debugger.assign(text, value)?;
        let mut shown = self.variable(text, text, radix(given)?);
        if let Some(shown) = shown.as_object_mut() {
            shown.remove("name");
            shown.remove("evaluateName");
        }
        Ok(shown)
    }

    /// The value of an expression, which may end with a format: `v3/f`.
    pub(super) fn evaluate(&mut self, given: Arguments<'_>) -> Result<Json, Refused> {
        self.select_frame(given)?;
        let text = given.need_text("expression")?.trim();
        let format = text.rsplit_once('/').and_then(|(before, format)| {
            let mut letters = format.chars();
            let radix = Radix::of(letters.next()?)?;
            letters.next().is_none().then_some((before, radix))
        });
        let (text, radix) = match format {
            Some((before, radix)) => (before.trim(), Some(radix)),
            None => (text, radix(given)?),
        };
        let debugger = &self.program()?.debugger;
        let (wave, value) = (debugger.selected(), debugger.evaluate(text)?);
        let shown = value.show(radix)?;
        let mut it = self.shown("", text, shown, &value, wave);
        it["result"] = it["value"].take();
        Ok(it)
    }
}
