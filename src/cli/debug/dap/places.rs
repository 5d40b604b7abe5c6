//! Where code is, for the client: files that it can open, or listings of the disassembly.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use wavelift::Module;
use wavelift::debug::{Place, PlaceError, SourceLine};

use super::request::{Request, Source};
use super::server::{Answer, Server};
use crate::cli::debug::act::Failure;

/// A function's instructions, one a line.
struct Listing {
    name: String,
    /// Their guest addresses.
    addresses: Vec<u64>,
    text: String,
}

/// Files and listings that the client knows.
#[derive(Default)]
pub(super) struct Places {
    listings: Vec<Listing>,
    /// Files of the debugging information by where the client has them.
    files: HashMap<String, String>,
}

impl Places {
    fn listing(&self, number: u64) -> Result<&Listing, String> {
        let index = usize::try_from(number)
            .ok()
            .and_then(|it| it.checked_sub(1));
        let listing = index.and_then(|index| self.listings.get(index));
        listing.ok_or_else(|| format!("there is no source {number}"))
    }

    /// The guest address of a line of a listing.
    pub(super) fn address(&self, number: u64, line: u64) -> Result<u64, String> {
        let listing = self.listing(number)?;
        let index = usize::try_from(line).ok().and_then(|it| it.checked_sub(1));
        let address = index.and_then(|index| listing.addresses.get(index));
        address.copied().ok_or_else(|| {
            let lines = listing.addresses.len();
            format!(
                "there is no instruction at line {line}: {} has {lines}",
                listing.name
            )
        })
    }

    fn path(&self, file: &str) -> Option<String> {
        match self.files.get(file) {
            Some(path) => Some(path.clone()),
            None => Path::new(file).is_file().then(|| file.to_owned()),
        }
    }
}

fn name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

impl Server<'_, '_> {
    /// The modules of the program, that of the launch that runs first.
    pub(super) fn modules(&self) -> Vec<Module> {
        let debugger = &self.shell.debugger;
        let all = debugger
            .program()
            .iter()
            .map(|it| it.kernel.module().clone());
        debugger.module().ok().into_iter().chain(all).collect()
    }

    /// The module whose code is at a guest address.
    pub(super) fn module_at(&self, pc: u64) -> Option<Module> {
        self.modules().into_iter().find(|module| {
            let mut segments = module.code().segments();
            segments.any(|(start, bytes)| pc.wrapping_sub(start) < bytes.len() as u64)
        })
    }

    /// The line of the code at a guest address.
    pub(super) fn line_at(&self, pc: u64) -> Option<SourceLine> {
        let listed = self.shell.debugger.disassemble(pc, 0, 1).ok()?;
        listed.into_iter().next()?.place.line
    }

    /// Where the code of a line of the client's file begins.
    pub(super) fn addresses(&mut self, path: &str, line: u32) -> Result<Vec<u64>, Failure> {
        let mut error = None;
        // The compiler may have seen the file in another folder.
        for file in [path, name(path)] {
            for module in self.modules() {
                match Place::Line(file.to_owned(), line).addresses(&module) {
                    Ok(all) => {
                        for known in module.source().iter().flat_map(|map| map.files()) {
                            if self::name(known) == self::name(path) {
                                self.places.files.insert(known.to_owned(), path.to_owned());
                            }
                        }
                        return Ok(all);
                    }
                    Err(why @ PlaceError::NoLine { .. }) => error = error.or(Some(why)),
                    Err(why) => return Err(why.to_string().into()),
                }
            }
        }
        let error = error.map_or_else(|| "there is no code".to_owned(), |it| it.to_string());
        Err(error.into())
    }

    /// `source`, `line` and `column` of code: of its line if the client can open the file, else in a
    /// listing.
    pub(super) fn place(&mut self, pc: u64, line: Option<&SourceLine>) -> Value {
        let found = line.and_then(|line| Some((line, self.places.path(&line.file)?)));
        let Some((line, path)) = found else {
            return self.listed(pc);
        };
        json!({
            "source": { "name": name(&path), "path": path },
            "line": self.client.line(line.line.into()),
            "column": self.client.column(line.column.into()),
        })
    }

    /// The same in a listing.
    pub(super) fn listed(&mut self, pc: u64) -> Value {
        let known = |listing: &Listing| listing.addresses.binary_search(&pc).is_ok();
        let number = match self.places.listings.iter().position(known) {
            Some(number) => number,
            None => match self.list(pc) {
                Some(listing) => {
                    self.places.listings.push(listing);
                    self.places.listings.len() - 1
                }
                None => return json!({ "line": 0, "column": 0 }),
            },
        };
        let listing = &self.places.listings[number];
        let index = listing.addresses.partition_point(|&it| it < pc);
        json!({
            "source": {
                "name": listing.name,
                "sourceReference": number + 1,
                "origin": "disassembly",
            },
            "line": self.client.line(index as u64 + 1),
            "column": self.client.column(1),
        })
    }

    /// The listing of the function at a guest address.
    fn list(&self, pc: u64) -> Option<Listing> {
        let module = self.module_at(pc)?;
        let code = module.code();
        let (start, bytes) = code
            .segments()
            .find(|(start, bytes)| pc.wrapping_sub(*start) < bytes.len() as u64)?;
        let end = start + bytes.len() as u64;
        let symbol = code.symbol_at(pc).map(|(symbol, _)| symbol);
        let (begin, name) = match symbol.filter(|symbol| symbol.address >= start) {
            Some(symbol) => (symbol.address, symbol.name.clone()),
            None => (start, format!("0x{:x}", code.local(start))),
        };
        let next = code.symbols().iter().map(|symbol| symbol.address);
        let end = next.filter(|&it| it > pc && it < end).min().unwrap_or(end);
        let count = ((end - begin) / 4) as usize + 1;
        let listed = self.shell.debugger.disassemble(begin, 0, count).ok()?;
        let (mut addresses, mut text) = (Vec::new(), String::new());
        for line in listed.into_iter().take_while(|line| line.pc < end) {
            addresses.push(line.pc);
            text.push_str(&format!("0x{:04x}  {}\n", line.place.address, line.text));
        }
        addresses.binary_search(&pc).ok()?;
        Some(Listing {
            name: format!("{name} (disassembly)"),
            addresses,
            text,
        })
    }

    pub(super) fn source(&mut self, request: &Request) -> Answer {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Arguments {
            source: Option<Source>,
            #[serde(default)]
            source_reference: u64,
        }
        let arguments: Arguments = request.arguments()?;
        let source = arguments.source.unwrap_or_default();
        let number = match (source.source_reference, arguments.source_reference) {
            (Some(number), _) if number != 0 => number,
            (_, number) => number,
        };
        if number == 0 {
            return Err(
                "files are opened by the editor; a sourceReference was expected"
                    .to_owned()
                    .into(),
            );
        }
        let listing = self.places.listing(number)?;
        Ok(json!({ "content": listing.text, "mimeType": "text/x-asm" }))
    }

    pub(super) fn loaded_sources(&mut self) -> Answer {
        let mut paths = Vec::new();
        for module in self.modules() {
            for file in module.source().iter().flat_map(|map| map.files()) {
                paths.extend(self.places.path(file));
            }
        }
        paths.sort();
        paths.dedup();
        let files = paths
            .iter()
            .map(|path| json!({ "name": name(path), "path": path }));
        let listings =
            self.places.listings.iter().enumerate().map(
                |(index, listing)| json!({ "name": listing.name, "sourceReference": index + 1 }),
            );
        Ok(json!({ "sources": files.chain(listings).collect::<Vec<_>>() }))
    }
}
