//! Breakpoints and watchpoints.

use runtime::Access;
use runtime::debug::{State, Step};
use runtime::trace::{MemoryAccess, Space};

use super::Named;
use super::error::DebugError;
use super::eval::Scope;
use super::expr::Expr;
use super::value::Radix;

/// Which waves a breakpoint or a watchpoint concerns, and when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Only when this holds: is another number than 0, in any active lane.
    pub condition: Option<Expr>,
    /// The condition as it was written.
    pub condition_text: Option<String>,
    /// Only the wave of this number in its workgroup.
    pub wave: Option<u32>,
    /// Only this workgroup.
    pub workgroup: Option<[u32; 3]>,
    /// Only launches of the dispatch of this number.
    pub dispatch: Option<usize>,
    /// It is deleted when it has stopped a wave.
    pub temporary: bool,
    /// Only if this holds of the number of times that it was met. Going back heeds it not.
    pub hits: Option<HitCondition>,
    /// It stops no wave, but takes down this message: see [`Debugger::take_messages`](super::Debugger::take_messages).
    pub message: Option<Message>,
}

/// A condition on the number of times that a point was met, this time included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitCondition {
    /// `5`, `>= 5`: from that time on.
    From(u64),
    /// `> 5`: after that time.
    After(u64),
    /// `== 5`: that time.
    Only(u64),
    /// `< 5`: before that time.
    Before(u64),
    /// `<= 5`: up to that time.
    UpTo(u64),
    /// `% 5`: each time whose number this divides.
    Every(u64),
}

impl std::str::FromStr for HitCondition {
    type Err = DebugError;

    fn from_str(text: &str) -> Result<HitCondition, DebugError> {
        type Make = fn(u64) -> HitCondition;
        const FORMS: [(&str, Make); 8] = [
            (">=", HitCondition::From),
            ("<=", HitCondition::UpTo),
            ("==", HitCondition::Only),
            (">", HitCondition::After),
            ("<", HitCondition::Before),
            ("=", HitCondition::Only),
            ("%", HitCondition::Every),
            ("", HitCondition::From),
        ];
        let text = text.trim();
        let form = FORMS
            .iter()
            .find_map(|(sign, make)| Some((text.strip_prefix(sign)?, make)));
        match form.and_then(|(digits, make)| Some(make(digits.trim().parse().ok()?))) {
            Some(HitCondition::Every(0)) | None => Err(DebugError::Syntax {
                message: "a number of hits was expected, such as 5, == 5, > 5, <= 5 or % 5"
                    .to_owned(),
                rest: text.to_owned(),
            }),
            Some(condition) => Ok(condition),
        }
    }
}

impl HitCondition {
    fn holds(self, times: u64) -> bool {
        match self {
            HitCondition::From(n) => times >= n,
            HitCondition::After(n) => times > n,
            HitCondition::Only(n) => times == n,
            HitCondition::Before(n) => times < n,
            HitCondition::UpTo(n) => times <= n,
            HitCondition::Every(n) => times.is_multiple_of(n),
        }
    }
}

/// Text with expressions in braces: `{s4}`, `v0 is {v0/f}`. `{{` and `}}` are braces.
#[derive(Clone, Debug, PartialEq)]
pub struct Message(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    Value(Expr, Option<Radix>),
}

impl std::str::FromStr for Message {
    type Err = DebugError;

    fn from_str(text: &str) -> Result<Message, DebugError> {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(at) = rest.find(['{', '}']) {
            plain.push_str(&rest[..at]);
            let (brace, behind) = rest[at..].split_at(1);
            if let Some(behind) = behind.strip_prefix(brace) {
                plain.push_str(brace);
                rest = behind;
                continue;
            }
            let Some((inner, behind)) = behind.split_once('}').filter(|_| brace == "{") else {
                return Err(DebugError::Syntax {
                    message: "an expression in braces was expected; write {{ or }} for a brace"
                        .to_owned(),
                    rest: rest[at..].to_owned(),
                });
            };
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            let (inner, radix) = Radix::split(inner);
            pieces.push(Piece::Value(Expr::parse(inner)?, radix));
            rest = behind;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Message(pieces))
    }
}

impl Message {
    /// The text in a scope. What has no value is replaced by the reason.
    fn text(&self, scope: &Scope<'_>) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(expr, radix) => {
                let shown = scope.evaluate(expr).and_then(|value| value.show(*radix));
                shown.unwrap_or_else(|error| format!("({error})"))
            }
        };
        self.0.iter().map(piece).collect()
    }
}

/// Accesses that a watchpoint stops after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WatchKind {
    /// Writes and atomics.
    #[default]
    Write,
    /// Reads and atomics.
    Read,
    /// All.
    Access,
}

impl WatchKind {
    fn is_met_by(self, access: Access) -> bool {
        match self {
            WatchKind::Write => access != Access::Read,
            WatchKind::Read => access != Access::Write,
            WatchKind::Access => true,
        }
    }

    /// What it stops after, for readers.
    pub const fn name(self) -> &'static str {
        match self {
            WatchKind::Write => "write",
            WatchKind::Read => "read",
            WatchKind::Access => "access",
        }
    }
}

/// What a point stops at.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// Before the instruction at one of these guest addresses.
    Code(Vec<u64>),
    /// After an access to these bytes.
    Memory {
        /// Kind of memory.
        space: Space,
        /// Guest address; offset in LDS, or in the scratch of any lane.
        address: u64,
        /// Size.
        bytes: u64,
        /// Accesses that count.
        kind: WatchKind,
    },
}

/// A breakpoint or a watchpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its number, from 1 on.
    pub id: u32,
    /// What it stops at.
    pub trigger: Trigger,
    /// That as it was written.
    pub text: String,
    /// Which waves.
    pub limits: Limits,
    /// Is it heeded?
    pub enabled: bool,
    /// How often it has stopped a wave; of one with a condition on that, or a message, how often it was met.
    pub hits: u64,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Points {
    pub(super) all: Vec<Point>,
    last: u32,
    messages: Messages,
}

/// Messages not yet taken.
#[derive(Debug, Default)]
struct Messages {
    texts: Vec<String>,
    /// Those that were too many.
    lost: u64,
}

/// Most messages that are kept.
const MOST_MESSAGES: usize = 1 << 14;

/// What a wave has met.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Hit {
    pub(super) id: u32,
    /// Why the condition could not be evaluated.
    pub(super) error: Option<String>,
    /// Of a watchpoint: the access.
    pub(super) access: Option<MemoryAccess>,
}

impl Points {
    pub(super) fn add(&mut self, trigger: Trigger, text: String, limits: Limits) -> &Point {
        self.last += 1;
        self.all.push(Point {
            id: self.last,
            trigger,
            text,
            limits,
            enabled: true,
            hits: 0,
        });
        self.all.last().expect("it was added")
    }

    /// A point has stopped a wave.
    pub(super) fn count(&mut self, id: u32) {
        if let Some(point) = self.all.iter_mut().find(|point| point.id == id) {
            point.hits += 1;
        }
        self.all
            .retain(|point| point.id != id || !point.limits.temporary);
    }

    /// The messages of points since they were taken last, and the number of those that were not kept.
    pub(super) fn take_messages(&mut self) -> (Vec<String>, u64) {
        let Messages { texts, lost } = std::mem::take(&mut self.messages);
        (texts, lost)
    }

    /// The point that stops the current wave before its next instruction.
    pub(super) fn before(&mut self, moment: At<'_, '_, '_>) -> Option<Hit> {
        if self.all.is_empty() {
            return None;
        }
        let pc = moment.state.wave(moment.state.current())?.pc;
        self.first(moment, |point| match &point.trigger {
            Trigger::Code(all) if all.contains(&pc) => Some(None),
            _ => None,
        })
    }

    /// The point that stops the current wave after an instruction.
    pub(super) fn after(&mut self, moment: At<'_, '_, '_>, step: &Step) -> Option<Hit> {
        if self.all.is_empty() || step.accesses.is_empty() {
            return None;
        }
        self.first(moment, |point| {
            let Trigger::Memory {
                space,
                address,
                bytes,
                kind,
            } = point.trigger
            else {
                return None;
            };
            let access = step.accesses.iter().find(|access| {
                let end = access.address.saturating_add(access.value.len() as u64);
                access.space == space
                    && kind.is_met_by(access.access)
                    && access.address < address.saturating_add(bytes)
                    && address < end
            })?;
            Some(Some(access.clone()))
        })
    }

    /// The first point that is met and stops; those before it take down their messages.
    fn first(
        &mut self,
        moment: At<'_, '_, '_>,
        met: impl Fn(&Point) -> Option<Option<MemoryAccess>>,
    ) -> Option<Hit> {
        for point in &mut self.all {
            let Some(access) = met(point) else { continue };
            let Some(hit) = point.stops(moment, access) else {
                continue;
            };
            if point.limits.message.is_none()
                && (moment.back
                    || point
                        .limits
                        .hits
                        .is_none_or(|hits| hits.holds(point.hits + 1)))
            {
                return Some(hit);
            }
            if moment.back {
                continue;
            }
            point.hits += 1;
            let Some(message) = &point.limits.message else {
                continue;
            };
            if point
                .limits
                .hits
                .is_some_and(|hits| !hits.holds(point.hits))
            {
                continue;
            }
            if self.messages.texts.len() >= MOST_MESSAGES {
                self.messages.lost += 1;
                continue;
            }
            let state = moment.state;
            let text = match Scope::of(state, state.current(), moment.buffers) {
                Ok(scope) => message.text(&scope),
                Err(error) => error.to_string(),
            };
            self.messages.texts.push(text);
        }
        None
    }
}

/// When points are looked at.
#[derive(Clone, Copy)]
pub(super) struct At<'p, 's, 'g> {
    pub(super) state: &'p State<'s, 'g>,
    pub(super) dispatch: usize,
    pub(super) buffers: &'p [Named],
    /// Is a stop in the past looked for?
    pub(super) back: bool,
}

impl Point {
    /// Does it stop the current wave, which is where it stops waves?
    fn stops(&self, moment: At<'_, '_, '_>, access: Option<MemoryAccess>) -> Option<Hit> {
        let At {
            state,
            dispatch,
            buffers,
            ..
        } = moment;
        let Limits {
            wave,
            workgroup,
            dispatch: only,
            condition,
            ..
        } = &self.limits;
        let concerns = self.enabled
            && wave.is_none_or(|wave| wave == state.current())
            && workgroup.is_none_or(|id| id == state.workgroup())
            && only.is_none_or(|only| only == dispatch);
        if !concerns {
            return None;
        }
        let holds = condition.as_ref().map_or(Ok(true), |condition| {
            let scope = Scope::of(state, state.current(), buffers)?;
            scope.evaluate(condition).map(|value| value.is_true())
        });
        let error = match holds {
            Ok(false) => return None,
            Ok(true) => None,
            Err(error) => Some(error.to_string()),
        };
        Some(Hit {
            id: self.id,
            error,
            access,
        })
    }
}
