//! Plants slips in the engines' sources and counts those that the tests find. See README.md.

mod report;
mod rewrite;
mod sites;
mod tree;
mod trial;

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use tree::{Numbered, Tree};
use trial::Verdict;

const HELP: &str = "\
Plants slips in a copy of the project and counts those that the tests find.

  --group NAME     only this group; may be repeated
  --sample N       slips of each group (default 100)
  --seed S         of the sample (default 1)
  --only TEXT      only slips whose file, line or change contains this
  --slowest S      leaves out tests that take more seconds (default 20)
  --most S         seconds of tests for a slip (default 200)
  --again          tries survivors of earlier runs again, as after a new test
  --test TEXT      only tests whose name contains this; may be repeated. What they do not find stays as it was
  --list           lists the sample, and stops
  --report         writes survivors.txt and prints the scores, and stops
  --work DIR       where to work (default target/slips)
";

/// What the command line says.
struct Arguments {
    groups: Vec<String>,
    sample: usize,
    seed: u64,
    only: Option<String>,
    slowest: f64,
    most: f64,
    again: bool,
    tests: Vec<String>,
    list: bool,
    report: bool,
    work: Option<PathBuf>,
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments = Arguments {
        groups: Vec::new(),
        sample: 100,
        seed: 1,
        only: None,
        slowest: 20.0,
        most: 200.0,
        again: false,
        tests: Vec::new(),
        list: false,
        report: false,
        work: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let bad = |text: String| format!("{word} {text}: not a number");
        match word.as_str() {
            "--group" => arguments.groups.push(value()?),
            "--sample" => arguments.sample = value()?.parse().map_err(|_| bad(String::new()))?,
            "--seed" => arguments.seed = value()?.parse().map_err(|_| bad(String::new()))?,
            "--only" => arguments.only = Some(value()?),
            "--slowest" => arguments.slowest = value()?.parse().map_err(|_| bad(String::new()))?,
            "--most" => arguments.most = value()?.parse().map_err(|_| bad(String::new()))?,
            "--test" => arguments.tests.push(value()?),
            "--again" => arguments.again = true,
            "--list" => arguments.list = true,
            "--report" => arguments.report = true,
            "--work" => arguments.work = Some(value()?.into()),
            "--help" | "-h" => return Err(HELP.to_owned()),
            _ => return Err(format!("what is {word}?\n\n{HELP}")),
        }
    }
    let groups = tree::groups();
    match arguments
        .groups
        .iter()
        .find(|g| !groups.contains(&g.as_str()))
    {
        Some(other) => Err(format!(
            "there is no group {other}, only {}",
            groups.join(", ")
        )),
        None => Ok(arguments),
    }
}

/// A number without a pattern for each slip, by which a sample is in order: FNV-1a of seed and key.
fn order(seed: u64, slip: &Numbered) -> u64 {
    let seed = seed.to_le_bytes();
    let bytes = seed.iter().copied().chain(slip.key().into_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The last bytes have not reached the high bits.
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ hash >> 33
}

/// So many of each group, alternating between groups, so that each prefix is a sample, too.
fn sample<'a>(slips: &'a [Numbered], arguments: &Arguments) -> Vec<&'a Numbered> {
    let mut chosen: Vec<(usize, usize, &Numbered)> = Vec::new();
    for (g, group) in tree::groups().into_iter().enumerate() {
        let fits = |slip: &&Numbered| {
            let only = arguments.only.as_ref();
            let wanted = arguments.groups.is_empty() || arguments.groups.iter().any(|g| g == group);
            wanted && slip.group == group && only.is_none_or(|only| slip.key().contains(only))
        };
        let mut of_group: Vec<&Numbered> = slips.iter().filter(fits).collect();
        of_group.sort_by_key(|slip| order(arguments.seed, slip));
        let some = of_group.into_iter().take(arguments.sample).enumerate();
        chosen.extend(some.map(|(i, slip)| (i, g, slip)));
    }
    chosen.sort_by_key(|&(i, g, _)| (i, g));
    chosen.into_iter().map(|(_, _, slip)| slip).collect()
}

fn main() {
    let arguments = arguments().unwrap_or_else(|why| {
        eprintln!("{why}");
        std::process::exit(2);
    });
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let project = here
        .join("../..")
        .canonicalize()
        .expect("the project is there");
    let work = arguments
        .work
        .clone()
        .unwrap_or_else(|| project.join("target/slips"));
    let mut tree = Tree::new(&project, &work);
    let path = work.join("results.tsv");
    let mut results = report::read(&path);
    if !arguments.list && !arguments.report {
        let built = tree.build(&project);
        let mut tests = trial::tests(&tree, &built, arguments.slowest, &arguments.tests);
        run(&tree, &mut tests, &arguments, &mut results, &path);
    }
    let sample = sample(&tree.slips, &arguments);
    if arguments.list {
        for slip in &sample {
            println!("{}\t{}\t{}", slip.number, slip.group, slip.key());
        }
        return;
    }
    let survivors = here.join("survivors.txt");
    let reasons = report::Reasons::read(&survivors);
    let (table, list) = report::report(&tree.slips, &sample, &results, &reasons);
    print!("{table}");
    if arguments.report {
        std::fs::write(survivors, list).expect("the list can be written");
    }
}

fn run(
    tree: &Tree,
    tests: &mut [trial::Test],
    arguments: &Arguments,
    results: &mut report::Results,
    path: &std::path::Path,
) {
    let file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path);
    let mut file = file.expect("the results can be written");
    let sample = sample(&tree.slips, arguments);
    for (i, slip) in sample.iter().enumerate() {
        let old = results.get(&slip.key());
        let lost = !matches!(old, Some(Verdict::Found { golden: false, .. }));
        if old.is_some() && !(arguments.again && lost) {
            continue;
        }
        let start = Instant::now();
        let verdict = trial::attempt(tree, tests, slip, arguments.most);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{} of {}: {} [{}] {}: {verdict:?}, {seconds:.1} s",
            i + 1,
            sample.len(),
            slip.group,
            slip.number,
            slip.key()
        );
        // Some tests alone say nothing of a slip that they do not find.
        if !arguments.tests.is_empty() && !matches!(verdict, Verdict::Found { .. }) {
            continue;
        }
        let line = report::line(slip, &verdict);
        file.write_all(line.as_bytes())
            .expect("the results can be written");
        results.insert(slip.key(), verdict);
    }
}
