//! Sources, disassembly and memory.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use wavelift::debug::{Disassembled, Frame};
use wavelift::source::SourceText;

use super::Refused;
use super::arguments::{Arguments, address};
use super::session::Adapter;

/// Most instructions of a request, and of the listing of a function.
const MOST_INSTRUCTIONS: usize = 100_000;

/// Most bytes of a request for memory.
const MOST_BYTES: usize = 4 << 20;

/// Bytes between the instructions that are told of where there are none.
const STEP: u64 = 4;

impl Adapter<'_, '_> {
    /// The source of a frame, its line and its column: the file, or the disassembly of the function.
    pub(super) fn source_of(
        &mut self,
        frame: &Frame,
    ) -> Result<Option<(Value, u32, u32)>, Refused> {
        let Some(line) = &frame.place.line else {
            let listing = self.listing(frame.pc)?;
            let Some(index) = listing.iter().position(|it| it.pc == frame.pc) else {
                return Ok(None);
            };
            let Some(source) = self.listing_source(&listing)? else {
                return Ok(None);
            };
            return Ok(Some((source, self.as_client_line(index as u32 + 1), 1)));
        };
        let source = self.file_source(&line.file)?;
        Ok(Some((source, self.as_client_line(line.line), line.column)))
    }

    /// A file, by its path if it is there.
    fn file_source(&mut self, file: &str) -> Result<Value, Refused> {
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let program = self.program()?;
        let module = program.debugger.module()?;
        let map = module.source()?;
        let text = SourceText::new(map, program.folders.clone());
        let path = text.path(file).and_then(|path| path.canonicalize().ok());
        Ok(match path {
            Some(path) => json!({"name": name, "path": path}),
            None => json!({"name": name, "path": file, "presentationHint": "deemphasize"}),
        })
    }

    /// The instructions of the function at a guest address.
    fn listing(&mut self, pc: u64) -> Result<Vec<Disassembled>, Refused> {
        let before = MOST_INSTRUCTIONS;
        Ok(self
            .program()?
            .debugger
            .disassemble(pc, before, MOST_INSTRUCTIONS)?)
    }

    /// A disassembly as a source: its reference is the address in the code object.
    fn listing_source(&mut self, listing: &[Disassembled]) -> Result<Option<Value>, Refused> {
        let Some(first) = listing.first() else {
            return Ok(None);
        };
        let Ok(reference) = i32::try_from(first.place.address) else {
            return Ok(None);
        };
        let name = match &first.place.symbol {
            Some((name, _)) => name.clone(),
            None => format!("0x{:x}", first.place.address),
        };
        Ok(Some(json!({
            "name": format!("{name} (disassembly)"),
            "sourceReference": reference,
        })))
    }

    /// The listing that a reference is.
    fn referred(&mut self, reference: u32) -> Result<Vec<Disassembled>, Refused> {
        let module = self.program()?.debugger.module()?;
        let listing = self.listing(module.code().guest(reference.into()))?;
        match listing.is_empty() {
            true => Err(format!("there is no source {reference}").into()),
            false => Ok(listing),
        }
    }

    /// The guest address of a line of a listing.
    pub(super) fn pc_of_listing(&mut self, reference: u32, line: u32) -> Result<u64, Refused> {
        let listing = self.referred(reference)?;
        let index = (line as usize).checked_sub(1);
        let found = index.and_then(|index| listing.get(index));
        found
            .map(|it| it.pc)
            .ok_or_else(|| format!("the disassembly has no line {line}").into())
    }

    pub(super) fn source(&mut self, given: Arguments<'_>) -> Result<Value, Refused> {
        let reference = match given.number("sourceReference")? {
            Some(reference) => reference,
            None => given
                .object("source", "a source")?
                .need_number("sourceReference")?,
        };
        let listing = self.referred(reference)?;
        let lines = listing
            .iter()
            .map(|it| format!("{:#06x}  {}\n", it.place.address, it.text));
        Ok(json!({"content": lines.collect::<String>(), "mimeType": "text/x-asm"}))
    }

    pub(super) fn loaded_sources(&mut self) -> Result<Value, Refused> {
        let module = self.program()?.debugger.module()?;
        let files: Vec<String> = match module.source() {
            Ok(map) => map.files().map(str::to_owned).collect(),
            Err(_) => Vec::new(),
        };
        let sources: Result<Vec<_>, _> = files.iter().map(|file| self.file_source(file)).collect();
        Ok(json!({"sources": sources?}))
    }

    pub(super) fn disassemble(&mut self, given: Arguments<'_>) -> Result<Value, Refused> {
        let start = address(given.need_text("memoryReference")?)?;
        let pc = start.wrapping_add_signed(given.integer("offset")?.unwrap_or(0));
        let offset = given.integer("instructionOffset")?.unwrap_or(0);
        let count = given.need_number("instructionCount")? as usize;
        if count > MOST_INSTRUCTIONS || offset.unsigned_abs() > MOST_INSTRUCTIONS as u64 {
            return Err(
                format!("at most {MOST_INSTRUCTIONS} instructions are listed at once").into(),
            );
        }
        let offset = offset as isize;
        let before = offset.min(0).unsigned_abs();
        let debugger = &self.program()?.debugger;
        let listed = debugger.disassemble(pc, before, before + count + offset.max(0) as usize)?;
        let here = listed.iter().position(|it| it.pc == pc).unwrap_or(0) as isize;
        let mut all = Vec::new();
        for n in 0..count as isize {
            let index = here + offset + n;
            let found = usize::try_from(index)
                .ok()
                .and_then(|index| listed.get(index));
            all.push(match found {
                Some(it) => {
                    let mut shown = json!({
                        "address": format!("0x{:x}", it.pc),
                        "instruction": it.text,
                    });
                    if let Some((symbol, offset)) = &it.place.symbol {
                        shown["symbol"] = format!("{symbol}+0x{offset:x}").into();
                    }
                    if let Some(line) = it.place.line.clone() {
                        shown["location"] = self.file_source(&line.file)?;
                        shown["line"] = self.as_client_line(line.line).into();
                        shown["column"] = line.column.into();
                    }
                    shown
                }
                // As many are told of as were asked for.
                None => {
                    let edge = match index < 0 {
                        true => listed.first().map_or(pc, |it| it.pc),
                        false => listed.last().map_or(pc, |it| it.pc),
                    };
                    let past = match index < 0 {
                        true => index as i64,
                        false => index as i64 - listed.len() as i64 + 1,
                    };
                    let at = edge.wrapping_add_signed(past.wrapping_mul(STEP as i64));
                    json!({
                        "address": format!("0x{at:x}"),
                        "instruction": "no code",
                        "presentationHint": "invalid",
                    })
                }
            });
        }
        Ok(json!({"instructions": all}))
    }

    pub(super) fn read_memory(&mut self, given: Arguments<'_>) -> Result<Value, Refused> {
        let start = address(given.need_text("memoryReference")?)?;
        let start = start.wrapping_add_signed(given.integer("offset")?.unwrap_or(0));
        let count = given.need_number("count")? as usize;
        if count > MOST_BYTES {
            return Err(format!("at most {MOST_BYTES} bytes are read at once").into());
        }
        let memory = self.program()?.debugger.device().memory();
        let mut bytes = vec![0; count];
        // What lies behind the end of memory is not there.
        let mut readable = count;
        while readable > 0 && memory.read_bytes(start, &mut bytes[..readable]).is_err() {
            readable = match memory.contains(start, 1) {
                true => readable / 2,
                false => 0,
            };
        }
        bytes.truncate(readable);
        Ok(json!({
            "address": format!("0x{start:x}"),
            "data": STANDARD.encode(&bytes),
            "unreadableBytes": count - readable,
        }))
    }

    pub(super) fn write_memory(&mut self, given: Arguments<'_>) -> Result<Value, Refused> {
        let start = address(given.need_text("memoryReference")?)?;
        let start = start.wrapping_add_signed(given.integer("offset")?.unwrap_or(0));
        let data = STANDARD.decode(given.need_text("data")?);
        let bytes = data.map_err(|error| format!("`data` of writeMemory is no base64: {error}"))?;
        let count = bytes.len();
        let debugger = &self.program()?.debugger;
        debugger
            .inspect(move |state| state.write_memory(start, &bytes))?
            .map_err(|error| error.to_string())?;
        Ok(json!({"bytesWritten": count}))
    }
}
