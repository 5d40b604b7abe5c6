//! Breakpoints and watchpoints. Each request replaces those of its kind.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use wavelift::debug::{DebugError, Expr, HitCondition, Limits, Message, Point, Trigger, WatchKind};

use super::memory;
use super::request::{Request, Source};
use super::server::{Answer, Kinds, Server};
use crate::cli::debug::act::Failure;

/// The points that one request replaces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Group {
    /// Those of a file.
    File(String),
    /// Those of a listing.
    Listing(u64),
    Functions,
    Instructions,
    Data,
}

/// The points that the client has set.
#[derive(Default)]
pub(super) struct Placed {
    groups: HashMap<Group, Vec<u32>>,
    kinds: Kinds,
}

impl Placed {
    /// What a stop at a point is called.
    pub(super) fn kind(&self, id: u32, other: &'static str) -> &'static str {
        self.kinds.get(&id).copied().unwrap_or(other)
    }
}

/// What all kinds of points have.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Conditions {
    condition: Option<String>,
    hit_condition: Option<String>,
    log_message: Option<String>,
}

impl Conditions {
    fn limits(&self) -> Result<Limits, DebugError> {
        let given = |text: &Option<String>| {
            let text = text.as_deref().map(str::trim);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let condition_text = given(&self.condition);
        Ok(Limits {
            condition: condition_text.as_deref().map(Expr::parse).transpose()?,
            condition_text,
            hits: given(&self.hit_condition)
                .map(|text| text.parse::<HitCondition>())
                .transpose()?,
            message: given(&self.log_message)
                .map(|text| text.parse::<Message>())
                .transpose()?,
            ..Limits::default()
        })
    }
}

#[derive(Deserialize)]
struct SourcePoint {
    line: u64,
    #[serde(flatten)]
    conditions: Conditions,
}

impl Server<'_, '_> {
    /// Deletes the points of a group and sets others.
    fn replace<T>(
        &mut self,
        group: Group,
        kind: &'static str,
        wanted: &[T],
        set: impl Fn(&mut Self, &T) -> Result<Point, Failure>,
    ) -> Answer {
        for id in self.placed.groups.remove(&group).unwrap_or_default() {
            // One that a command has deleted is gone.
            let _ = self.shell.debugger.delete(id);
            self.placed.kinds.remove(&id);
        }
        let (mut ids, mut answers) = (Vec::new(), Vec::new());
        for one in wanted {
            let set = match self.no_debug {
                true => Err("the program runs without debugging".to_owned().into()),
                false => set(self, one),
            };
            answers.push(match set {
                Ok(point) => {
                    ids.push(point.id);
                    self.placed.kinds.insert(point.id, kind);
                    self.placed_at(&group, &point)
                }
                Err(Failure::Command(message)) => {
                    json!({ "verified": false, "message": message })
                }
                Err(error) => return Err(error),
            });
        }
        self.placed.groups.insert(group, ids);
        Ok(json!({ "breakpoints": answers }))
    }

    /// A point that was set.
    fn placed_at(&mut self, group: &Group, point: &Point) -> Value {
        let mut shown = json!({ "id": point.id, "verified": true });
        let Trigger::Code(all) = &point.trigger else {
            return shown;
        };
        let Some(&pc) = all.first() else {
            return shown;
        };
        shown["instructionReference"] = memory::reference(pc).into();
        match group {
            Group::Listing(_) => {
                let place = self.listed(pc);
                shown["line"] = place["line"].clone();
                shown["source"] = place["source"].clone();
            }
            Group::File(_) | Group::Functions | Group::Instructions | Group::Data => {
                let line = self.line_at(pc);
                let place = self.place(pc, line.as_ref());
                shown["line"] = place["line"].clone();
                shown["source"] = place["source"].clone();
            }
        }
        shown
    }

    pub(super) fn set_breakpoints(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        struct Arguments {
            source: Source,
            breakpoints: Option<Vec<SourcePoint>>,
            /// Of old clients.
            lines: Option<Vec<u64>>,
        }
        let Arguments {
            source,
            breakpoints,
            lines,
        } = request.arguments()?;
        let wanted = match breakpoints {
            Some(all) => all,
            None => {
                let plain = |line| SourcePoint {
                    line,
                    conditions: Conditions::default(),
                };
                lines.unwrap_or_default().into_iter().map(plain).collect()
            }
        };
        let client = self.client;
        match (source.source_reference.filter(|&it| it != 0), source.path) {
            (Some(number), _) => self.replace(
                Group::Listing(number),
                "breakpoint",
                &wanted,
                |server, it| {
                    let limits = it.conditions.limits()?;
                    let pc = server.places.address(number, client.own_line(it.line))?;
                    Ok(server
                        .shell
                        .debugger
                        .break_on(&[pc], &memory::reference(pc), limits)?)
                },
            ),
            (None, Some(path)) => {
                let group = Group::File(path.clone());
                self.replace(group, "breakpoint", &wanted, |server, it| {
                    let limits = it.conditions.limits()?;
                    let line = client.own_line(it.line);
                    let line =
                        u32::try_from(line).map_err(|_| format!("there is no line {line}"))?;
                    let all = server.addresses(&path, line)?;
                    let text = format!("{path}:{line}");
                    Ok(server.shell.debugger.break_on(&all, &text, limits)?)
                })
            }
            (None, None) => Err("a source without a path or a sourceReference"
                .to_owned()
                .into()),
        }
    }

    pub(super) fn set_function_breakpoints(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        struct Arguments {
            breakpoints: Vec<Function>,
        }
        #[derive(Deserialize)]
        struct Function {
            name: String,
            #[serde(flatten)]
            conditions: Conditions,
        }
        let Arguments { breakpoints } = request.arguments()?;
        self.replace(
            Group::Functions,
            "function breakpoint",
            &breakpoints,
            |server, it| {
                let limits = it.conditions.limits()?;
                Ok(server.shell.debugger.break_at(&it.name, limits)?)
            },
        )
    }

    pub(super) fn set_instruction_breakpoints(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        struct Arguments {
            breakpoints: Vec<Instruction>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Instruction {
            instruction_reference: String,
            #[serde(default)]
            offset: i64,
            #[serde(flatten)]
            conditions: Conditions,
        }
        let Arguments { breakpoints } = request.arguments()?;
        self.replace(
            Group::Instructions,
            "instruction breakpoint",
            &breakpoints,
            |server, it| {
                let limits = it.conditions.limits()?;
                let pc = memory::address(&it.instruction_reference, it.offset)?;
                let text = memory::reference(pc);
                Ok(server.shell.debugger.break_on(&[pc], &text, limits)?)
            },
        )
    }

    pub(super) fn set_data_breakpoints(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        struct Arguments {
            breakpoints: Vec<Data>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Data {
            data_id: String,
            access_type: Option<Access>,
            #[serde(flatten)]
            conditions: Conditions,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        enum Access {
            Read,
            Write,
            ReadWrite,
        }
        let Arguments { breakpoints } = request.arguments()?;
        self.replace(
            Group::Data,
            "data breakpoint",
            &breakpoints,
            |server, it| {
                let limits = it.conditions.limits()?;
                let kind = match it.access_type {
                    None | Some(Access::Write) => WatchKind::Write,
                    Some(Access::Read) => WatchKind::Read,
                    Some(Access::ReadWrite) => WatchKind::Access,
                };
                server.watch(&it.data_id, kind, limits)
            },
        )
    }

    /// Sets a watchpoint on what a data id names: an expression, and behind a `#` the bytes.
    fn watch(&mut self, id: &str, kind: WatchKind, limits: Limits) -> Result<Point, Failure> {
        let (text, bytes) = match id.rsplit_once('#') {
            Some((text, bytes)) => {
                let wrong = |_| format!("`{id}` is no data id");
                (text, Some(bytes.parse().map_err(wrong)?))
            }
            None => (id, None),
        };
        Ok(self
            .shell
            .debugger
            .watch_text(text, (kind, bytes), limits)?)
    }

    pub(super) fn data_breakpoint_info(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Arguments {
            variables_reference: Option<u64>,
            name: String,
            frame_id: Option<u64>,
            bytes: Option<u64>,
            #[serde(default)]
            as_address: bool,
        }
        let arguments: Arguments = request.arguments()?;
        let text = match arguments.variables_reference.filter(|&it| it != 0) {
            Some(reference) => self.target(reference, &arguments.name)?,
            None => {
                self.select_frame(arguments.frame_id)?;
                match arguments.as_address {
                    true => format!("mem[{}]", arguments.name),
                    false => arguments.name.clone(),
                }
            }
        };
        let id = match arguments.bytes {
            Some(bytes) => format!("{text}#{bytes}"),
            None => text.clone(),
        };
        // That it can be watched is tried.
        match self.watch(&id, WatchKind::Write, Limits::default()) {
            Ok(point) => {
                self.shell.debugger.delete(point.id)?;
                Ok(json!({
                    "dataId": id,
                    "description": text,
                    "accessTypes": ["read", "write", "readWrite"],
                    "canPersist": false,
                }))
            }
            Err(Failure::Command(why)) => Ok(json!({ "dataId": null, "description": why })),
            Err(error) => Err(error),
        }
    }

    pub(super) fn set_exception_breakpoints(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Arguments {
            filters: Vec<String>,
            #[serde(default)]
            filter_options: Vec<Filter>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Filter {
            filter_id: String,
        }
        let Arguments {
            mut filters,
            filter_options,
        } = request.arguments()?;
        filters.extend(filter_options.into_iter().map(|it| it.filter_id));
        if let Some(other) = filters.iter().find(|filter| *filter != "faults") {
            return Err(
                format!("there is no exception filter `{other}`; there is `faults`").into(),
            );
        }
        self.faults = !filters.is_empty() && !self.no_debug;
        Ok(Value::Null)
    }
}
