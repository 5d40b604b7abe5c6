//! Links of pages, and the pages of the book.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::{Page, Problem};

/// The book's list of chapters, `SUMMARY.md`, whose folder has links to the parts of the project that
/// the book shows.
#[derive(Debug)]
pub struct Book {
    summary: Page,
    folder: PathBuf,
}

impl Book {
    /// Reads the list; `folder` is relative to the project's folder.
    pub fn read(root: &Path, folder: &str) -> Result<Book, Problem> {
        Ok(Book {
            summary: Page::read(root, &format!("{folder}/SUMMARY.md"))?,
            folder: root.join(folder),
        })
    }

    /// The chapters, relative to the project's folder.
    pub fn chapters(&self) -> impl Iterator<Item = &str> {
        self.summary.links.iter().map(|link| &*link.to)
    }

    /// Checks that the list has each of these pages, and nothing twice or that is not there.
    pub fn check_chapters<'a>(&self, pages: impl IntoIterator<Item = &'a str>) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut chapters = BTreeMap::<&str, usize>::new();
        for link in &self.summary.links {
            if chapters.insert(&link.to, link.line).is_some() {
                problems.push(
                    self.summary
                        .problem(link.line, format!("{} is there twice", link.to)),
                );
            }
            if !self.folder.join(&link.to).is_file() {
                problems.push(
                    self.summary
                        .problem(link.line, format!("there is no {}", link.to)),
                );
            }
        }
        for page in pages {
            if !chapters.contains_key(page) {
                problems.push(
                    self.summary
                        .problem(1, format!("{page} is not in the book")),
                );
            }
        }
        problems
    }

    /// What is wrong with a link in a chapter to a file of the project, since the book differs from the
    /// project's folder.
    fn wrong(&self, to: &str) -> Option<String> {
        if to.ends_with(".md") {
            let chapter = self.chapters().any(|chapter| chapter == to);
            return (!chapter).then(|| format!("{to} is no chapter of the book"));
        }
        let there = self.folder.join(to).exists();
        (!there).then(|| format!("the book has no link to the folder of {to}"))
    }
}

/// Checks all links of a page to files and to headings; those to the web are not looked at.
pub fn check_links(root: &Path, page: &Page, book: &Book) -> Vec<Problem> {
    let mut problems = Vec::new();
    let in_book = book.chapters().any(|chapter| chapter == page.name);
    for link in &page.links {
        if link.to.contains("://") || link.to.starts_with("mailto:") {
            continue;
        }
        let mut report = |what: String| problems.push(page.problem(link.line, what));
        let (path, anchor) = match link.to.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor)),
            None => (&*link.to, None),
        };
        let Some(to) = resolve(&page.name, path) else {
            report(format!("{} is outside of the project", link.to));
            continue;
        };
        if !root.join(&to).exists() {
            report(format!("there is no {to}"));
            continue;
        }
        if in_book && !path.is_empty() {
            book.wrong(&to).into_iter().for_each(&mut report);
        }
        let Some(anchor) = anchor else { continue };
        match Page::read(root, &to) {
            Ok(page) if page.anchors.contains(anchor) => {}
            Ok(_) => report(format!("{to} has no heading #{anchor}")),
            Err(problem) => report(problem.to_string()),
        }
    }
    problems
}

/// The file of the project that a link leads to, or `None` outside of it.
fn resolve(page: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    if path.is_empty() {
        return Some(page.to_owned());
    }
    parts.pop();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::ParentDir => drop(parts.pop()?),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_to_their_page() {
        let to = |path| resolve("docs/c.md", path);
        assert_eq!(to("../README.md").as_deref(), Some("README.md"));
        assert_eq!(to("python.md").as_deref(), Some("docs/python.md"));
        assert_eq!(to("").as_deref(), Some("docs/c.md"));
        assert_eq!(to("../../x"), None);
        assert_eq!(to("/etc"), None);
    }

    #[test]
    fn wrong_links_are_reported() {
        let root = std::env::temp_dir().join(format!("documents-links-{}", std::process::id()));
        std::fs::create_dir_all(root.join("book")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
        write("book/SUMMARY.md", "- [A](a.md)\n- [A](a.md)\n- [B](b.md)\n");
        std::os::unix::fs::symlink("../a.md", root.join("book/a.md")).unwrap();
        write(
            "a.md",
            "# A\n[1](#a) [2](#b) [3](c.md) [4](d) [5](../e) [6](c.md#c) [7](https://x/y)\n",
        );
        write("c.md", "# C\n");
        let book = Book::read(&root, "book").unwrap();
        let texts = |problems: Vec<Problem>| -> Vec<String> {
            problems.iter().map(Problem::to_string).collect()
        };
        assert_eq!(
            texts(book.check_chapters(["a.md", "c.md"])),
            [
                "book/SUMMARY.md:2: a.md is there twice",
                "book/SUMMARY.md:3: there is no b.md",
                "book/SUMMARY.md:1: c.md is not in the book"
            ]
        );
        let page = Page::read(&root, "a.md").unwrap();
        assert_eq!(
            texts(check_links(&root, &page, &book)),
            [
                "a.md:2: a.md has no heading #b",
                "a.md:2: c.md is no chapter of the book",
                "a.md:2: there is no d",
                "a.md:2: ../e is outside of the project",
                "a.md:2: c.md is no chapter of the book"
            ]
        );
        std::fs::remove_dir_all(root).unwrap();
    }
}
