//! Counters that are printed at the end of the program.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;

use runtime::Stats;

use crate::guard::guard;
use crate::lock::lock;
use crate::state::{self, Runtime};

/// Counts of one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Total {
    launches: u64,
    workgroups: u64,
    nanoseconds: u64,
    translate_seconds: f64,
    fallbacks: u64,
}

/// Counts by kernel.
#[derive(Default)]
pub(crate) struct Totals(Mutex<BTreeMap<String, Total>>);

impl Totals {
    pub(crate) fn add(&self, kernel: &str, stats: &Stats, nanoseconds: u64) {
        let mut all = lock(&self.0);
        if !all.contains_key(kernel) {
            all.insert(kernel.to_owned(), Total::default());
        }
        if let Some(total) = all.get_mut(kernel) {
            total.launches += 1;
            total.workgroups += stats.workgroups;
            total.nanoseconds += nanoseconds;
            total.translate_seconds += stats.translate_seconds;
            total.fallbacks += stats.fallbacks;
        }
    }

    /// A table, the most time first; each line begins with `prefix`.
    pub(crate) fn text(&self, prefix: &str) -> String {
        let all = lock(&self.0);
        if all.is_empty() {
            return format!("{prefix}the program launched no kernel\n");
        }
        let mut rows: Vec<_> = all.iter().collect();
        rows.sort_by_key(|(_, total)| std::cmp::Reverse(total.nanoseconds));
        let sum = rows.iter().fold(Total::default(), |sum, (_, row)| Total {
            launches: sum.launches + row.launches,
            workgroups: sum.workgroups + row.workgroups,
            nanoseconds: sum.nanoseconds + row.nanoseconds,
            translate_seconds: sum.translate_seconds + row.translate_seconds,
            fallbacks: sum.fallbacks + row.fallbacks,
        });
        let mut out = format!(
            "{prefix}launches  workgroups     time ms  translating ms  interpreted  kernel\n"
        );
        let mut line = |name: &str, total: &Total| {
            // Writing to a string does not fail.
            let _ = writeln!(
                out,
                "{prefix}{:8} {:11} {:11.3} {:15.3} {:12}  {name}",
                total.launches,
                total.workgroups,
                total.nanoseconds as f64 / 1e6,
                total.translate_seconds * 1e3,
                total.fallbacks,
            );
        };
        for (name, total) in &rows {
            line(name, total);
        }
        line("(all)", &sum);
        out
    }
}

/// Prints the table and writes the profile, the coverage and the findings, where the settings say so.
pub(crate) fn print(rt: &Runtime) {
    if rt.config.stats {
        use std::io::Write as _;
        // Errors of a closed standard error are ignored.
        let _ = write!(std::io::stderr().lock(), "{}", rt.totals.text("wavelift: "));
    }
    #[cfg(feature = "jit")]
    if let Some(destination) = &rt.config.profile {
        crate::profile::write(rt, destination);
    }
    if let Some(path) = &rt.config.coverage {
        crate::coverage::write(rt, path);
    }
    if let Some(findings) = &rt.findings {
        findings.write();
    }
}

extern "C" fn at_exit() {
    // A child has its parent's counts, which the parent prints.
    if state::is_forked() {
        return;
    }
    guard(|| {
        print(state::existing()?);
        Ok(())
    });
}

/// Calls [`print`] when the program ends.
pub(crate) fn print_at_exit() {
    // SAFETY: the function stays loaded, since the C library keeps a library that registered one.
    let failed = unsafe { libc::atexit(at_exit) };
    debug_assert_eq!(failed, 0, "bug: the C library takes 32 functions at least");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_begins_with_the_longest() {
        let totals = Totals::default();
        assert_eq!(totals.text("> "), "> the program launched no kernel\n");
        let stats = Stats {
            workgroups: 4,
            translate_seconds: 0.001,
            ..Stats::default()
        };
        totals.add("short", &stats, 1_000_000);
        totals.add("long", &stats, 3_000_000);
        totals.add("short", &stats, 1_000_000);
        let text = totals.text("wavelift: ");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[1],
            "wavelift:        1           4       3.000           1.000            0  long"
        );
        assert_eq!(
            lines[2],
            "wavelift:        2           8       2.000           2.000            0  short"
        );
        assert!(lines[3].ends_with("(all)"));
        assert_eq!(lines.len(), 4);
    }
}
