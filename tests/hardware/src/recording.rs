//! Recordings as text. The header is lines of a key and a value; behind an empty line each line is
//!
//! * `place NAME=HEX...`: where the runs that follow were made;
//! * `run N AT:WORDS...`: the dwords of the image that run N changed, each group with the place of its
//!   first one, all hexadecimal;
//! * `failed N WHAT`: run N did not come to its end;
//! * `end COUNT`: so many runs were recorded.
//!
//! Each of these ends with ` #` and a checksum (FNV-1a with 32 bits) of what is before.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use harness::case::state::Addresses;

use crate::kit::Places;

/// The first line.
const FIRST: &str = "wavelift hardware recording 1";
/// What the first line of every version begins with.
const FAMILY: &str = "wavelift hardware recording ";
/// Keys that a header must have.
const KEYS: [&str; 2] = ["target", "kit"];
/// Runs that a recording may have.
const MAX_RUNS: u32 = 1 << 24;
/// Dwords that an image may have.
const MAX_WORDS: u32 = 1 << 20;

/// Why a recording cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// Something else.
    #[error("this is no recording: its first line is not `{FIRST}`")]
    NoRecording,
    /// A later version.
    #[error("the recording has version `{0}`; known is 1")]
    Version(String),
    /// A header without a key.
    #[error("the header has no `{0}`")]
    NoKey(&'static str),
    /// A line that does not have its checksum.
    #[error("line {0} is damaged: its checksum is wrong or missing")]
    Checksum(usize),
    /// A line that cannot be read.
    #[error("line {0} cannot be read: {1}")]
    Line(usize, &'static str),
    /// No last line.
    #[error("the recording is not complete: the line `end` is missing; {0} runs are there")]
    NoEnd(usize),
    /// Lines are missing.
    #[error("the recording has {found} runs, and its last line says {said}")]
    Count {
        /// Runs that are there.
        found: usize,
        /// Runs that the last line says.
        said: u32,
    },
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Result {
    /// Words that changed, in ascending order.
    Changed(Vec<(u32, u32)>),
    /// It did not come to its end.
    Failed(String),
}

/// A recorded run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Where it was made: an index.
    pub place: usize,
    /// What became of it.
    pub result: Result,
}

/// A recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The header.
    pub header: BTreeMap<String, String>,
    /// Where it was made; children of the capture program have each their own.
    pub places: Vec<Places>,
    /// By the number of the run; the probe is 0 and not here.
    pub runs: BTreeMap<u32, Recorded>,
}

/// The checksum of a line.
pub fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum: u32, byte| {
        (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

impl Recording {
    /// A recording without runs of this kit.
    pub fn new(target: &str, kit: &str) -> Recording {
        let pairs = [("target", target), ("kit", kit)];
        let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Recording {
            header: BTreeMap::from(pairs),
            ..Recording::default()
        }
    }

    /// A value of the header.
    pub fn get(&self, key: &str) -> &str {
        self.header.get(key).map_or("", String::as_str)
    }

    /// As text.
    pub fn text(&self) -> String {
        let mut text = format!("{FIRST}\n");
        for (key, value) in &self.header {
            text.push_str(&format!("{key} {value}\n"));
        }
        text.push('\n');
        let mut line = |content: String| {
            let sum = checksum(&content);
            writeln!(text, "{content} #{sum:08x}").expect("writing to a string does not fail");
        };
        let mut place = None;
        for (n, run) in &self.runs {
            if place != Some(run.place) {
                place = Some(run.place);
                let Places { addresses, code } = self.places[run.place];
                let Addresses {
                    windows,
                    buffer,
                    shared,
                    private,
                    ..
                } = addresses;
                line(format!(
                    "place windows={windows:x} buffer={buffer:x} shared={shared:x} \
                     private={private:x} code={code:x}"
                ));
            }
            match &run.result {
                Result::Failed(what) => line(format!("failed {n} {what}")),
                Result::Changed(words) => {
                    let mut content = format!("run {n}");
                    for group in words.chunk_by(|a, b| a.0 + 1 == b.0) {
                        write!(content, " {:x}:", group[0].0).expect("writing does not fail");
                        for (_, word) in group {
                            write!(content, "{word:08x}").expect("writing does not fail");
                        }
                    }
                    line(content);
                }
            }
        }
        line(format!("end {}", self.runs.len()));
        text
    }

    /// Reads a recording. Bytes that are no UTF-8 are damage like any other.
    pub fn parse(bytes: &[u8]) -> std::result::Result<Recording, RecordingError> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines().enumerate().map(|(n, line)| (n + 1, line));
        match lines.next() {
            Some((_, FIRST)) => {}
            Some((_, line)) => {
                let version = line
                    .strip_prefix(FAMILY)
                    .ok_or(RecordingError::NoRecording)?;
                return Err(RecordingError::Version(version.to_owned()));
            }
            None => return Err(RecordingError::NoRecording),
        }
        let mut recording = Recording::default();
        for (n, line) in lines.by_ref() {
            if line.is_empty() {
                break;
            }
            let Some((key, value)) = line.split_once(' ') else {
                return Err(RecordingError::Line(n, "a key and a value are expected"));
            };
            recording.header.insert(key.to_owned(), value.to_owned());
        }
        for key in KEYS {
            if !recording.header.contains_key(key) {
                return Err(RecordingError::NoKey(key));
            }
        }
        let mut end = None;
        for (n, line) in lines {
            if end.is_some() {
                return Err(RecordingError::Line(n, "behind the end"));
            }
            let (content, sum) = line.rsplit_once(" #").ok_or(RecordingError::Checksum(n))?;
            if u32::from_str_radix(sum, 16) != Ok(checksum(content)) {
                return Err(RecordingError::Checksum(n));
            }
            end = recording
                .line(content)
                .map_err(|why| RecordingError::Line(n, why))?;
        }
        let found = recording.runs.len();
        match end {
            None => Err(RecordingError::NoEnd(found)),
            Some(said) if said as usize != found => Err(RecordingError::Count { found, said }),
            Some(_) => Ok(recording),
        }
    }

    /// Reads a line behind the header; gives the count of the last one.
    fn line(&mut self, line: &str) -> std::result::Result<Option<u32>, &'static str> {
        let (kind, rest) = line
            .split_once(' ')
            .ok_or("a key and a value are expected")?;
        match kind {
            "place" => {
                let place = parse_place(rest).ok_or("no places")?;
                self.places.push(place);
            }
            "run" => {
                let (n, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                let words = parse_words(rest).ok_or("no words")?;
                self.add(n, Result::Changed(words))?;
            }
            "failed" => {
                let (n, what) = rest.split_once(' ').ok_or("no reason")?;
                self.add(n, Result::Failed(what.to_owned()))?;
            }
            "end" => return rest.parse().map(Some).map_err(|_| "no count"),
            _ => return Err("unknown kind of line"),
        }
        Ok(None)
    }

    fn add(&mut self, n: &str, result: Result) -> std::result::Result<(), &'static str> {
        let n: u32 = n.parse().map_err(|_| "no number of a run")?;
        if n == 0 || n > MAX_RUNS {
            return Err("no number of a run");
        }
        let place = match (self.places.len().checked_sub(1), &result) {
            (Some(place), _) => place,
            (None, Result::Failed(_)) => 0,
            (None, Result::Changed(_)) => return Err("a run before any place"),
        };
        match self.runs.insert(n, Recorded { place, result }) {
            None => Ok(()),
            Some(_) => Err("a run that was there before"),
        }
    }
}

fn parse_place(text: &str) -> Option<Places> {
    let mut places = Places::default();
    for word in text.split(' ') {
        let (name, value) = word.split_once('=')?;
        let value = u64::from_str_radix(value, 16).ok()?;
        match name {
            "windows" => places.addresses.windows = value,
            "buffer" => places.addresses.buffer = value,
            "shared" => places.addresses.shared = value,
            "private" => places.addresses.private = value,
            "code" => places.code = value,
            _ => return None,
        }
    }
    Some(places)
}

fn parse_words(text: &str) -> Option<Vec<(u32, u32)>> {
    let mut words = Vec::new();
    for group in text.split(' ').filter(|group| !group.is_empty()) {
        let (at, digits) = group.split_once(':')?;
        let at = u32::from_str_radix(at, 16)
            .ok()
            .filter(|&at| at < MAX_WORDS)?;
        if digits.is_empty() || digits.len() % 8 != 0 || !digits.is_ascii() {
            return None;
        }
        for n in 0..digits.len() / 8 {
            let word = u32::from_str_radix(&digits[8 * n..][..8], 16).ok()?;
            words.push((at + n as u32, word));
        }
    }
    words.is_sorted_by(|a, b| a.0 < b.0).then_some(words)
}
