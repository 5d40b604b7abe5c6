//! Breakpoints of all kinds. A client sends all of a kind anew, or all of a file; they replace those before.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wavelift::debug::{Debugger, Expr, Limits, Point, Trigger, WatchKind};

use super::Refused;
use super::arguments::{Arguments, address};
use super::session::Adapter;

/// What belongs to a breakpoint of the debugger.
#[derive(Default)]
struct Extra {
    reason: &'static str,
    /// The hit that stops, the first if there is no condition of that kind.
    from_hit: u64,
    hits: u64,
    /// What is printed in place of a stop.
    message: Option<String>,
}

/// The group that a request replaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    File(String),
    Functions,
    Instructions,
    Data,
}

/// All breakpoints.
#[derive(Default)]
pub(super) struct Points {
    groups: BTreeMap<Group, Vec<u32>>,
    extras: BTreeMap<u32, Extra>,
}

/// What a hit means.
pub(super) enum Met {
    Stop,
    GoOn,
}

impl Points {
    /// The program begins again.
    pub(super) fn forget_hits(&mut self) {
        self.extras.values_mut().for_each(|extra| extra.hits = 0);
    }

    /// What a hit means, and what it prints.
    pub(super) fn met(&mut self, id: u32, debugger: &Debugger) -> (Met, Option<String>) {
        let Some(extra) = self.extras.get_mut(&id) else {
            return (Met::Stop, None);
        };
        extra.hits += 1;
        if extra.hits < extra.from_hit {
            return (Met::GoOn, None);
        }
        match &extra.message {
            Some(message) => (Met::GoOn, Some(filled(message, debugger))),
            None => (Met::Stop, None),
        }
    }

    /// The kind of stop.
    pub(super) fn reason(&self, id: u32) -> &'static str {
        self.extras
            .get(&id)
            .map_or("breakpoint", |extra| extra.reason)
    }
}

/// A message with the values of the expressions in its braces.
fn filled(message: &str, debugger: &Debugger) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((expression, after)) = behind.split_once('}') else {
            break;
        };
        text += before;
        let value = debugger
            .evaluate(expression)
            .and_then(|value| value.show(None));
        match value {
            Ok(value) => text += &value,
            Err(error) => text += &format!("({error})"),
        }
        rest = after;
    }
    text + rest
}

/// What a breakpoint of a request says beside its place.
fn settings(given: Arguments<'_>, reason: &'static str) -> Result<(Limits, Extra), Refused> {
    let mut limits = Limits::default();
    if let Some(condition) = given
        .text("condition")?
        .filter(|text| !text.trim().is_empty())
    {
        limits.condition = Some(Expr::parse(condition)?);
        limits.condition_text = Some(condition.trim().to_owned());
    }
    let from_hit = match given.text("hitCondition")?.map(str::trim) {
        None | Some("") => 1,
        Some(text) => text.trim_start_matches(">=").trim().parse().map_err(|_| {
            format!(
                "`{text}` is no number of hits; a number N stops at the Nth hit and those behind it"
            )
        })?,
    };
    let message = given.text("logMessage")?.filter(|text| !text.is_empty());
    let extra = Extra {
        reason,
        from_hit,
        hits: 0,
        message: message.map(str::to_owned),
    };
    Ok((limits, extra))
}

impl Adapter<'_, '_> {
    /// Deletes the breakpoints of a group.
    fn clear(&mut self, group: &Group) -> Result<(), Refused> {
        for id in self.points.groups.remove(group).unwrap_or_default() {
            self.points.extras.remove(&id);
            // One that was deleted otherwise is gone as well.
            let _ = self.program()?.debugger.delete(id);
        }
        Ok(())
    }

    /// The response to a breakpoint: where it is, or why it is nowhere.
    fn added(&mut self, group: &Group, made: Result<(Point, Extra), Refused>) -> Value {
        match made {
            Err(Refused(why)) => json!({"verified": false, "message": why}),
            Ok((point, extra)) => {
                self.points.extras.insert(point.id, extra);
                self.points
                    .groups
                    .entry(group.clone())
                    .or_default()
                    .push(point.id);
                let mut shown = json!({"id": point.id, "verified": true});
                if let (Trigger::Code(all), Some(program)) = (&point.trigger, &self.program)
                    && let Some(&pc) = all.first()
                {
                    shown["instructionReference"] = format!("0x{pc:x}").into();
                    let listed = program.debugger.disassemble(pc, 0, 1).unwrap_or_default();
                    let line = listed.into_iter().next().and_then(|it| it.place.line);
                    if let (Some(line), Group::File(_)) = (line, group) {
                        shown["line"] = self.as_client_line(line.line).into();
                    }
                }
                shown
            }
        }
    }

    /// Sets the breakpoints of a group.
    fn replace(
        &mut self,
        group: &Group,
        list: &[Value],
        reason: &'static str,
        mut make: impl FnMut(&mut Self, Arguments<'_>, Limits) -> Result<Point, Refused>,
    ) -> Result<Value, Refused> {
        self.program()?;
        self.clear(group)?;
        let mut all = Vec::new();
        for object in list {
            let given = Arguments::new("a breakpoint", object);
            let made = settings(given, reason)
                .and_then(|(limits, extra)| Ok((make(self, given, limits)?, extra)));
            all.push(self.added(group, made));
        }
        Ok(json!({"breakpoints": all}))
    }

    /// A line of the client's counting.
    pub(super) fn as_client_line(&self, line: u32) -> u32 {
        line - u32::from(!self.from_one && line > 0)
    }

    fn as_own_line(&self, line: u32) -> u32 {
        line.saturating_add((!self.from_one).into())
    }

    pub(super) fn set_breakpoints(&mut self, given: Arguments<'_>) -> Result<Value, Refused> {
        let source = given.object("source", "a source")?;
        let list = given.list("breakpoints")?;
        if let Some(reference) = source.number("sourceReference")?.filter(|n| *n != 0) {
            let group = Group::File(format!("#{reference}"));
            return self.replace(&group, list, "breakpoint", |adapter, given, limits| {
                let line = adapter.as_own_line(given.need_number("line")?);
                let pc = adapter.pc_of_listing(reference, line)?;
                let debugger = &mut adapter.program()?.debugger;
                Ok(debugger.break_at(&code_address(debugger, pc)?, limits)?)
            });
        }
        let path = source.need_text("path")?.to_owned();
        let group = Group::File(path.clone());
        self.replace(&group, list, "breakpoint", |adapter, given, limits| {
            let line = adapter.as_own_line(given.need_number("line")?);
            let debugger = &mut adapter.program()?.debugger;
            Ok(debugger.break_at(&line_of(debugger, &path, line)?, limits)?)
        })
    }

    pub(super) fn set_function_breakpoints(
        &mut self,
        given: Arguments<'_>,
    ) -> Result<Value, Refused> {
        let list = given.list("breakpoints")?;
        self.replace(
            &Group::Functions,
            list,
            "function breakpoint",
            |adapter, given, limits| {
                let name = given.need_text("name")?;
                Ok(adapter.program()?.debugger.break_at(name, limits)?)
            },
        )
    }

    pub(super) fn set_instruction_breakpoints(
        &mut self,
        given: Arguments<'_>,
    ) -> Result<Value, Refused> {
        let list = given.list("breakpoints")?;
        self.replace(
            &Group::Instructions,
            list,
            "instruction breakpoint",
            |adapter, given, limits| {
                let start = address(given.need_text("instructionReference")?)?;
                let pc = start.wrapping_add_signed(given.integer("offset")?.unwrap_or(0));
                let debugger = &mut adapter.program()?.debugger;
                Ok(debugger.break_at(&code_address(debugger, pc)?, limits)?)
            },
        )
    }

    pub(super) fn data_breakpoint_info(&mut self, given: Arguments<'_>) -> Result<Value, Refused> {
        self.select_frame(given)?;
        let name = given.need_text("name")?;
        let name = match given.number("variablesReference")?.filter(|n| *n != 0) {
            Some(reference) => self.handles.expression(reference, name)?,
            None => name.to_owned(),
        };
        // A breakpoint that is deleted at once tells whether there can be one.
        let debugger = &mut self.program()?.debugger;
        let tried = debugger.watch_text(&name, (WatchKind::Write, None), Limits::default());
        match tried {
            Ok(point) => {
                debugger.delete(point.id)?;
                let Trigger::Memory { bytes, .. } = point.trigger else {
                    return Err("bug: a watchpoint of code".into());
                };
                Ok(json!({
                    "dataId": name,
                    "description": format!("{name} ({bytes} bytes)"),
                    "accessTypes": ["read", "write", "readWrite"],
                    "canPersist": true,
                }))
            }
            Err(error) => Ok(json!({"dataId": null, "description": error.to_string()})),
        }
    }

    pub(super) fn set_data_breakpoints(&mut self, given: Arguments<'_>) -> Result<Value, Refused> {
        let list = given.list("breakpoints")?;
        self.replace(
            &Group::Data,
            list,
            "data breakpoint",
            |adapter, given, limits| {
                let kind = match given.text("accessType")? {
                    None | Some("write") => WatchKind::Write,
                    Some("read") => WatchKind::Read,
                    Some("readWrite") => WatchKind::Access,
                    Some(other) => {
                        return Err(format!(
                            "`{other}` is no accessType: read, write or readWrite"
                        )
                        .into());
                    }
                };
                let debugger = &mut adapter.program()?.debugger;
                Ok(debugger.watch_text(given.need_text("dataId")?, (kind, None), limits)?)
            },
        )
    }

    /// The lines of a range that have code.
    pub(super) fn breakpoint_locations(&mut self, given: Arguments<'_>) -> Result<Value, Refused> {
        let source = given.object("source", "a source")?;
        let first = self.as_own_line(given.need_number("line")?);
        let last = given
            .number("endLine")?
            .map_or(first, |line| self.as_own_line(line));
        let Some(path) = source.text("path")? else {
            return Ok(json!({"breakpoints": []}));
        };
        let module = self.program()?.debugger.module()?;
        let mut lines: Vec<u32> = Vec::new();
        if let (Ok(map), Ok(file)) = (module.source(), file_of(&self.program()?.debugger, path)) {
            let rows = map.lines().filter_map(|row| row.location);
            let inside = rows.filter(|row| row.file == file && (first..=last).contains(&row.line));
            lines.extend(inside.map(|row| row.line));
        }
        lines.sort_unstable();
        lines.dedup();
        let shown = lines
            .iter()
            .map(|&line| json!({"line": self.as_client_line(line)}));
        Ok(json!({"breakpoints": shown.collect::<Vec<_>>()}))
    }
}

/// A location of the debugger for a guest address.
fn code_address(debugger: &Debugger, pc: u64) -> Result<String, Refused> {
    let listed = debugger.disassemble(pc, 0, 1)?;
    let line = listed.first().filter(|line| line.pc == pc);
    match line {
        Some(line) => Ok(format!("0x{:x}", line.place.address)),
        None => Err(format!("there is no instruction at 0x{pc:x}").into()),
    }
}

/// The file of the code object that a path of the client names: the client's folders may be others than the compiler's.
fn file_of(debugger: &Debugger, path: &str) -> Result<String, Refused> {
    let module = debugger.module()?;
    let map = module.source()?;
    let names: Vec<&str> = path
        .split(['/', '\\'])
        .filter(|name| !name.is_empty())
        .collect();
    // How many names at the end are the same.
    let common = |file: &str| {
        let own: Vec<&str> = file
            .split(['/', '\\'])
            .filter(|name| !name.is_empty())
            .collect();
        let pairs = own.iter().rev().zip(names.iter().rev());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let best = map
        .files()
        .max_by_key(|file| common(file))
        .filter(|file| common(file) > 0);
    match best {
        Some(file) => Ok(file.to_owned()),
        None if !map.has_lines() => {
            Err("the code object has no line numbers; compile it with -g".into())
        }
        None => Err(format!("no code of the program comes from {path}").into()),
    }
}

/// A location of the debugger for a line.
fn line_of(debugger: &Debugger, path: &str, line: u32) -> Result<String, Refused> {
    Ok(format!("{}:{line}", file_of(debugger, path)?))
}
