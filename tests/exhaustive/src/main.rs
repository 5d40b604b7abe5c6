//! `tests/exhaustive/run`: runs sweeps and keeps their digests.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use exhaustive::digests::{self, Key, Line};
use exhaustive::{Bench, Kind, Sweep, run, sweep};
use frontend::Gfx;

const HELP: &str = "\
Runs instructions with at most 32 live input bits over all their inputs, on all engines.

usage: tests/exhaustive/run [OPTIONS]

  --op TEXT         only instructions with TEXT in their name
  --form TEXT       only forms that begin with TEXT, such as plain or sdwa
  --target GFX      only sweeps that hold for this target
  --default-mode    only the default MODE
  --bits N          only sweeps of at most N input bits
  --from-bits N     only sweeps of at least N input bits
  --engines LETTERS what runs: i interpreter, c Cranelift, 2 AVX2, 5 AVX-512, r reference (ic25r)
  --slice I/N       only part I of N of the inputs of each sweep of more than 2^26
  --minutes M       begins no part of a sweep after M minutes
  --again           runs again what the file has
  --file FILE       the digests (tests/exhaustive/digests.txt)
  --plan            lists the sweeps and what they cost, and runs a small part of each to find out

Exit status: 0 all agree, 1 something differs, 2 it cannot be done.
";

struct Options {
    op: String,
    form: String,
    target: Option<Gfx>,
    default_mode: bool,
    bits: std::ops::RangeInclusive<u32>,
    engines: Vec<Kind>,
    slice: (usize, usize),
    end: Option<Instant>,
    again: bool,
    file: PathBuf,
    plan: bool,
}

fn options() -> Result<Option<Options>, String> {
    let mut options = Options {
        op: String::new(),
        form: String::new(),
        target: None,
        default_mode: false,
        bits: 0..=32,
        engines: Kind::ALL.to_vec(),
        slice: (0, 1),
        end: None,
        again: false,
        file: PathBuf::from(digests::FILE),
        plan: false,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let number = |text: String| {
            text.parse::<u32>()
                .map_err(|_| format!("`{text}` is no number"))
        };
        match argument.as_str() {
            "--op" => options.op = value()?,
            "--form" => options.form = value()?,
            "--target" => {
                let name = value()?;
                let target = name
                    .parse()
                    .map_err(|_| format!("there is no target `{name}`"))?;
                options.target = Some(target);
            }
            "--default-mode" => options.default_mode = true,
            "--bits" => options.bits = *options.bits.start()..=number(value()?)?,
            "--from-bits" => options.bits = number(value()?)?..=*options.bits.end(),
            "--engines" => {
                let letters = value()?;
                let chosen = Kind::ALL
                    .into_iter()
                    .filter(|kind| letters.contains(kind.letter()));
                options.engines = chosen.collect();
                if letters.is_empty() || options.engines.len() != letters.len() {
                    return Err(format!("`{letters}` are not letters of engines"));
                }
            }
            "--slice" => {
                let text = value()?;
                let parts = text.split_once('/').map(|(i, n)| (i.parse(), n.parse()));
                match parts {
                    Some((Ok(i), Ok(n))) if i < n => options.slice = (i, n),
                    _ => return Err(format!("`{text}` is no slice such as 0/4")),
                }
            }
            "--minutes" => {
                let minutes = number(value()?)?;
                options.end = Some(Instant::now() + Duration::from_secs(60 * u64::from(minutes)));
            }
            "--again" => options.again = true,
            "--file" => options.file = value()?.into(),
            "--plan" => options.plan = true,
            "--help" | "-h" => return Ok(None),
            _ => return Err(format!("there is no option `{argument}`")),
        }
    }
    Ok(Some(options))
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    match campaign(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Sweeps on one set of engines, which keep all code that they make.
const SWEEPS_OF_A_BENCH: usize = 100;

fn campaign(options: &Options) -> Result<bool, Box<dyn std::error::Error>> {
    let mut sweeps = sweep::sweeps(&options.op, &options.form, options.target)?;
    sweeps.retain(|sweep| {
        (!options.default_mode || sweep.is_default()) && options.bits.contains(&sweep.form.bits)
    });
    if options.plan {
        return plan(options, &sweeps);
    }
    let text = match std::fs::read_to_string(&options.file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{}: {error}", options.file.display()).into()),
    };
    let mut file = digests::read(&text)?;
    let mut bench = Bench::new(&options.engines)?;
    let kinds = bench.kinds();
    let (mut agree, mut done) = (0, 0);
    let mut good = true;
    for sweep in &sweeps {
        if options.end.is_some_and(|end| Instant::now() >= end) {
            println!("the time is over");
            break;
        }
        if done == SWEEPS_OF_A_BENCH {
            bench = Bench::new(&options.engines)?;
            done = 0;
        }
        match one(options, &mut bench, &kinds, sweep, &file)? {
            Swept::Nothing => continue,
            Swept::Agree(line) => {
                agree += 1;
                file.insert(sweep.key(), line);
                write(options, &file)?;
            }
            Swept::Differ => good = false,
        }
        done += 1;
    }
    let whole = file.values().filter(|line| line.is_whole()).count();
    println!(
        "{agree} sweeps agree now; {whole} are whole in {}",
        options.file.display()
    );
    Ok(good)
}

fn write(options: &Options, file: &BTreeMap<Key, Line>) -> std::io::Result<()> {
    let new = options.file.with_extension("new");
    std::fs::write(&new, digests::write(file))?;
    std::fs::rename(new, &options.file)
}

enum Swept {
    Nothing,
    Agree(Line),
    Differ,
}

fn one(
    options: &Options,
    bench: &mut Bench,
    kinds: &[Kind],
    sweep: &Sweep,
    file: &BTreeMap<Key, Line>,
) -> Result<Swept, Box<dyn std::error::Error>> {
    let referenced = exhaustive::reference::Reference::of(&sweep.form, sweep.mode).is_some();
    let kinds: Vec<Kind> = kinds
        .iter()
        .copied()
        .filter(|&kind| kind != Kind::Reference || referenced)
        .collect();
    let old = file.get(&sweep.key());
    let has = |line: &&Line| kinds.iter().all(|kind| line.engines.contains(kind));
    let mut line = match old.filter(has).filter(|_| !options.again) {
        // The rest of its parts.
        Some(line) => Line {
            targets: sweep.targets.clone(),
            modes: sweep.modes,
            ..line.clone()
        },
        None => Line::of(sweep),
    };
    line.engines = kinds.clone();
    let (i, n) = options.slice;
    let parts: Vec<usize> = (0..line.parts.len())
        .filter(|part| (line.parts.len() == 1 || part % n == i) && line.parts[*part].is_none())
        .collect();
    if parts.is_empty() {
        return Ok(Swept::Nothing);
    }
    let begin = Instant::now();
    let mut times = vec![Duration::ZERO; kinds.len()];
    let name = format!(
        "{} {} mode {:x} {}",
        sweep.form.instruction(),
        sweep.form.name,
        sweep.mode,
        sweep.form.gfx
    );
    for part in parts {
        if options.end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        let outcome = bench.run(sweep, part as u64 * line.part(), line.part(), &kinds)?;
        if let Some(difference) = outcome.difference {
            println!(
                "DIFFERS {name}: {}\n    {difference}",
                run::text(&sweep.form)
            );
            return Ok(Swept::Differ);
        }
        if let Some(refusal) = outcome.refusals.first() {
            println!("REFUSED {name}: {refusal}");
            return Ok(Swept::Differ);
        }
        let digest = digests::short(outcome.digest);
        let before = old.and_then(|line| line.parts[part]);
        if before.is_some_and(|before| before != digest) {
            println!(
                "CHANGED {name}: part {part} was {:08x}, is {digest:08x}",
                before.unwrap_or_default()
            );
            return Ok(Swept::Differ);
        }
        line.parts[part] = Some(digest);
        for (sum, time) in times.iter_mut().zip(outcome.times) {
            *sum += time;
        }
    }
    let seconds: Vec<String> = kinds
        .iter()
        .zip(times)
        .map(|(kind, time)| format!("{} {:.2}", kind.letter(), time.as_secs_f64()))
        .collect();
    println!(
        "{name}: {} bits, {:.2} s ({})",
        line.bits,
        begin.elapsed().as_secs_f64(),
        seconds.join(", ")
    );
    // What was whole stays whole, and what other engines had agreed on is true.
    if let Some(old) = old {
        if old.is_whole() && !line.is_whole() {
            return Ok(Swept::Nothing);
        }
        if old.is_whole() {
            line.engines
                .extend(old.engines.iter().filter(|kind| !kinds.contains(kind)));
            line.engines.sort_unstable();
        }
    }
    Ok(Swept::Agree(line))
}

/// Inputs that a plan runs of each sweep.
const PROBE: u64 = 1 << 16;

fn plan(options: &Options, sweeps: &[Sweep]) -> Result<bool, Box<dyn std::error::Error>> {
    let mut bench = Bench::new(&options.engines)?;
    let kinds = bench.kinds();
    let mut all = vec![0.0; kinds.len()];
    for sweep in sweeps {
        let inputs = 1u64 << sweep.form.bits;
        let probe = inputs.min(PROBE).max(Bench::batch(sweep));
        // The first run translates.
        bench.run(sweep, 0, Bench::batch(sweep), &kinds)?;
        let outcome = bench.run(sweep, 0, probe, &kinds)?;
        let times = outcome
            .times
            .iter()
            .map(|t| t.as_secs_f64() * inputs as f64 / probe as f64);
        let times: Vec<f64> = times.collect();
        let text: Vec<String> = kinds
            .iter()
            .zip(&times)
            .map(|(k, t)| format!("{} {t:.1}", k.letter()))
            .collect();
        all.iter_mut()
            .zip(&times)
            .for_each(|(sum, time)| *sum += time);
        let targets: Vec<&str> = sweep.targets.iter().map(|gfx| gfx.name()).collect();
        println!(
            "{} {} mode {:x} {}: {} bits, seconds {}{}",
            sweep.form.instruction(),
            sweep.form.name,
            sweep.mode,
            targets.join(","),
            sweep.form.bits,
            text.join(", "),
            if outcome.difference.is_some() {
                ", DIFFERS"
            } else {
                ""
            }
        );
    }
    let text: Vec<String> = kinds
        .iter()
        .zip(&all)
        .map(|(k, t)| format!("{} {:.1} h", k.name(), t / 3600.0))
        .collect();
    println!("{} sweeps: {}", sweeps.len(), text.join(", "));
    Ok(true)
}
