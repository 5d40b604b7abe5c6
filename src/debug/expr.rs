//! Expressions: their text as a tree.
//!
//! Operators are those of C, with its precedence, without assignment and the conditional. A name is a
//! register, a kind of memory or a buffer; `[i]` and `[i:j]` select from it, `.f32` and its like set
//! its type.

use super::error::DebugError;
use crate::Dtype;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(pub(super) Node);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Integer(u64),
    Float(f64),
    /// A name; of a buffer for sure if it was written `@name`.
    Name {
        name: String,
        buffer: bool,
    },
    Index(Box<Node>, Box<Node>),
    Range(Box<Node>, Box<Node>, Box<Node>),
    Cast(Box<Node>, Dtype),
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
    /// True in any active lane, in all of them.
    Any(Box<Node>),
    All(Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    LessEqual,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Less,
    Greater,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Binary operators, longer ones before those that they begin with, and how tightly they bind.
const OPERATORS: [(&str, Binary, u8); 18] = [
    ("||", Binary::Or, 1),
    ("&&", Binary::And, 2),
    ("==", Binary::Equal, 6),
    ("!=", Binary::NotEqual, 6),
    ("<=", Binary::LessEqual, 7),
    (">=", Binary::GreaterEqual, 7),
    ("<<", Binary::ShiftLeft, 8),
    (">>", Binary::ShiftRight, 8),
    ("|", Binary::BitOr, 3),
    ("^", Binary::BitXor, 4),
    ("&", Binary::BitAnd, 5),
    ("<", Binary::Less, 7),
    (">", Binary::Greater, 7),
    ("+", Binary::Add, 9),
    ("-", Binary::Subtract, 9),
    ("*", Binary::Multiply, 10),
    ("/", Binary::Divide, 10),
    ("%", Binary::Remainder, 10),
];

/// How deep parentheses and operators may be nested.
const DEPTH: u32 = 64;

impl Expr {
    /// Reads an expression, which is the whole text.
    pub fn parse(text: &str) -> Result<Expr, DebugError> {
        let mut parser = Parser {
            rest: text.trim(),
            depth: 0,
        };
        let node = parser.binary(0)?;
        match parser.rest.trim_start() {
            "" => Ok(Expr(node)),
            rest => Err(DebugError::Syntax {
                message: "an operator or the end of the expression was expected".to_owned(),
                rest: rest.to_owned(),
            }),
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
    depth: u32,
}

impl<'t> Parser<'t> {
    fn error<T>(&self, message: &str) -> Result<T, DebugError> {
        Err(DebugError::Syntax {
            message: message.to_owned(),
            rest: self.rest.to_owned(),
        })
    }

    /// Takes a token, if it is next.
    fn take(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), DebugError> {
        match self.take(token) {
            true => Ok(()),
            false => self.error(&format!("`{token}` was expected")),
        }
    }

    /// Letters, digits and underscores at the beginning.
    fn word(&mut self) -> &'t str {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn deeper(&mut self) -> Result<(), DebugError> {
        self.depth += 1;
        match self.depth > DEPTH {
            true => self.error("the expression is nested too deeply"),
            false => Ok(()),
        }
    }

    fn binary(&mut self, least: u8) -> Result<Node, DebugError> {
        self.deeper()?;
        let mut left = self.unary()?;
        loop {
            self.rest = self.rest.trim_start();
            let found = OPERATORS
                .iter()
                .find(|(text, ..)| self.rest.starts_with(text));
            let Some(&(text, operator, binds)) = found else {
                break;
            };
            if binds <= least {
                break;
            }
            self.take(text);
            let right = self.binary(binds)?;
            left = Node::Binary(operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn unary(&mut self) -> Result<Node, DebugError> {
        for (text, operator) in [
            ("-", Unary::Negate),
            ("!", Unary::Not),
            ("~", Unary::Complement),
        ] {
            if self.take(text) {
                self.deeper()?;
                let node = self.unary()?;
                self.depth -= 1;
                return Ok(Node::Unary(operator, Box::new(node)));
            }
        }
        let mut node = self.primary()?;
        loop {
            if self.take("[") {
                let first = self.binary(0)?;
                node = match self.take(":") {
                    true => {
                        let last = self.binary(0)?;
                        Node::Range(Box::new(node), Box::new(first), Box::new(last))
                    }
                    false => Node::Index(Box::new(node), Box::new(first)),
                };
                self.expect("]")?;
            } else if self.take(".") {
                let rest = self.rest;
                let Some(dtype) = Dtype::from_name(self.word()) else {
                    self.rest = rest;
                    let names: Vec<_> = Dtype::ALL.iter().map(|dtype| dtype.name()).collect();
                    return self.error(&format!("a type was expected: {}", names.join(", ")));
                };
                node = Node::Cast(Box::new(node), dtype);
            } else {
                return Ok(node);
            }
        }
    }

    fn primary(&mut self) -> Result<Node, DebugError> {
        self.rest = self.rest.trim_start();
        if self.take("(") {
            let node = self.binary(0)?;
            self.expect(")")?;
            return Ok(node);
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number();
        }
        let buffer = self.take("@");
        let before = self.rest;
        let name = self.word();
        if name.is_empty() {
            return self.error("a number, a register or a buffer was expected");
        }
        if !buffer && matches!(name, "any" | "all") && self.take("(") {
            let node = Box::new(self.binary(0)?);
            self.expect(")")?;
            return Ok(match name {
                "any" => Node::Any(node),
                _ => Node::All(node),
            });
        }
        debug_assert!(before.starts_with(name));
        Ok(Node::Name {
            name: name.to_owned(),
            buffer,
        })
    }

    fn number(&mut self) -> Result<Node, DebugError> {
        let whole = self.rest;
        let word = self.word();
        if let Some(digits) = word.strip_prefix("0x").or(word.strip_prefix("0X")) {
            let Ok(value) = u64::from_str_radix(digits, 16) else {
                self.rest = whole;
                return self.error("a hexadecimal number of 64 bits at most was expected");
            };
            return Ok(Node::Integer(value));
        }
        // A point before a digit, and a sign behind an `e`, belong to a float.
        let mut end = word.len();
        let digit = |at: usize| whole[at..].starts_with(|c: char| c.is_ascii_digit());
        let word_end = |at: usize| {
            let rest = &whole[at..];
            let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
            at + len.unwrap_or(rest.len())
        };
        if whole[end..].starts_with('.') && digit(end + 1) {
            end = word_end(end + 1);
        }
        if whole[..end].ends_with(['e', 'E'])
            && whole[end..].starts_with(['+', '-'])
            && digit(end + 1)
        {
            end = word_end(end + 1);
        }
        let (text, rest) = whole.split_at(end);
        let node = match text.parse::<u64>() {
            Ok(value) => Some(Node::Integer(value)),
            Err(_) => text.parse::<f64>().ok().map(Node::Float),
        };
        let Some(node) = node else {
            self.rest = whole;
            return self.error("a number was expected");
        };
        self.rest = rest;
        Ok(node)
    }
}
