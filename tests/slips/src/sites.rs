//! Finds the places of a file where a slip can be planted, and the text of each.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Arm, Attribute, BinOp, Block, Expr, ExprLit, ImplItemFn, Item, ItemFn, Lit, Pat, ReturnType,
    Signature, Stmt, TraitItemFn, UnOp,
};

/// A slip: what is written in place of what.
#[derive(Clone, Debug)]
pub(crate) struct Slip {
    /// Line of the original, from 1.
    pub(crate) line: usize,
    /// Column, from 1.
    pub(crate) column: usize,
    /// The kind of change.
    pub(crate) kind: &'static str,
    /// The change in words.
    pub(crate) what: String,
}

/// The kind of a slip that changes nothing and is not tried.
pub(crate) const COMMUTED: &str = "commuted";

/// Functions of which two arguments may be exchanged: bitwise operations, integer sums and products, comparisons for
/// equality. (Of sums and products of floats not: the first NaN is the result.)
const COMMUTATIVE: &[&str] = &[
    "and",
    "or",
    "xor",
    "band",
    "bor",
    "bxor",
    "iadd",
    "imul",
    "umulhi",
    "smulhi",
    "wrapping_add",
    "wrapping_mul",
    "uadd_sat",
    "sadd_sat",
    "umin",
    "umax",
    "smin",
    "smax",
    "min_u",
    "max_u",
    "min_s",
    "max_s",
    "uno",
    "ord",
    "abs_diff",
    "eq",
    "ne",
    "ptr_eq",
    "min",
    "max",
];

/// How a place is wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// An expression: `(match .. { N => (other), _ => (original) })`.
    Expr,
    /// The body of a match arm, which may lack its comma.
    ArmBody { comma: bool },
    /// A statement, which is left out.
    Stmt,
    /// Behind the opening brace of a function.
    Start,
}

/// A place in the text, and the slips that may stand there by their index.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) range: Range<usize>,
    pub(crate) form: Form,
    /// Index of the slip, and its text.
    pub(crate) others: Vec<(usize, String)>,
}

/// What a file has.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) slips: Vec<Slip>,
    pub(crate) places: Vec<Place>,
    /// Bodies of functions: where a compiler's message belongs that names no place.
    pub(crate) bodies: Vec<Range<usize>>,
}

/// The places of a source text.
pub(crate) fn find(text: &str) -> syn::Result<Found> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder {
        text,
        slips: Vec::new(),
        places: BTreeMap::new(),
        bodies: Vec::new(),
    };
    finder.visit_file(&file);
    let places = finder.places.into_iter();
    Ok(Found {
        slips: finder.slips,
        places: places
            .map(|((start, end, form), others)| Place {
                range: start..end,
                form,
                others,
            })
            .collect(),
        bodies: finder.bodies,
    })
}

struct Finder<'a> {
    text: &'a str,
    slips: Vec<Slip>,
    places: BTreeMap<(usize, usize, Form), Vec<(usize, String)>>,
    bodies: Vec<Range<usize>>,
}

/// The text on one line, not too long.
fn short(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > 70 {
        line = line.chars().take(67).collect::<String>() + "...";
    }
    line
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        path.is_ident("test")
            || path.is_ident("cfg")
                && attribute
                    .parse_args::<syn::Meta>()
                    .is_ok_and(|meta| meta.path().is_ident("test"))
    })
}

/// Does it bind names by `let` outside of a block?
fn has_let(e: &Expr) -> bool {
    match e {
        Expr::Let(_) => true,
        Expr::Binary(b) => has_let(&b.left) || has_let(&b.right),
        Expr::Paren(p) => has_let(&p.expr),
        _ => false,
    }
}

/// Names that a pattern binds, and paths of one segment.
fn names(pat: &Pat) -> Vec<String> {
    struct Names(Vec<String>);
    impl<'a> Visit<'a> for Names {
        fn visit_pat_ident(&mut self, p: &'a syn::PatIdent) {
            self.0.push(p.ident.to_string());
            visit::visit_pat_ident(self, p);
        }
    }
    let mut names = Names(Vec::new());
    names.visit_pat(pat);
    names.0
}

/// Is the word in the text?
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !part(c)).any(|w| w == word)
}

impl Finder<'_> {
    fn range(&self, span: Span) -> Range<usize> {
        span.byte_range()
    }

    fn of(&self, spanned: &impl Spanned) -> &str {
        &self.text[self.range(spanned.span())]
    }

    fn slip(&mut self, span: Span, kind: &'static str, what: String) -> usize {
        let start = span.start();
        self.slips.push(Slip {
            line: start.line,
            column: start.column + 1,
            kind,
            what,
        });
        self.slips.len() - 1
    }

    fn put(&mut self, range: Range<usize>, form: Form, slip: usize, other: String) {
        let key = (range.start, range.end, form);
        self.places.entry(key).or_default().push((slip, other));
    }

    /// Other text in place of an expression.
    fn replace(&mut self, e: &impl Spanned, kind: &'static str, other: String) {
        let what = format!("`{}` becomes `{}`", short(self.of(e)), short(&other));
        let slip = self.slip(e.span(), kind, what);
        self.put(self.range(e.span()), Form::Expr, slip, other);
    }

    fn binary(&mut self, e: &syn::ExprBinary) {
        let (a, b) = (self.of(&*e.left), self.of(&*e.right));
        let others: &[&str] = match e.op {
            BinOp::Add(_) => &["-"],
            BinOp::Sub(_) => &["+"],
            BinOp::Mul(_) => &["+"],
            BinOp::Div(_) | BinOp::Rem(_) => &["*"],
            BinOp::And(_) => &["||"],
            BinOp::Or(_) => &["&&"],
            BinOp::BitXor(_) => &["|"],
            BinOp::BitAnd(_) => &["|"],
            BinOp::BitOr(_) => &["&"],
            BinOp::Shl(_) => &[">>"],
            BinOp::Shr(_) => &["<<"],
            BinOp::Eq(_) => &["!="],
            BinOp::Ne(_) => &["=="],
            BinOp::Lt(_) => &["<=", ">"],
            BinOp::Le(_) => &["<", ">"],
            BinOp::Gt(_) => &[">=", "<"],
            BinOp::Ge(_) => &[">", "<"],
            BinOp::AddAssign(_) => &["-="],
            BinOp::SubAssign(_) => &["+="],
            BinOp::MulAssign(_) => &["+="],
            BinOp::DivAssign(_) | BinOp::RemAssign(_) => &["*="],
            BinOp::BitXorAssign(_) => &["|="],
            BinOp::BitAndAssign(_) => &["|="],
            BinOp::BitOrAssign(_) => &["&="],
            BinOp::ShlAssign(_) => &[">>="],
            BinOp::ShrAssign(_) => &["<<="],
            _ => &[],
        };
        let others: Vec<String> = others.iter().map(|op| format!("{a} {op} {b}")).collect();
        for other in others {
            self.replace(e, "operator", other);
        }
    }

    fn literal(&mut self, e: &impl Spanned, lit: &Lit, negative: bool) {
        let sign = if negative { "-" } else { "" };
        match lit {
            Lit::Int(int) => {
                let Ok(n) = int.base10_parse::<u128>() else {
                    return;
                };
                let suffix = int.suffix().to_owned();
                let hex = int.to_string().starts_with("0x");
                let print = |n: u128| match hex {
                    true => format!(
                        "{sign}{n:#x}{}{suffix}",
                        if suffix.is_empty() { "" } else { "_" }
                    ),
                    false => format!("{sign}{n}{suffix}"),
                };
                if let Some(more) = n.checked_add(1) {
                    self.replace(e, "number", print(more));
                }
                if [1, 31, 32, 63].contains(&n) {
                    self.replace(e, "number", print(n - 1));
                }
                if negative {
                    self.replace(e, "sign", format!("{n}{suffix}"));
                }
            }
            Lit::Bool(b) => self.replace(e, "boolean", (!b.value).to_string()),
            Lit::Float(float) => self.replace(e, "number", format!("{sign}(1.0 + {float})")),
            _ => {}
        }
    }

    fn calls(&mut self, e: &Expr, name: &str, args: Vec<&Expr>, receiver: Option<&Expr>) {
        let whole = self.range(e.span());
        let text = |x: &Expr| self.text[self.range(x.span())].to_owned();
        let mut others = Vec::new();
        let mut swap = |a: &Expr, b: &Expr| {
            let (ra, rb) = (self.range(a.span()), self.range(b.span()));
            let (ta, tb) = (text(a), text(b));
            if ta == tb {
                return;
            }
            let mut other = self.text[whole.start..ra.start].to_owned();
            if receiver.is_some_and(|r| self.range(r.span()) == ra) {
                other += &format!("({tb})");
            } else {
                other += &tb;
            }
            other += &self.text[ra.end..rb.start];
            other += &ta;
            other += &self.text[rb.end..whole.end];
            others.push(other);
        };
        for pair in args.windows(2) {
            swap(pair[0], pair[1]);
        }
        if let (Some(receiver), [only]) = (receiver, &args[..])
            && !text(receiver).starts_with("self")
            && !matches!(only, Expr::Closure(_))
        {
            swap(receiver, only);
        }
        let kind = match COMMUTATIVE.contains(&name) && args.len() <= 2 {
            true => COMMUTED,
            false => "arguments",
        };
        for other in others {
            self.replace(e, kind, other);
        }
    }

    fn function(&mut self, signature: &Signature, block: &Block) {
        if signature.constness.is_some() {
            return;
        }
        self.bodies.push(self.range(block.span()));
        let values: Vec<&str> = match &signature.output {
            ReturnType::Default => vec![""],
            ReturnType::Type(_, ty) => {
                let text: String = self.of(ty).split_whitespace().collect();
                match text.as_str() {
                    "bool" => vec!["true", "false"],
                    "u8" | "u16" | "u32" | "u64" | "usize" | "u128" | "i8" | "i16" | "i32"
                    | "i64" | "i128" | "isize" => vec!["0", "1"],
                    "Run<()>" => vec!["Ok(())"],
                    _ if text.starts_with("Option<") => vec!["None"],
                    _ if text.starts_with("Result<(),") => vec!["Ok(())"],
                    _ if text.starts_with("Run<bool>") => vec!["Ok(false)"],
                    _ if text.starts_with("Run<Option<") => vec!["Ok(None)"],
                    _ => vec![],
                }
            }
        };
        if block.stmts.is_empty() {
            return;
        }
        let at = self.range(block.brace_token.span.open()).end;
        let body = self.of(block);
        let body = body.trim_start_matches('{').trim_end_matches('}').trim();
        let body = body.to_owned();
        for value in values {
            if body == value {
                continue;
            }
            let what = format!("`{}` returns `{value}`", signature.ident);
            let slip = self.slip(signature.ident.span(), "return", what);
            self.put(at..at, Form::Start, slip, format!("return {value}"));
        }
        visit::visit_block(self, block);
    }

    fn arms(&mut self, arms: &[Arm]) {
        for pair in arms.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            let (ta, tb) = (self.of(&*a.body).to_owned(), self.of(&*b.body).to_owned());
            if ta == tb {
                continue;
            }
            let lost = |of: &Arm, text: &str, other: &Arm| {
                let others = names(&other.pat);
                names(&of.pat)
                    .iter()
                    .any(|name| has_word(text, name) && !others.contains(name))
            };
            if lost(a, &ta, b) || lost(b, &tb, a) {
                continue;
            }
            let (pa, pb) = (short(self.of(&a.pat)), short(self.of(&b.pat)));
            let what = format!("the arms of `{pa}` and `{pb}` are exchanged");
            let slip = self.slip(a.pat.span(), "arms", what);
            for (arm, other) in [(a, &tb), (b, &ta)] {
                let form = Form::ArmBody {
                    comma: arm.comma.is_some(),
                };
                self.put(self.range(arm.body.span()), form, slip, other.clone());
            }
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let skipped = match item {
            Item::Const(_) | Item::Static(_) | Item::Macro(_) | Item::Enum(_) => true,
            Item::Struct(_) | Item::Type(_) | Item::Use(_) => true,
            Item::Mod(m) => is_test(&m.attrs),
            Item::Fn(f) => is_test(&f.attrs),
            Item::Impl(i) => is_test(&i.attrs),
            _ => false,
        };
        if !skipped {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, f: &'ast ItemFn) {
        self.function(&f.sig, &f.block);
    }

    fn visit_impl_item_fn(&mut self, f: &'ast ImplItemFn) {
        if !is_test(&f.attrs) {
            self.function(&f.sig, &f.block);
        }
    }

    fn visit_trait_item_fn(&mut self, f: &'ast TraitItemFn) {
        if let Some(block) = &f.default {
            self.function(&f.sig, block);
        }
    }

    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_path(&mut self, _: &'ast syn::Path) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_macro(&mut self, _: &'ast syn::Macro) {}
    fn visit_angle_bracketed_generic_arguments(
        &mut self,
        _: &'ast syn::AngleBracketedGenericArguments,
    ) {
    }
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_expr_repeat(&mut self, e: &'ast syn::ExprRepeat) {
        self.visit_expr(&e.expr);
    }

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        if let Stmt::Expr(e, Some(_)) = stmt {
            let removable = match e {
                Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) | Expr::Try(_) => true,
                Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
                Expr::Binary(b) => matches!(
                    b.op,
                    BinOp::AddAssign(_)
                        | BinOp::SubAssign(_)
                        | BinOp::BitAndAssign(_)
                        | BinOp::BitOrAssign(_)
                        | BinOp::BitXorAssign(_)
                        | BinOp::ShlAssign(_)
                        | BinOp::ShrAssign(_)
                        | BinOp::MulAssign(_)
                ),
                _ => false,
            };
            if removable {
                let what = format!("`{}` is left out", short(self.of(stmt)));
                let slip = self.slip(stmt.span(), "statement", what);
                let range = self.range(stmt.span());
                self.put(range, Form::Stmt, slip, String::new());
            }
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        if let Some((_, guard)) = &arm.guard {
            if !has_let(guard) {
                self.replace(&**guard, "guard", "true".to_owned());
                self.replace(&**guard, "guard", "false".to_owned());
            }
            self.visit_expr(guard);
        }
        self.visit_expr(&arm.body);
    }

    fn visit_expr(&mut self, e: &'ast Expr) {
        match e {
            Expr::Binary(b) if !has_let(e) => self.binary(b),
            Expr::Unary(u) => match (&u.op, &*u.expr) {
                (UnOp::Neg(_), Expr::Lit(ExprLit { lit, .. })) => {
                    self.literal(e, lit, true);
                    return;
                }
                (UnOp::Not(_) | UnOp::Neg(_), inner) => {
                    let other = self.of(inner).to_owned();
                    self.replace(e, "unary", other);
                }
                _ => {}
            },
            Expr::Lit(l) => self.literal(e, &l.lit, false),
            Expr::Call(c) => {
                let name = self
                    .of(&*c.func)
                    .rsplit(':')
                    .next()
                    .unwrap_or("")
                    .to_owned();
                self.calls(e, &name, c.args.iter().collect(), None);
            }
            Expr::MethodCall(c) => {
                let name = c.method.to_string();
                self.calls(e, &name, c.args.iter().collect(), Some(&*c.receiver));
            }
            Expr::Match(m) => self.arms(&m.arms),
            _ => {}
        }
        visit::visit_expr(self, e);
    }
}
