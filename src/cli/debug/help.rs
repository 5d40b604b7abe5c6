//! The commands of the debugger: names and what they do.

/// A command.
pub(super) struct Entry {
    /// Its name, then short forms.
    pub(super) names: &'static [&'static str],
    /// What follows the name.
    pub(super) takes: &'static str,
    pub(super) does: &'static str,
}

macro_rules! entries {
    ($([$($name:literal)+] $takes:literal: $does:literal;)+) => {
        &[$(Entry { names: &[$($name),+], takes: $takes, does: $does }),+]
    };
}

/// All commands.
pub(super) const COMMANDS: &[Entry] = entries! {
    ["step" "s" "stepi" "si"] "[N]": "execute N instructions of the selected wave, into calls";
    ["next" "n" "nexti" "ni"] "[N]": "the same, over calls";
    ["finish" "fin"] "": "run until the selected wave returns from its function";
    ["continue" "c"] "[N]": "run to the next breakpoint, watchpoint or fault; pass N - 1 of them";
    ["until" "u"] "LOCATION": "run until the selected wave is there, or ends";
    ["reverse-step" "rs"] "[N]": "go back by N instructions of the selected wave";
    ["reverse-continue" "rc"] "": "go back to the last breakpoint or watchpoint in this workgroup";
    ["rerun" "run" "r"] "": "start again, with memory as it was at the beginning";
    ["break" "b"] "LOCATION [wave N] [workgroup N|X,Y,Z] [dispatch N] [if CONDITION]": "stop waves there";
    ["tbreak" "tb"] "LOCATION ...": "the same, once";
    ["watch" "w"] "MEMORY [bytes N] [wave N] ... [if CONDITION]": "stop after writes of memory: x[3], x[0:7], lds[16], scratch[4], an address";
    ["rwatch"] "MEMORY ...": "stop after reads";
    ["awatch"] "MEMORY ...": "stop after all accesses";
    ["delete" "d"] "[N ...]": "delete breakpoints and watchpoints; all without numbers";
    ["enable"] "N ...": "heed breakpoints and watchpoints again";
    ["disable"] "N ...": "do not heed them";
    ["print" "p"] "EXPRESSION[/FORMAT]": "print registers, memory, numbers: v3, v[3:4], v3[5], s[4:5], vcc, x[7], lds[16].f32, s4 + 1";
    ["x"] "[/NF] MEMORY": "print N elements of memory: x/8f lds[0]";
    ["lanes"] "": "print EXEC and which lanes are active";
    ["info" "i"] "registers|waves|breakpoints|dispatch|lanes|buffers": "print all of these";
    ["backtrace" "bt" "where"] "": "print the calls that the selected wave is in";
    ["list" "l" "disassemble" "disas"] "[LOCATION] [N]": "print N instructions around the wave's, or from a location on";
    ["wave"] "[N]": "select a wave of the workgroup, or print which is selected";
    ["set"] "PLACE = EXPRESSION": "change a register or memory: v3[5] = 1.5, exec = 0xff, x[7] = 2";
    ["help" "h"] "[COMMAND]": "print this";
    ["quit" "q" "exit"] "": "end the session";
};

/// The command of a name, a short form or an unambiguous beginning.
pub(super) fn find(name: &str) -> Result<&'static Entry, String> {
    let exact = COMMANDS.iter().find(|entry| entry.names.contains(&name));
    if let Some(entry) = exact {
        return Ok(entry);
    }
    let begin = COMMANDS
        .iter()
        .filter(|entry| entry.names[0].starts_with(name));
    let begin: Vec<_> = begin.collect();
    let names = |entries: &[&Entry]| {
        let names: Vec<_> = entries.iter().map(|entry| entry.names[0]).collect();
        names.join(", ")
    };
    match begin[..] {
        [one] => Ok(one),
        [] => {
            let all: Vec<_> = COMMANDS.iter().collect();
            Err(format!(
                "there is no command `{name}`; commands are {}",
                names(&all)
            ))
        }
        _ => Err(format!("`{name}` may be {}", names(&begin))),
    }
}

/// The text of `help`.
pub(super) fn text(name: Option<&str>) -> Result<String, String> {
    let line = |entry: &Entry| {
        let (first, short) = (entry.names[0], &entry.names[1..]);
        let short = match short {
            [] => String::new(),
            _ => format!(" ({})", short.join(", ")),
        };
        let takes = match entry.takes {
            "" => String::new(),
            takes => format!(" {takes}"),
        };
        format!("{first}{short}{takes}\n    {}\n", entry.does)
    };
    if let Some(name) = name {
        return find(name).map(line);
    }
    let all: String = COMMANDS.iter().map(line).collect();
    Ok(format!("{all}{EXPRESSIONS}"))
}

const EXPRESSIONS: &str = "\
locations: saxpy, saxpy+0x10, 0x1a00 (an address of the code object), file.cl:12
expressions: v3, v[3:4], v3[LANE], s4, s[4:5], vcc, exec, scc, m0, pc, mode; buffers by name: x[7], x[0:7];
    lds[OFFSET], scratch[OFFSET], scratch[OFFSET][LANE], mem[ADDRESS]; a type behind it: v3.f32, lds[16].f64;
    operators of C; any(...) and all(...) over the active lanes
formats: x hexadecimal, d signed, u unsigned, b binary, f, h, g floats of 32, 16, 64 bits
";
