//! What the checks find.

use std::fmt;

use crate::cfg::Code;
use frontend::waits::WaitField;

/// How certain a rule is: how many documents and compilers state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// A manual and a compiler agree, or two compilers do.
    A,
    /// One good source states it.
    B,
    /// It is inferred, or sources differ.
    C,
}

impl Certainty {
    /// Its letter.
    pub fn name(self) -> &'static str {
        match self {
            Certainty::A => "A",
            Certainty::B => "B",
            Certainty::C => "C",
        }
    }
}

/// Is something wrong, or only worth knowing?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A defect.
    Finding,
    /// No defect.
    Note,
}

impl Severity {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Finding => "finding",
            Severity::Note => "note",
        }
    }
}

/// A rule that code breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, such as `wait-read`.
    pub id: &'static str,
    /// What it requires, in one line.
    pub title: &'static str,
    /// How certain it is.
    pub certainty: Certainty,
    /// The documents and compilers that state it.
    pub source: &'static str,
}

/// Something that was found. Indices are those of [`Code::items`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Defect or note.
    pub severity: Severity,
    /// The instruction that goes wrong.
    pub at: usize,
    /// The instruction that it depends on.
    pub other: Option<usize>,
    /// Why, in one sentence.
    pub why: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding {
            rule,
            severity,
            why,
            ..
        } = self;
        write!(f, "{}: {why} [{}]", severity.name(), rule.id)
    }
}

/// What the checks of a routine have found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// By instruction.
    pub findings: Vec<Finding>,
    /// Waits and `s_nop`s without effect: index and, of a wait, the counter.
    pub redundant: Vec<(usize, Option<WaitField>)>,
    /// Of these the ones that could be weaker by one, but not absent.
    pub stronger: Vec<(usize, Option<WaitField>)>,
    /// Why parts were not checked.
    pub unchecked: Vec<String>,
}

static REDUNDANT_WAIT: Rule = Rule {
    id: "redundant-wait",
    title: "no register and no LDS access of the wave needs a wait",
    certainty: Certainty::C,
    source: "the rules of waits; it may order memory for other waves",
};
static REDUNDANT_NOP: Rule = Rule {
    id: "redundant-nop",
    title: "no rule of wait states needs an s_nop",
    certainty: Certainty::C,
    source: "the rules of wait states",
};

/// All of them.
pub(crate) static RULES: &[&Rule] = &[&REDUNDANT_WAIT, &REDUNDANT_NOP];

impl Report {
    /// Notes about waits and `s_nop`s without effect, by address.
    pub fn redundant_notes(&self) -> Vec<Finding> {
        let mut notes: Vec<Finding> = Vec::new();
        for &(at, field) in &self.redundant {
            let what = field.map_or("s_nop", WaitField::name);
            match notes.last_mut().filter(|last| last.at == at) {
                Some(last) => last.why = format!("{what}, {}", last.why),
                None => notes.push(Finding {
                    rule: if field.is_some() { &REDUNDANT_WAIT } else { &REDUNDANT_NOP },
                    severity: Severity::Note,
                    at,
                    other: None,
                    why: match field {
                        Some(_) => format!(
                            "{what}: nothing that the wave does needs it; it may order memory for other waves"
                        ),
                        None => "no rule needs these wait states".to_owned(),
                    },
                }),
            }
        }
        notes.sort_by_key(|note| note.at);
        notes
    }

    pub(crate) fn add(
        &mut self,
        rule: &'static Rule,
        at: usize,
        other: Option<usize>,
        why: String,
    ) {
        let severity = match rule.certainty {
            Certainty::A | Certainty::B => Severity::Finding,
            Certainty::C => Severity::Note,
        };
        self.findings.push(Finding {
            rule,
            severity,
            at,
            other,
            why,
        });
    }

    pub(crate) fn finish(&mut self, code: &Code) {
        let listed = |found: &Finding| crate::rules().any(|rule| rule.id == found.rule.id);
        debug_assert!(self.findings.iter().all(listed), "{:?}", self.findings);
        let address = |index: usize| code.items[index].address;
        self.findings
            .sort_by_key(|finding| (address(finding.at), finding.rule.id, finding.other));
        self.findings
            .dedup_by_key(|finding| (finding.at, finding.rule.id, finding.other));
    }

    /// Those that are defects.
    pub fn defects(&self) -> impl Iterator<Item = &Finding> {
        let all = self.findings.iter();
        all.filter(|finding| finding.severity == Severity::Finding)
    }
}
