//! Reading a page.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::Problem;

/// A block of code.
#[derive(Debug)]
pub struct Block {
    /// The line of its fence, from 1.
    pub line: usize,
    /// The language behind the fence.
    pub language: String,
    /// The name at the end of the paragraph before it.
    pub file: Option<String>,
    /// Why it is not run.
    pub not_run: Option<String>,
    /// Its text.
    pub text: String,
}

/// A link to a file of the project, to a part of a page or to the web.
#[derive(Debug)]
pub struct Link {
    /// Its line, from 1.
    pub line: usize,
    /// Where it leads.
    pub to: String,
}

/// A Markdown file.
#[derive(Debug)]
pub struct Page {
    /// The path relative to the project's folder, with slashes.
    pub name: String,
    /// Blocks of code, in order.
    pub blocks: Vec<Block>,
    /// Links, in order.
    pub links: Vec<Link>,
    /// The names that links to headings have behind `#`.
    pub anchors: BTreeSet<String>,
}

impl Page {
    /// Reads a page; `name` is relative to the project's folder.
    pub fn read(root: &Path, name: &str) -> Result<Page, Problem> {
        match std::fs::read_to_string(root.join(name)) {
            Ok(text) => Ok(Page::parse(name, &text)),
            Err(error) => Err(Problem {
                page: name.to_owned(),
                line: 1,
                what: format!("cannot be read: {error}"),
            }),
        }
    }

    /// Parses the text of a page.
    pub fn parse(name: &str, text: &str) -> Page {
        let mut page = Page {
            name: name.to_owned(),
            blocks: Vec::new(),
            links: Vec::new(),
            anchors: BTreeSet::new(),
        };
        let line = |offset: usize| 1 + text[..offset].matches('\n').count();
        let (mut heading, mut block): (Option<String>, Option<Block>) = (None, None);
        let mut headings = BTreeMap::<String, usize>::new();
        // The last code in a paragraph, and whether nothing but a colon is behind it.
        let (mut code, mut file, mut not_run) = (None, None, None);
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let language = match kind {
                        CodeBlockKind::Fenced(info) => info.to_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    block = Some(Block {
                        line: line(range.start),
                        language,
                        file: file.take(),
                        not_run: not_run.take(),
                        text: String::new(),
                    });
                }
                Event::End(TagEnd::CodeBlock) => page.blocks.extend(block.take()),
                Event::Start(Tag::Heading { .. }) => {
                    (heading, file, not_run) = (Some(String::new()), None, None);
                }
                Event::End(TagEnd::Heading(_)) => {
                    let anchor = anchor(&heading.take().unwrap_or_default());
                    let before = headings.entry(anchor.clone()).or_default();
                    page.anchors.insert(match *before {
                        0 => anchor,
                        number => format!("{anchor}-{number}"),
                    });
                    *before += 1;
                }
                Event::Start(Tag::Paragraph) => (code, file, not_run) = (None, None, None),
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(Link {
                        line: line(range.start),
                        to: dest_url.to_string(),
                    });
                }
                Event::Html(html) => {
                    let comment = html.trim().strip_prefix("<!-- not run:");
                    let reason = comment.and_then(|comment| comment.strip_suffix("-->"));
                    not_run = reason.map(|reason| reason.trim().to_owned());
                }
                Event::Text(text) => {
                    if let Some(block) = &mut block {
                        block.text += &text;
                    } else {
                        file = code.take().filter(|_| &*text == ":");
                    }
                    if let Some(heading) = &mut heading {
                        *heading += &text;
                    }
                }
                Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        *heading += &text;
                    }
                    code = Some(text.to_string());
                }
                _ => {}
            }
        }
        page
    }

    pub(crate) fn problem(&self, line: usize, what: impl Into<String>) -> Problem {
        Problem {
            page: self.name.clone(),
            line,
            what: what.into(),
        }
    }
}

/// The name of a heading in links, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let lower = heading.trim().to_lowercase();
    lower
        .chars()
        .filter(kept)
        .collect::<String>()
        .replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_blocks_links_and_anchors() {
        let text = "# What `it` does: 1.5x\n\n[c](../a.md#b) and `first.c`:\n\n```c\nint x;\n```\n\n\
                    ```sh\nls\n```\n\n<!-- not run: needs root -->\n```sh\nrm -r /\n```\n\n# A\n# A\n";
        let page = Page::parse("p.md", text);
        let blocks: Vec<_> = page.blocks.iter().collect();
        assert_eq!(blocks.len(), 3, "{blocks:?}");
        assert_eq!(blocks[0].file.as_deref(), Some("first.c"));
        assert_eq!((blocks[0].line, &*blocks[0].text), (5, "int x;\n"));
        assert_eq!((&*blocks[1].language, &blocks[1].file), ("sh", &None));
        assert_eq!(blocks[1].not_run, None);
        assert_eq!(blocks[2].not_run.as_deref(), Some("needs root"));
        assert_eq!(page.links.len(), 1);
        assert_eq!((page.links[0].line, &*page.links[0].to), (3, "../a.md#b"));
        let anchors: Vec<_> = page.anchors.iter().map(String::as_str).collect();
        assert_eq!(anchors, ["a", "a-1", "what-it-does-15x"]);
    }
}
