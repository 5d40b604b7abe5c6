//! Registers, buffers and memory as trees of variables.

use serde::Deserialize;
use serde_json::{Value, json};
use wavelift::debug::{Evaluated, Radix, Value as Number};
use wavelift::trace::Space;

use super::memory;
use super::request::{Format, Request};
use super::server::{Answer, Server};
use crate::cli::debug::act::Failure;

/// What a scope shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Buffers,
    Special,
    Scalars,
    Vectors,
    Accumulation,
    Lds,
    Scratch,
}

/// What has variables in it, in a wave.
#[derive(Clone, Debug)]
pub(super) enum Handle {
    Scope(u32, Kind),
    /// Elements of what an expression names: lanes of a register, elements of a buffer.
    Elements {
        wave: u32,
        text: String,
        count: u64,
        memory: bool,
    },
    /// Values of an expression that names no place.
    Values(u32, Evaluated),
}

/// The handles since the last stop.
#[derive(Default)]
pub(super) struct Handles(Vec<Handle>);

impl Handles {
    pub(super) fn add(&mut self, handle: Handle) -> u64 {
        self.0.push(handle);
        self.0.len() as u64
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn get(&self, reference: u64) -> Result<Handle, String> {
        let index = usize::try_from(reference)
            .ok()
            .and_then(|it| it.checked_sub(1));
        let handle = index.and_then(|index| self.0.get(index));
        handle.cloned().ok_or_else(|| {
            format!("there are no variables {reference}: they are valid until the program goes on")
        })
    }
}

/// Most variables of one response.
const MOST: u64 = 4096;

/// Special registers, of which some targets lack some.
const SPECIAL: [&str; 8] = [
    "pc",
    "exec",
    "vcc",
    "scc",
    "m0",
    "mode",
    "trapsts",
    "flat_scratch",
];

/// Most scalar registers that have numbers.
const SCALARS: u64 = 102;

fn radix(format: Option<Format>) -> Option<Radix> {
    format.filter(|format| format.hex).map(|_| Radix::Hex)
}

impl Server<'_, '_> {
    /// The value of an expression as a variable, or a result.
    pub(super) fn shown(
        &mut self,
        text: &str,
        value: &Evaluated,
        radix: Option<Radix>,
    ) -> Result<Value, Failure> {
        let wave = self.shell.debugger.selected();
        let mut shown = json!({ "value": value.show(radix)?, "variablesReference": 0 });
        let (scalars, array) = match &value.value {
            Number::One(scalar) => (std::slice::from_ref(scalar), false),
            Number::Lanes(all) | Number::Many(all) => (&all[..], true),
        };
        let dtype = scalars.first().map(|scalar| scalar.dtype);
        shown["type"] = match (dtype, array) {
            (None, _) => "".into(),
            (Some(dtype), false) => dtype.name().into(),
            (Some(dtype), true) => {
                let count = scalars.len() as u64 + value.more;
                format!("{}[{count}]", dtype.name()).into()
            }
        };
        if array {
            let memory = matches!(value.value, Number::Many(_));
            let count = scalars.len() as u64 + value.more;
            let first = format!("{text}[0]");
            let handle = match self.shell.debugger.evaluate(&first) {
                Ok(_) => Handle::Elements {
                    wave,
                    text: text.to_owned(),
                    count,
                    memory,
                },
                Err(_) => Handle::Values(wave, value.clone()),
            };
            shown["indexedVariables"] = count.into();
            shown["variablesReference"] = self.handles.add(handle).into();
        }
        match value.place {
            Some((Space::Global, address)) => {
                shown["memoryReference"] = memory::reference(address).into();
            }
            Some((Space::Lds, offset)) => {
                shown["memoryReference"] = memory::lds_reference(offset).into();
            }
            _ => {}
        }
        Ok(shown)
    }

    /// A variable.
    fn variable(&mut self, name: &str, text: &str, radix: Option<Radix>) -> Result<Value, Failure> {
        let value = self.shell.debugger.evaluate(text)?;
        let mut shown = self.shown(text, &value, radix)?;
        shown["name"] = name.into();
        shown["evaluateName"] = text.into();
        Ok(shown)
    }

    pub(super) fn variables(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Arguments {
            variables_reference: u64,
            filter: Option<Filter>,
            #[serde(default)]
            start: u64,
            #[serde(default)]
            count: u64,
            format: Option<Format>,
        }
        #[derive(Deserialize, PartialEq)]
        #[serde(rename_all = "camelCase")]
        enum Filter {
            Indexed,
            Named,
        }
        let arguments: Arguments = request.arguments()?;
        let handle = self.handles.get(arguments.variables_reference)?;
        let (wave, total, indexed) = match &handle {
            Handle::Scope(wave, kind) => {
                self.select_if_stopped(*wave)?;
                (
                    *wave,
                    self.size(*kind)?,
                    matches!(kind, Kind::Lds | Kind::Scratch),
                )
            }
            Handle::Elements { wave, count, .. } => (*wave, *count, true),
            Handle::Values(wave, value) => {
                let count = match &value.value {
                    Number::One(_) => 1,
                    Number::Lanes(all) | Number::Many(all) => all.len() as u64,
                };
                (*wave, count, true)
            }
        };
        let other = match arguments.filter {
            Some(Filter::Indexed) => !indexed,
            Some(Filter::Named) => indexed,
            None => false,
        };
        if other {
            return Ok(json!({ "variables": [] }));
        }
        self.select_if_stopped(wave)?;
        let start = arguments.start.min(total);
        let count = match arguments.count {
            0 => MOST,
            count => count.min(MOST),
        };
        let range = start..total.min(start.saturating_add(count));
        let radix = radix(arguments.format);
        let variables = match handle {
            Handle::Scope(_, kind) => self.of_scope(kind, range, radix)?,
            Handle::Elements { text, memory, .. } if !range.is_empty() => {
                self.elements(&text, memory, range, radix)?
            }
            Handle::Elements { .. } => Vec::new(),
            Handle::Values(_, value) => list(&value, range, 0, None, radix)?,
        };
        Ok(json!({ "variables": variables }))
    }

    /// After the program's end there are values of buffers.
    fn select_if_stopped(&mut self, wave: u32) -> Result<(), Failure> {
        match self.shell.debugger.stop() {
            Some(_) => Ok(self.shell.debugger.select(wave)?),
            None => Ok(()),
        }
    }

    /// The number of variables of a scope.
    fn size(&self, kind: Kind) -> Result<u64, Failure> {
        let debugger = &self.shell.debugger;
        let wave = debugger.selected();
        Ok(match kind {
            Kind::Buffers => self.shell.session.buffers.len() as u64,
            Kind::Special => SPECIAL.len() as u64,
            Kind::Scalars => u64::from(debugger.registers()?.sgpr_count).min(SCALARS),
            Kind::Vectors => debugger.registers()?.vgpr_count.into(),
            Kind::Accumulation => debugger.registers()?.agprs_touched.into(),
            Kind::Lds => debugger.inspect(|state| state.lds().len() as u64 / 4)?,
            Kind::Scratch => {
                let bytes = debugger.inspect(move |state| state.scratch(wave).lane_bytes)?;
                u64::from(bytes) / 4
            }
        })
    }

    fn of_scope(
        &mut self,
        kind: Kind,
        range: std::ops::Range<u64>,
        radix: Option<Radix>,
    ) -> Result<Vec<Value>, Failure> {
        let mut all = Vec::new();
        match kind {
            Kind::Buffers => {
                for index in range {
                    all.extend(self.buffer(index as usize)?);
                }
            }
            Kind::Special => {
                for index in range {
                    // Not every target has all of them.
                    let name = SPECIAL[index as usize];
                    all.extend(self.variable(name, name, radix).ok());
                }
            }
            Kind::Scalars | Kind::Vectors | Kind::Accumulation => {
                let letter = match kind {
                    Kind::Scalars => 's',
                    Kind::Accumulation => 'a',
                    _ => 'v',
                };
                for number in range {
                    let name = format!("{letter}{number}");
                    all.push(self.variable(&name, &name, radix)?);
                }
            }
            Kind::Lds if range.is_empty() => {}
            Kind::Lds => {
                let text = format!("lds[{}]", range.start * 4);
                let count = range.end - range.start;
                let value = self.shell.debugger.examine(&text, None, count)?;
                all = list(&value, 0..count, range.start, Some(("lds", 4)), radix)?;
            }
            Kind::Scratch => {
                for index in range {
                    let name = format!("[0x{:x}]", 4 * index);
                    all.push(self.variable(&name, &format!("scratch{name}"), radix)?);
                }
            }
        }
        Ok(all)
    }

    /// A buffer of the manifest.
    fn buffer(&mut self, index: usize) -> Result<Option<Value>, Failure> {
        let session = self.shell.session;
        let pair = session
            .buffers
            .get(index)
            .zip(session.manifest.buffers.get(index));
        let Some((buffer, spec)) = pair else {
            return Ok(None);
        };
        let (name, size) = match spec.array.dtype {
            Some(dtype) => (dtype.name(), dtype.size() as u64),
            None => ("u8", 1),
        };
        let count = buffer.len() / size;
        let text = format!("@{}", spec.name);
        let reference = match count {
            0 => 0,
            _ => self.handles.add(Handle::Elements {
                wave: self.shell.debugger.selected(),
                text: text.clone(),
                count,
                memory: true,
            }),
        };
        Ok(Some(json!({
            "name": spec.name,
            "value": format!("{count} elements of {name} at 0x{:x}", buffer.address()),
            "type": format!("{name}[{count}]"),
            "evaluateName": text,
            "variablesReference": reference,
            "indexedVariables": count,
            "memoryReference": memory::reference(buffer.address()),
        })))
    }

    /// Elements of what an expression names.
    fn elements(
        &mut self,
        text: &str,
        memory: bool,
        range: std::ops::Range<u64>,
        radix: Option<Radix>,
    ) -> Result<Vec<Value>, Failure> {
        if memory {
            let part = format!("{text}[{}:{}]", range.start, range.end - 1);
            let value = self.shell.debugger.evaluate(&part)?;
            let count = range.end - range.start;
            return list(&value, 0..count, range.start, Some((text, 1)), radix);
        }
        let value = self.shell.debugger.evaluate(text)?;
        list(&value, range, 0, Some((text, 1)), radix)
    }

    /// The expression of a variable.
    pub(super) fn target(&mut self, reference: u64, name: &str) -> Result<String, Failure> {
        let handle = self.handles.get(reference)?;
        let (wave, text) = match handle {
            Handle::Scope(wave, Kind::Buffers) => (wave, format!("@{name}")),
            Handle::Scope(wave, Kind::Lds) => (wave, format!("lds{name}")),
            Handle::Scope(wave, Kind::Scratch) => (wave, format!("scratch{name}")),
            Handle::Scope(wave, _) => (wave, name.to_owned()),
            Handle::Elements { wave, text, .. } => (wave, format!("{text}{name}")),
            Handle::Values(..) => {
                return Err("the value of an expression cannot be set, nor watched"
                    .to_owned()
                    .into());
            }
        };
        self.select_if_stopped(wave)?;
        Ok(text)
    }

    pub(super) fn set_variable(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Arguments {
            variables_reference: u64,
            name: String,
            value: String,
            format: Option<Format>,
        }
        let arguments: Arguments = request.arguments()?;
        let text = self.target(arguments.variables_reference, &arguments.name)?;
        self.assign(&text, &arguments.value, arguments.format)
    }

    pub(super) fn set_expression(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Arguments {
            expression: String,
            value: String,
            frame_id: Option<u64>,
            format: Option<Format>,
        }
        let arguments: Arguments = request.arguments()?;
        self.select_frame(arguments.frame_id)?;
        self.assign(&arguments.expression, &arguments.value, arguments.format)
    }

    fn assign(&mut self, text: &str, value: &str, format: Option<Format>) -> Answer {
        let (text, _) = Radix::split(text);
        self.shell.debugger.assign(text, value)?;
        let value = self.shell.debugger.evaluate(text)?;
        self.shown(text, &value, radix(format))
    }
}

/// The values of a range as variables. The first value is that of the index `base`; `of` is the
/// expression whose elements they are, and the bytes that its index counts.
fn list(
    value: &Evaluated,
    range: std::ops::Range<u64>,
    base: u64,
    of: Option<(&str, u64)>,
    radix: Option<Radix>,
) -> Result<Vec<Value>, Failure> {
    let (scalars, lanes) = match &value.value {
        Number::One(scalar) => (std::slice::from_ref(scalar), false),
        Number::Lanes(all) => (&all[..], true),
        Number::Many(all) => (&all[..], false),
    };
    let mut variables = Vec::new();
    for index in range {
        let Some(scalar) = scalars.get(index as usize) else {
            break;
        };
        let one = Evaluated {
            value: Number::One(*scalar),
            exec: value.exec,
            default: value.default,
            place: None,
            more: 0,
        };
        let name = match of {
            Some((_, bytes)) if bytes > 1 => format!("[0x{:x}]", (base + index) * bytes),
            _ => format!("[{}]", base + index),
        };
        let dtype = scalar.dtype.name();
        let active = !lanes || value.exec >> (index & 63) & 1 == 1;
        let mut variable = json!({
            "name": name,
            "value": one.show(radix)?,
            "type": if active { dtype.to_owned() } else { format!("{dtype}, inactive lane") },
            "variablesReference": 0,
        });
        if let Some((text, _)) = of {
            variable["evaluateName"] = format!("{text}{name}").into();
        }
        if let Some((space, first)) = value.place {
            let at = first + index * scalar.dtype.size() as u64;
            variable["memoryReference"] = match space {
                Space::Lds => memory::lds_reference(at).into(),
                _ => memory::reference(at).into(),
            };
        }
        variables.push(variable);
    }
    Ok(variables)
}
