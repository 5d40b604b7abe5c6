//! Results by slip, the scores of the groups, and the committed list of survivors.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::tree::{Numbered, groups};
use crate::trial::Verdict;

/// Verdicts by the slip's key.
pub(crate) type Results = BTreeMap<String, Verdict>;

/// Reads what earlier runs have found.
pub(crate) fn read(path: &Path) -> Results {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut results = Results::new();
    for line in text.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let verdict = match parts[..] {
            [_, "unreached"] => Verdict::Unreached,
            [_, how @ ("found" | "golden"), by] => Verdict::Found {
                by: by.to_owned(),
                golden: how == "golden",
            },
            [_, how @ ("survived" | "limited"), tests] => Verdict::Survived {
                tests: tests.parse().unwrap_or(0),
                all: how == "survived",
            },
            _ => continue,
        };
        results.insert(parts[0].to_owned(), verdict);
    }
    results
}

/// A verdict as a line of the file of results.
pub(crate) fn line(slip: &Numbered, verdict: &Verdict) -> String {
    let key = slip.key();
    match verdict {
        Verdict::Unreached => format!("{key}\tunreached\n"),
        Verdict::Found { by, golden: false } => format!("{key}\tfound\t{by}\n"),
        Verdict::Found { by, golden: true } => format!("{key}\tgolden\t{by}\n"),
        Verdict::Survived { tests, all: true } => format!("{key}\tsurvived\t{tests}\n"),
        Verdict::Survived { tests, all: false } => format!("{key}\tlimited\t{tests}\n"),
    }
}

/// Reasons that are given for survivors, by file with line and change: where a line has moved, the reason is to be looked
/// at again.
pub(crate) struct Reasons(BTreeMap<(String, String), String>);

const HEAD: &str = "\
# Slips of the sample that the tests do not find: file and line, change, what the tests do, reason. \"open\": there is
# no reason and no test yet. \"no change:\" begins an argument, from reading the code, that the slip changes no result;
# the score leaves such slips out. Any other reason does not count. tests/slips/run --report writes this file and
# keeps the reasons.
# Columns are separated by tabs.
";

/// What begins the reason of a slip that changes no result.
const NO_CHANGE: &str = "no change:";

impl Reasons {
    /// Reads the list.
    pub(crate) fn read(path: &Path) -> Reasons {
        let text = fs::read_to_string(path).unwrap_or_default();
        let mut reasons = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let [at, change, _, reason] = line.split('\t').collect::<Vec<_>>()[..]
                && reason != "open"
            {
                reasons.insert((at.to_owned(), change.to_owned()), reason.to_owned());
            }
        }
        Reasons(reasons)
    }

    fn of(&self, slip: &Numbered) -> Option<&str> {
        let at = format!("{}:{}", slip.file, slip.slip.line);
        let key = (at, slip.slip.what.clone());
        self.0.get(&key).map(String::as_str)
    }
}

/// Wilson's interval of a share, for 95 %.
fn interval(found: usize, of: usize) -> (f64, f64) {
    let (n, z) = (of as f64, 1.96);
    let p = found as f64 / n;
    let middle = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + z * z / n;
    ((middle - half) / whole, (middle + half) / whole)
}

/// The table of scores, and the list of survivors.
pub(crate) fn report(
    all: &[Numbered],
    sample: &[&Numbered],
    results: &Results,
    reasons: &Reasons,
) -> (String, String) {
    let mut table = String::from(
        "| group | slips | tried | found | only by counts of instructions | reached by no test | survived | changes no result | remaining, with a reason | remaining, open | found of tried | score | 95 % |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut list = String::from(HEAD);
    let mut sums = [0; 9];
    let mut row = |name: &str, c: [usize; 9]| {
        let [
            slips,
            tried,
            found,
            golden,
            unreached,
            survived,
            same,
            reason,
            open,
        ] = c;
        let count = tried - same;
        if count == 0 {
            return;
        }
        let (low, high) = interval(found, count);
        let score = |of: usize| 100.0 * found as f64 / of as f64;
        let _ = writeln!(
            table,
            "| {name} | {slips} | {tried} | {found} | {golden} | {unreached} | {survived} | {same} | {reason} | {open} | {:.1} % | {:.1} % | {:.1} to {:.1} % |",
            score(tried),
            score(count),
            100.0 * low,
            100.0 * high
        );
    };
    for group in groups() {
        let mut c = [0; 9];
        c[0] = all.iter().filter(|slip| slip.group == group).count();
        for slip in sample.iter().filter(|slip| slip.group == group) {
            let Some(verdict) = results.get(&slip.key()) else {
                continue;
            };
            c[1] += 1;
            let how = match verdict {
                Verdict::Found { golden, .. } => {
                    c[2 + usize::from(*golden)] += 1;
                    if !golden {
                        continue;
                    }
                    "found by goldens only".to_owned()
                }
                Verdict::Unreached => {
                    c[4] += 1;
                    "not reached".to_owned()
                }
                Verdict::Survived { tests, all: true } => format!("{tests} tests pass"),
                Verdict::Survived { tests, all: false } => {
                    format!("{tests} tests pass, the others had no time")
                }
            };
            c[5] += usize::from(matches!(verdict, Verdict::Survived { .. }));
            let reason = reasons.of(slip);
            c[match reason {
                Some(reason) if reason.starts_with(NO_CHANGE) => 6,
                Some(_) => 7,
                None => 8,
            }] += 1;
            let (file, line, what) = (&slip.file, slip.slip.line, &slip.slip.what);
            let reason = reason.unwrap_or("open");
            let _ = writeln!(list, "{file}:{line}\t{what}\t{how}\t{reason}");
        }
        for (sum, n) in sums.iter_mut().zip(c) {
            *sum += n;
        }
        row(group, c);
    }
    row("all", sums);
    (table, list)
}
