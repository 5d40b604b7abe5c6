//! Arguments of requests, with errors that name them.

use serde_json::Value;

use super::Refused;

/// An object of a request.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    /// What it is, for errors.
    of: &'a str,
    object: &'a Value,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(of: &'a str, object: &'a Value) -> Arguments<'a> {
        Arguments { of, object }
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn typed<T>(
        &self,
        name: &str,
        what: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Refused> {
        self.get(name)
            .map(|value| read(value).ok_or_else(|| self.wrong(name, what)))
            .transpose()
    }

    fn wrong(&self, name: &str, what: &str) -> Refused {
        Refused::from(format!("`{name}` of {} must be {what}", self.of))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&'a str>, Refused> {
        self.typed(name, "a string", Value::as_str)
    }

    pub(super) fn need_text(&self, name: &str) -> Result<&'a str, Refused> {
        let text = self.text(name)?;
        text.ok_or_else(|| self.wrong(name, "a string"))
    }

    pub(super) fn integer(&self, name: &str) -> Result<Option<i64>, Refused> {
        self.typed(name, "an integer", Value::as_i64)
    }

    /// A number from 0.
    pub(super) fn number(&self, name: &str) -> Result<Option<u32>, Refused> {
        let read = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
        self.typed(name, "an integer from 0", read)
    }

    pub(super) fn need_number(&self, name: &str) -> Result<u32, Refused> {
        let number = self.number(name)?;
        number.ok_or_else(|| self.wrong(name, "an integer from 0"))
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Refused> {
        let flag = self.typed(name, "true or false", Value::as_bool)?;
        Ok(flag.unwrap_or_default())
    }

    /// A flag that is `other` if it is missing.
    pub(super) fn get_or(&self, name: &str, other: bool) -> Result<bool, Refused> {
        match self.get(name) {
            Some(_) => self.flag(name),
            None => Ok(other),
        }
    }

    /// A list; empty if it is missing.
    pub(super) fn list(&self, name: &str) -> Result<&'a [Value], Refused> {
        let list = self.typed(name, "a list", |value| value.as_array())?;
        Ok(list.map_or(&[], |list| list))
    }

    /// A list of strings.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<&'a str>, Refused> {
        let all = self.list(name)?.iter().map(Value::as_str);
        let all: Option<Vec<_>> = all.collect();
        all.ok_or_else(|| self.wrong(name, "a list of strings"))
    }

    /// An object.
    pub(super) fn object(&self, name: &str, of: &'a str) -> Result<Arguments<'a>, Refused> {
        let object = self.typed(name, "an object", |value| {
            value.is_object().then_some(value)
        })?;
        let object = object.ok_or_else(|| self.wrong(name, "an object"))?;
        Ok(Arguments { of, object })
    }
}

/// The address that a reference is: hexadecimal, as all that were given out.
pub(super) fn address(reference: &str) -> Result<u64, Refused> {
    let digits = reference.strip_prefix("0x").unwrap_or_default();
    u64::from_str_radix(digits, 16)
        .map_err(|_| Refused::from(format!("`{reference}` is no address, such as 0x7f0010")))
}
