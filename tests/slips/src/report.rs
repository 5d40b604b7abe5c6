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

/// Reasons that are given for survivors, by file with line and change. A reason is lost where its line has moved: it is to
/// be looked at again.
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
        let key = (slip.at(), slip.slip.what.clone());
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

/// What is known of a slip that was tried.
struct Tried<'a> {
    verdict: &'a Verdict,
    /// The reason that is given, if it is not found.
    reason: Option<&'a str>,
}

impl Tried<'_> {
    /// What the tests do, if none finds it that is no golden.
    fn how(&self) -> Option<String> {
        Some(match self.verdict {
            Verdict::Found { golden: false, .. } => return None,
            Verdict::Found { golden: true, .. } => "found by goldens only".to_owned(),
            Verdict::Unreached => "not reached".to_owned(),
            Verdict::Survived { tests, all: true } => format!("{tests} tests pass"),
            Verdict::Survived { tests, all: false } => {
                format!("{tests} tests pass, the others had no time")
            }
        })
    }
}

/// The row of some slips in the table, if they have a score.
fn row(name: &str, slips: usize, tried: &[Tried<'_>]) -> Option<String> {
    let count = |of: &dyn Fn(&Tried<'_>) -> bool| tried.iter().filter(|t| of(t)).count();
    let found = count(&|t| matches!(t.verdict, Verdict::Found { golden: false, .. }));
    let golden = count(&|t| matches!(t.verdict, Verdict::Found { golden: true, .. }));
    let unreached = count(&|t| matches!(t.verdict, Verdict::Unreached));
    let survived = count(&|t| matches!(t.verdict, Verdict::Survived { .. }));
    let same = count(&|t| t.reason.is_some_and(|why| why.starts_with(NO_CHANGE)));
    let reason = count(&|t| t.reason.is_some()) - same;
    let tried = tried.len();
    let open = tried - found - same - reason;
    let counted = tried - same;
    if counted == 0 {
        return None;
    }
    let (low, high) = interval(found, counted);
    let percent = |of: usize| 100.0 * found as f64 / of as f64;
    Some(format!(
        "| {name} | {slips} | {tried} | {found} | {golden} | {unreached} | {survived} | {same} | {reason} | {open} | {:.1} % | {:.1} % | {:.1} to {:.1} % |\n",
        percent(tried),
        percent(counted),
        100.0 * low,
        100.0 * high
    ))
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
    let mut tried_ones = Vec::new();
    for group in groups() {
        let first = tried_ones.len();
        for &slip in sample.iter().filter(|slip| slip.group == group) {
            let Some(verdict) = results.get(&slip.key()) else {
                continue;
            };
            let mut tried = Tried {
                verdict,
                reason: None,
            };
            if let Some(how) = tried.how() {
                tried.reason = reasons.of(slip);
                let (at, what) = (slip.at(), &slip.slip.what);
                let reason = tried.reason.unwrap_or("open");
                let _ = writeln!(list, "{at}\t{what}\t{how}\t{reason}");
            }
            tried_ones.push(tried);
        }
        let slips = all.iter().filter(|slip| slip.group == group).count();
        table.extend(row(group, slips, &tried_ones[first..]));
    }
    table.extend(row("all", all.len(), &tried_ones));
    (table, list)
}
