//! Running the commands of a page.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Block, Page, Problem};

/// Where and how the commands of a page run.
#[derive(Debug)]
pub struct Session {
    home: PathBuf,
    variables: Vec<(OsString, OsString)>,
    elsewhere: Vec<String>,
}

/// A command of a page.
struct Step {
    line: usize,
    text: String,
    status: i32,
}

/// A block of commands and what they print.
struct Part<'a> {
    steps: Vec<Step>,
    output: Option<&'a Block>,
}

impl Session {
    /// A session in a new folder, which is the home folder as well. It has links to what is in the
    /// project's folder under these names.
    pub fn new(home: PathBuf, root: &Path, links: &[&str]) -> std::io::Result<Session> {
        match std::fs::remove_dir_all(&home) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => std::fs::create_dir_all(&home)?,
        }
        for name in links {
            std::os::unix::fs::symlink(root.join(name), home.join(name))?;
        }
        Ok(Session {
            home,
            variables: Vec::new(),
            elsewhere: Vec::new(),
        })
    }

    /// The folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Sets a variable of the environment.
    pub fn variable(mut self, name: &str, value: impl Into<OsString>) -> Session {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Another test runs the blocks of this language.
    pub fn elsewhere(mut self, language: &str) -> Session {
        self.elsewhere.push(language.to_owned());
        self
    }

    /// Runs all commands of a page and compares what they print. The result is their number.
    pub fn run(&self, page: &Page) -> Result<usize, Vec<Problem>> {
        let mut problems = Vec::new();
        let parts = self.parts(page, &mut problems);
        let steps: Vec<_> = parts.iter().flat_map(|part| &part.steps).collect();
        let results = self.home.join(".results");
        if let Err(error) = self.execute(&steps, &results) {
            problems.push(page.problem(1, format!("cannot be run: {error}")));
            return Err(problems);
        }
        let mut number = 0;
        for part in &parts {
            let mut printed = String::new();
            for step in &part.steps {
                let read = |kind| std::fs::read(results.join(format!("{number}.{kind}")));
                let output = read("output").unwrap_or_default();
                let output = String::from_utf8_lossy(&output).into_owned();
                let status = read("status").ok();
                let status =
                    status.and_then(|text| String::from_utf8(text).ok()?.trim().parse().ok());
                if status != Some(step.status) {
                    let (text, expected) = (&step.text, step.status);
                    let status = match status {
                        Some::<i32>(status) => format!("has status {status}, not {expected}"),
                        None => "was not run".to_owned(),
                    };
                    let what = format!("`{text}` {status}:\n{output}");
                    problems.push(page.problem(step.line, what));
                }
                printed += &output;
                number += 1;
            }
            if let Some(block) = part.output
                && !matches(&block.text, &printed)
            {
                let what = format!(
                    "the page shows:\n{}but this is printed:\n{printed}",
                    block.text
                );
                problems.push(page.problem(block.line, what));
            }
        }
        match problems.is_empty() {
            true => Ok(number),
            false => Err(problems),
        }
    }

    /// The commands of a page. Writes its files.
    fn parts<'a>(&self, page: &'a Page, problems: &mut Vec<Problem>) -> Vec<Part<'a>> {
        let mut parts = Vec::<Part>::new();
        // Does a block of output belong to the part before it?
        let mut open = false;
        for block in &page.blocks {
            let of_commands = std::mem::replace(&mut open, false);
            if block.not_run.is_some() || self.elsewhere.contains(&block.language) {
                continue;
            }
            match (&*block.language, &block.file) {
                ("sh", _) => {
                    match steps(block) {
                        Ok(steps) => parts.push(Part {
                            steps,
                            output: None,
                        }),
                        Err(what) => problems.push(page.problem(block.line, what)),
                    }
                    open = true;
                }
                ("text", _) => match parts.last_mut().filter(|_| of_commands) {
                    Some(part) => part.output = Some(block),
                    None => problems.push(page.problem(block.line, "no commands print this")),
                },
                (_, Some(name)) => {
                    if let Err(error) = std::fs::write(self.home.join(name), &block.text) {
                        problems.push(page.problem(block.line, format!("{name}: {error}")));
                    }
                }
                (_, None) => problems.push(page.problem(block.line, "no file has this block")),
            }
        }
        parts
    }

    /// Runs the steps in one shell. The output and the status of each become files.
    fn execute(&self, steps: &[&Step], results: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(results)?;
        let mut script = String::new();
        for (number, step) in steps.iter().enumerate() {
            let _ = writeln!(
                script,
                "{{\n{}\n}} >\"$RESULTS/{number}.output\" 2>&1 </dev/null\n\
                 echo $? >\"$RESULTS/{number}.status\"",
                step.text
            );
        }
        let file = results.join("script");
        std::fs::write(&file, script)?;
        let mut command = Command::new("sh");
        command.arg(&file).current_dir(&self.home);
        for name in [
            "DESTDIR",
            "LD_LIBRARY_PATH",
            "PKG_CONFIG_PATH",
            "XDG_CACHE_HOME",
        ] {
            command.env_remove(name);
        }
        command.env("HOME", &self.home).env("RESULTS", results);
        command.env("LC_ALL", "C.UTF-8");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        // What the shell itself says is about commands, whose statuses are looked at.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status()?;
        Ok(())
    }
}

/// The commands of a block.
fn steps(block: &Block) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut lines = block.text.lines().zip(block.line + 1..);
    while let Some((first, line)) = lines.next() {
        if first.trim().is_empty() || first.trim_start().starts_with('#') {
            continue;
        }
        let mut text = first.to_owned();
        while text.ends_with('\\') {
            let Some((next, _)) = lines.next() else {
                return Err("ends within a command".to_owned());
            };
            text = format!("{text}\n{next}");
        }
        let status = text.split_once("# status ").map(|(_, rest)| {
            let digits = rest.find(|c: char| !c.is_ascii_digit());
            rest[..digits.unwrap_or(rest.len())].parse()
        });
        let status = status
            .unwrap_or(Ok(0))
            .map_err(|_| format!("`{text}`: no such status"))?;
        steps.push(Step { line, text, status });
    }
    Ok(steps)
}

/// Is the text that of the pattern, in which `...` stands for anything, and as a line for any lines?
fn matches(pattern: &str, text: &str) -> bool {
    let lines = pattern.split_inclusive('\n');
    let pattern: String = lines
        .map(|line| if line == "...\n" { "..." } else { line })
        .collect();
    let pieces: Vec<_> = pattern.split("...").collect();
    let [first, between @ .., last] = &pieces[..] else {
        return pattern == text;
    };
    let rest = text
        .strip_prefix(first)
        .and_then(|rest| rest.strip_suffix(last));
    let Some(mut rest) = rest else { return false };
    for piece in between {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<usize, Vec<String>> {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let home = std::env::temp_dir().join(format!("documents-{}-{number}", std::process::id()));
        let session = Session::new(home.clone(), Path::new("/"), &[]).unwrap();
        let result = session.elsewhere("rust").run(&Page::parse("p.md", text));
        std::fs::remove_dir_all(home).unwrap();
        result.map_err(|problems| problems.iter().map(Problem::to_string).collect())
    }

    #[test]
    fn commands_are_one_session() {
        let page = "`f`:\n\n```c\nlong\n```\n\n```sh\nX=$(cat f) # the file\nfalse # status 1: as always\n\
                    echo \\\n  $X; echo err >&2\n```\n\n```text\nlo...\nerr\n```\n\n```rust\nnothing\n```\n";
        assert_eq!(run(page), Ok(3));
    }

    #[test]
    fn what_differs_is_reported() {
        let problems =
            run("```sh\nfalse\necho a; echo b\n```\n\n```text\na\nc\n```\n").unwrap_err();
        assert_eq!(
            problems,
            [
                "p.md:2: `false` has status 1, not 0:\n",
                "p.md:6: the page shows:\na\nc\nbut this is printed:\na\nb\n"
            ]
        );
        let problems = run("```sh\n)\n```\n").unwrap_err();
        assert_eq!(problems, ["p.md:2: `)` was not run:\n"]);
    }

    #[test]
    fn blocks_without_a_meaning_are_errors() {
        let problems = run("```text\na\n```\n\n```c\nx\n```\n\n```sh\na \\\n```\n").unwrap_err();
        assert_eq!(
            problems,
            [
                "p.md:1: no commands print this",
                "p.md:5: no file has this block",
                "p.md:9: ends within a command"
            ]
        );
    }

    #[test]
    fn dots_stand_for_anything() {
        assert!(matches("a ... c\n", "a b\nb c\n"));
        assert!(matches("... b ... c", " b  c"));
        assert!(!matches("a...a", "a"));
        assert!(!matches("a ... d ... c", "a b c"));
        assert!(matches("a\n...\nb\n", "a\nb\n"));
        assert!(matches("a\n...\nb\n", "a\nc\nd\nb\n"));
        assert!(!matches("a", "a "));
    }
}
