//! The profile that is written at the end of the program: time by kernel, then by translated region.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

use runtime::LoadedCode;
use runtime::jit::profile::{Profile, RegionProfile};

use crate::config::Destination;
use crate::guard::say;
use crate::lock::lock;
use crate::state::Runtime;

/// Writes the profile of the whole program.
pub(crate) fn write(rt: &Runtime, destination: &Destination) {
    let Some(profile) = rt.engine.take_profile() else {
        return;
    };
    let program = std::env::args_os().next();
    let program = program.as_deref().unwrap_or(OsStr::new("the program"));
    let modules = lock(&rt.modules.0);
    let text = format!(
        "profile of {} (process {})\n{}{}",
        program.display(),
        std::process::id(),
        rt.totals.text(""),
        text(&profile, modules.iter().map(|module| module.code())),
    );
    let written = match destination {
        Destination::Stderr => std::io::stderr().lock().write_all(text.as_bytes()),
        Destination::File(path) => OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .and_then(|mut file| file.write_all(text.as_bytes())),
    };
    if let (Err(error), Destination::File(path)) = (written, destination) {
        say(format_args!(
            "cannot write the profile to {}: {error}",
            path.display()
        ));
    }
}

/// `name+0x10`, or the address if there is no name.
fn place(code: Option<&&LoadedCode>, pc: u64) -> String {
    code.map_or_else(|| format!("0x{pc:x}"), |code| code.place(pc))
}

/// Regions by time, then the instructions that only the interpreter runs.
fn text<'a>(profile: &Profile, modules: impl Iterator<Item = &'a LoadedCode>) -> String {
    let modules: HashMap<u64, &LoadedCode> = modules.map(|code| (code.id(), code)).collect();
    let mut regions: Vec<&RegionProfile> = profile.regions.iter().collect();
    regions.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    let all: f64 = regions.iter().map(|region| region.seconds()).sum();
    let mut out = String::from(
        "   share     time ms     entered  instructions  host bytes  emitter    region (time of all threads)\n",
    );
    for region in regions {
        let share = match all > 0.0 {
            true => 100.0 * region.seconds() / all,
            false => 0.0,
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "{share:6.1} % {:11.3} {:11} {:13} {:11}  {:<9}  {}",
            region.seconds() * 1e3,
            region.entered(),
            region.guest_insts(),
            region.host_bytes(),
            region.emitter(),
            place(modules.get(&region.code), region.entry),
        );
        if let Some(what) = region.refused() {
            let _ = writeln!(out, "         not by the wide back end: {what}");
        }
        if !region.fallbacks().is_empty() {
            let names = region.fallbacks().join(", ");
            let _ = writeln!(out, "         interpreted within: {names}");
        }
    }
    let mut interpreted: Vec<_> = profile.interpreted.iter().collect();
    interpreted.sort_by_key(|(place, count)| (std::cmp::Reverse(count.executions), **place));
    for (&(code, pc), count) in interpreted {
        let code = modules.get(&code);
        let text = code.map_or(String::new(), |code| code.text_at(pc));
        let _ = writeln!(
            out,
            "interpreted {} times: {}  {text}",
            count.executions,
            place(code, pc),
        );
    }
    out
}
