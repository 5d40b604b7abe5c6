//! The metadata note as the YAML of an `.amdgpu_metadata` block.

use std::fmt::Write;

use rmpv::Value;

/// The note's contents as YAML lines; `None` if they are not valid MessagePack.
pub(super) fn yaml(note: &[u8]) -> Option<String> {
    let mut rest = note;
    let value = rmpv::decode::read_value(&mut rest).ok()?;
    let mut out = String::new();
    block(&mut out, &value, 0, true);
    Some(out)
}

/// Is the value written on one line?
fn is_inline(value: &Value) -> bool {
    match value {
        Value::Array(values) => values
            .iter()
            .all(|value| !matches!(value, Value::Array(_) | Value::Map(_) | Value::String(_))),
        Value::Map(entries) => entries.is_empty(),
        _ => true,
    }
}

/// A value on lines of its own. `fresh`: the cursor is at the beginning of a line.
fn block(out: &mut String, value: &Value, depth: usize, fresh: bool) {
    let mut fresh = fresh;
    let mut indent = |out: &mut String| {
        if fresh {
            out.push_str(&"  ".repeat(depth));
        }
        fresh = true;
    };
    match value {
        Value::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                indent(out);
                scalar(out, key);
                out.push(':');
                if is_inline(value) {
                    out.push(' ');
                    scalar(out, value);
                    out.push('\n');
                } else {
                    out.push('\n');
                    block(out, value, depth + 1, true);
                }
            }
        }
        Value::Array(values) if !is_inline(value) => {
            for value in values {
                indent(out);
                out.push_str("- ");
                if is_inline(value) {
                    scalar(out, value);
                    out.push('\n');
                } else {
                    block(out, value, depth + 1, false);
                }
            }
        }
        value => {
            indent(out);
            scalar(out, value);
            out.push('\n');
        }
    }
}

fn scalar(out: &mut String, value: &Value) {
    let written = match value {
        Value::String(text) => {
            let text = String::from_utf8_lossy(text.as_bytes());
            string(out, &text);
            Ok(())
        }
        Value::Array(values) => {
            out.push('[');
            for (i, value) in values.iter().enumerate() {
                if i != 0 {
                    out.push_str(", ");
                }
                scalar(out, value);
            }
            out.push(']');
            Ok(())
        }
        Value::Map(_) => write!(out, "{{}}"),
        Value::Nil => write!(out, "~"),
        Value::Binary(_) | Value::Ext(..) => write!(out, "''"),
        value => write!(out, "{value}"),
    };
    written.expect("writing to a string does not fail");
}

/// A string, quoted where YAML would parse something else.
fn string(out: &mut String, text: &str) {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ' ');
    let starts_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '.' || c == '_');
    let word = matches!(
        text,
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "."
    );
    if starts_plain && !word && text.chars().all(plain) && !text.ends_with(' ') {
        out.push_str(text);
    } else if text.chars().any(char::is_control) {
        write!(out, "\"{}\"", text.escape_default()).expect("writing to a string does not fail");
    } else {
        out.push('\'');
        out.push_str(&text.replace('\'', "''"));
        out.push('\'');
    }
}
