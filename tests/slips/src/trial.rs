//! Runs the tests: once without a slip, to see which places they reach, then for one slip after another.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::tree::{Numbered, Tree};

/// Tests of `exec`, by the beginnings of their names.
const TESTS: &[&str] = &[
    "conformance::",
    "folds::",
    "lowering::",
    "oracles::",
    "passes::",
    "kernels::",
    "differential::",
    "sandbox::",
    "cost::",
];

/// Tests that compare with what the engines gave earlier. They run last, and what only they find is counted
/// separately: they say that something has changed, not that it is wrong.
const GOLDEN: &[&str] = &["cost::host", "cost::hot_loops::host"];

/// Tests that run a second time as on a CPU without AVX-512: the own back end then selects AVX2.
const NARROW: &[&str] = &["conformance::v", "folds::"];

/// The environment of all: less random programs than a usual run of the tests has.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("FAILURES", "1"),
    ("ROUNDS", "120"),
    ("LINES", "8"),
    ("LINE", "400"),
    ("WORDS", "1"),
    ("WAVELIFT_ROCM", ""),
    ("RUST_BACKTRACE", "0"),
];

/// Bytes of memory that a test may have.
const MEMORY: u64 = 3 << 30;

/// One test, in one environment.
pub(crate) struct Test {
    /// Its name in reports.
    pub(crate) name: String,
    binary: PathBuf,
    filter: String,
    narrow: bool,
    pub(crate) golden: bool,
    pub(crate) seconds: f64,
    /// Whether each place was reached.
    reached: Vec<u8>,
    /// Trials and finds of each group.
    counts: BTreeMap<&'static str, (u32, u32)>,
}

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    /// It was ended for its time or memory.
    Ended,
}

impl Test {
    fn run(&self, root: &Path, limit: Duration, set: (&str, &str)) -> Outcome {
        let mut command = Command::new("nice");
        command
            .args(["-n", "2"])
            .arg(&self.binary)
            .args([self.filter.as_str(), "--exact", "--test-threads", "1"])
            .envs(ENVIRONMENT.iter().copied())
            .env(set.0, set.1)
            .env("CARGO_MANIFEST_DIR", root)
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if self.narrow {
            command.env("WAVELIFT_NO_AVX512", "1");
        }
        let mut child = command.spawn().expect("the test starts");
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().expect("the test is a child") {
                if status.success() {
                    return Outcome::Passed;
                }
                // Without the binary `nice` fails, which is no find.
                assert!(self.binary.exists(), "{} is gone", self.binary.display());
                return Outcome::Failed;
            }
            let pages = fs::read_to_string(format!("/proc/{}/statm", child.id())).ok();
            let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
            if start.elapsed() > limit || pages.unwrap_or(0) * 4096 > MEMORY {
                let _ = child.kill();
                let _ = child.wait();
                return Outcome::Ended;
            }
            let pause =
                (start.elapsed() / 50).clamp(Duration::from_millis(2), Duration::from_millis(100));
            std::thread::sleep(pause);
        }
    }

    fn reaches(&self, slip: &Numbered) -> bool {
        // The interpreter is the same on all hosts.
        if self.narrow && slip.group == "interpreter" {
            return false;
        }
        slip.places
            .iter()
            .any(|&place| self.reached[place as usize] != 0)
    }

    /// Expected seconds for a find.
    fn price(&self, group: &str) -> f64 {
        let (trials, finds) = self.counts.get(group).copied().unwrap_or((0, 0));
        self.seconds * f64::from(trials + 3) / f64::from(finds + 1)
    }
}

/// All tests with their times and places, or those whose names contain one of `some`. What was found is kept until the
/// binary is built again.
pub(crate) fn tests(
    tree: &Tree,
    built: &[(String, PathBuf)],
    slowest: f64,
    some: &[String],
) -> Vec<Test> {
    let mut tests = Vec::new();
    for (_, binary) in built {
        let list = Command::new(binary)
            .args(["--list", "--format", "terse"])
            .output()
            .expect("the test binary runs");
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        let names = list.lines().filter_map(|line| line.strip_suffix(": test"));
        for filter in names.filter(|name| TESTS.iter().any(|t| name.starts_with(t))) {
            let starts = |list: &[&str]| list.iter().any(|t| filter.starts_with(t));
            let twice = starts(NARROW);
            for narrow in [false, true] {
                if narrow && !twice {
                    continue;
                }
                let name = format!("{filter}{}", if narrow { " (avx2)" } else { "" });
                if !some.is_empty() && !some.iter().any(|part| name.contains(part)) {
                    continue;
                }
                tests.push(Test {
                    name,
                    binary: binary.clone(),
                    filter: filter.to_owned(),
                    narrow,
                    golden: starts(GOLDEN),
                    seconds: 0.0,
                    reached: Vec::new(),
                    counts: BTreeMap::new(),
                });
            }
        }
    }
    let folder = tree.work.join("reached");
    fs::create_dir_all(&folder).expect("folders can be made");
    let count = tests.len();
    let mut good = Vec::new();
    let mut narrow_of_slow: Vec<String> = Vec::new();
    for (i, mut test) in tests.into_iter().enumerate() {
        let file = folder.join(test.name.replace(['/', ' '], "_"));
        let about = file.with_extension("seconds");
        let built = fs::metadata(&test.binary).and_then(|m| m.modified());
        let known = fs::metadata(&about).and_then(|m| m.modified());
        let is_known = matches!((built, known), (Ok(built), Ok(known)) if known > built);
        if narrow_of_slow.contains(&test.filter) {
            continue;
        }
        if !is_known {
            let _ = fs::remove_file(&file);
            let start = Instant::now();
            let to = file.to_string_lossy().into_owned();
            let limit = Duration::from_secs_f64(slowest * 1.5);
            let outcome = test.run(&tree.root, limit, ("SLIPS_REACHED", &to));
            let seconds = start.elapsed().as_secs_f64();
            let text = match outcome {
                Outcome::Passed => format!("{seconds:.3}"),
                other => format!("{other:?} after {seconds:.3}"),
            };
            eprintln!("{i} of {count}: {}: {text}", test.name);
            fs::write(&about, text).expect("the folder is there");
        }
        let text = fs::read_to_string(&about).expect("it was written");
        match text.parse() {
            Ok(seconds) if seconds <= slowest => {
                test.seconds = seconds;
                test.reached = fs::read(&file).unwrap_or_default();
                if test.reached.len() == tree.places as usize {
                    good.push(test);
                } else {
                    eprintln!("{}: no places", test.name);
                }
            }
            _ => narrow_of_slow.push(test.filter),
        }
    }
    good
}

/// What the tests say of a slip.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// No test reaches it.
    Unreached,
    /// Found by this test.
    Found { by: String, golden: bool },
    /// Not found by these many tests that reach it.
    Survived { tests: usize, all: bool },
}

/// Tries one slip for `most` seconds.
pub(crate) fn attempt(tree: &Tree, tests: &mut [Test], slip: &Numbered, most: f64) -> Verdict {
    let mut order: Vec<usize> = (0..tests.len())
        .filter(|&i| tests[i].reaches(slip))
        .collect();
    if order.is_empty() {
        return Verdict::Unreached;
    }
    order.sort_by(|&a, &b| {
        let key = |i: usize| (tests[i].golden, tests[i].price(slip.group));
        key(a).partial_cmp(&key(b)).expect("times are numbers")
    });
    let number = slip.number.to_string();
    let (mut spent, mut tried) = (0.0, 0);
    for &i in &order {
        let test = &mut tests[i];
        if spent + test.seconds > most && !test.golden {
            continue;
        }
        let limit = Duration::from_secs_f64(10.0 + 6.0 * test.seconds);
        let outcome = test.run(&tree.root, limit, ("SLIP_ON", &number));
        spent += test.seconds;
        tried += 1;
        let count = test.counts.entry(slip.group).or_default();
        count.0 += 1;
        if outcome != Outcome::Passed {
            count.1 += 1;
            let how = if outcome == Outcome::Ended {
                " (ended)"
            } else {
                ""
            };
            return Verdict::Found {
                by: format!("{}{how}", test.name),
                golden: test.golden,
            };
        }
    }
    Verdict::Survived {
        tests: tried,
        all: tried == order.len(),
    }
}
