//! Disassembly and memory by address.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use wavelift::debug::Disassembled;

use super::request::Request;
use super::server::{Answer, Server};
use crate::cli::debug::act::Failure;

/// Most instructions of a response.
const INSTRUCTIONS: u64 = 1 << 16;

/// Most bytes of a response.
const BYTES: u64 = 16 << 20;

/// A guest address as a reference.
pub(super) fn reference(address: u64) -> String {
    format!("0x{address:x}")
}

/// An offset in LDS as a reference.
pub(super) fn lds_reference(offset: u64) -> String {
    format!("lds:0x{offset:x}")
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The guest address of a reference.
pub(super) fn address(text: &str, offset: i64) -> Result<u64, Failure> {
    let address = number(text).and_then(|it| it.checked_add_signed(offset));
    address.ok_or_else(|| format!("`{text}` with offset {offset} is no address").into())
}

/// Memory that a reference names.
#[derive(Clone, Copy)]
enum Memory {
    Global(u64),
    Lds(u64),
}

impl Memory {
    fn of(text: &str, offset: i64) -> Result<Memory, Failure> {
        match text.strip_prefix("lds:") {
            Some(text) => address(text, offset).map(Memory::Lds),
            None => address(text, offset).map(Memory::Global),
        }
    }

    fn reference(self) -> String {
        match self {
            Memory::Global(address) => reference(address),
            Memory::Lds(offset) => lds_reference(offset),
        }
    }
}

/// What requests about an address have.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct At {
    memory_reference: String,
    #[serde(default)]
    offset: i64,
}

impl At {
    fn address(&self) -> Result<u64, Failure> {
        address(&self.memory_reference, self.offset)
    }

    fn memory(&self) -> Result<Memory, Failure> {
        Memory::of(&self.memory_reference, self.offset)
    }
}

impl Server<'_, '_> {
    pub(super) fn disassemble(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Arguments {
            #[serde(flatten)]
            at: At,
            #[serde(default)]
            instruction_offset: i64,
            instruction_count: u64,
        }
        let arguments: Arguments = request.arguments()?;
        let pc = arguments.at.address()?;
        if arguments.instruction_count > INSTRUCTIONS
            || arguments.instruction_offset.unsigned_abs() > INSTRUCTIONS
        {
            return Err(format!("{INSTRUCTIONS} instructions are the most").into());
        }
        if self.module_at(pc).is_none() {
            return Err(format!("there is no code at 0x{pc:x}").into());
        }
        let (count, skip) = (arguments.instruction_count, arguments.instruction_offset);
        let before = usize::try_from(-skip).unwrap_or(0);
        let behind = usize::try_from(skip).unwrap_or(0);
        let listed = self.around(pc, before, before + behind + count as usize)?;
        let at = listed.partition_point(|line| line.pc < pc);
        // In front of the code there is nothing.
        let missing = before.saturating_sub(at);
        let first = listed.first().map_or(pc, |line| line.pc);
        let mut all: Vec<Value> = (0..missing.min(count as usize))
            .map(|index| nothing(first.wrapping_sub(4 * (missing - index) as u64)))
            .collect();
        let from = (at + behind).saturating_sub(before);
        for line in listed.iter().skip(from) {
            if all.len() as u64 >= count {
                break;
            }
            all.push(self.instruction(line));
        }
        let mut next = listed.last().map_or(pc, |line| line.pc);
        while (all.len() as u64) < count {
            next = next.wrapping_add(4);
            all.push(nothing(next));
        }
        Ok(json!({ "instructions": all }))
    }

    /// Instructions around an address, also of functions before its own.
    fn around(&self, pc: u64, before: usize, count: usize) -> Result<Vec<Disassembled>, Failure> {
        let debugger = &self.shell.debugger;
        let mut all = debugger.disassemble(pc, before, count)?;
        loop {
            let ahead = all.partition_point(|line| line.pc < pc);
            let Some(first) = all.first().map(|line| line.pc).filter(|_| ahead < before) else {
                return Ok(all);
            };
            let Some(end) = first
                .checked_sub(4)
                .filter(|&it| self.module_at(it).is_some())
            else {
                return Ok(all);
            };
            let earlier = debugger.disassemble(end, before - ahead, before - ahead + 1)?;
            let mut earlier: Vec<_> = earlier.into_iter().filter(|it| it.pc < first).collect();
            if earlier.is_empty() {
                return Ok(all);
            }
            earlier.append(&mut all);
            all = earlier;
        }
    }

    fn instruction(&mut self, line: &Disassembled) -> Value {
        let mut shown = json!({
            "address": reference(line.pc),
            "instruction": line.text,
        });
        let module = self.module_at(line.pc);
        if let Some(module) = module {
            let bytes = module.code().decode(line.pc).map_or(4, |inst| inst.len);
            let bytes = module
                .code()
                .bytes_at(line.pc)
                .and_then(|all| all.get(..usize::from(bytes)));
            let words = bytes
                .unwrap_or_default()
                .iter()
                .map(|byte| format!("{byte:02x}"));
            shown["instructionBytes"] = words.collect::<Vec<_>>().join(" ").into();
        }
        if let Some((name, offset)) = &line.place.symbol {
            shown["symbol"] = match offset {
                0 => name.clone().into(),
                _ => format!("{name}+0x{offset:x}").into(),
            };
        }
        if line.place.line.is_some() {
            let place = self.place(line.pc, line.place.line.as_ref());
            if place["source"]["path"].is_string() {
                shown["location"] = place["source"].clone();
                shown["line"] = place["line"].clone();
                shown["column"] = place["column"].clone();
            }
        }
        shown
    }

    pub(super) fn read_memory(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Arguments {
            #[serde(flatten)]
            at: At,
            count: u64,
        }
        let arguments: Arguments = request.arguments()?;
        let from = arguments.at.memory()?;
        let count = arguments.count;
        if count > BYTES {
            return Err(format!("{BYTES} bytes are the most").into());
        }
        let debugger = &self.shell.debugger;
        let bytes = match from {
            Memory::Global(address) => {
                let memory = debugger.device().memory();
                // The longest part that is there.
                let (mut there, mut not) = (0, count + 1);
                while there + 1 < not {
                    let middle = there + (not - there) / 2;
                    match memory.contains(address, middle) {
                        true => there = middle,
                        false => not = middle,
                    }
                }
                let mut bytes = vec![0; there as usize];
                match memory.read_bytes(address, &mut bytes) {
                    Ok(()) => bytes,
                    Err(_) => Vec::new(),
                }
            }
            Memory::Lds(offset) => debugger.inspect(move |state| {
                let lds = state.lds();
                let start = usize::try_from(offset).map_or(lds.len(), |it| it.min(lds.len()));
                lds[start..].iter().copied().take(count as usize).collect()
            })?,
        };
        let mut body = json!({ "address": from.reference() });
        let missing = count - bytes.len() as u64;
        if !bytes.is_empty() {
            body["data"] = BASE64_STANDARD.encode(&bytes).into();
        }
        if missing != 0 {
            body["unreadableBytes"] = missing.into();
        }
        Ok(body)
    }

    pub(super) fn write_memory(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Arguments {
            #[serde(flatten)]
            at: At,
            data: String,
        }
        let arguments: Arguments = request.arguments()?;
        let to = arguments.at.memory()?;
        let bytes = BASE64_STANDARD
            .decode(&arguments.data)
            .map_err(|error| format!("data: {error}"))?;
        let written = bytes.len();
        let missing = format!("{written} bytes at {} cannot be written", to.reference());
        let done = self.shell.debugger.inspect(move |state| match to {
            Memory::Global(address) => state.write_memory(address, &bytes).is_ok(),
            Memory::Lds(offset) => {
                let end = usize::try_from(offset)
                    .ok()
                    .and_then(|it| it.checked_add(bytes.len()));
                let inside = end.is_some_and(|end| end <= state.lds().len());
                if inside {
                    let start = offset as usize;
                    state.change_lds(|lds| lds[start..start + bytes.len()].copy_from_slice(&bytes));
                }
                inside
            }
        })?;
        match done {
            true => Ok(json!({ "bytesWritten": written })),
            false => Err(missing.into()),
        }
    }
}

/// In place of an instruction where there is none.
fn nothing(address: u64) -> Value {
    json!({
        "address": reference(address),
        "instruction": "",
        "presentationHint": "invalid",
    })
}
