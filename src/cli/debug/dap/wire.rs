//! Messages: a header with the length, an empty line, JSON.

use std::io::{self, BufRead as _, BufReader, Read};

use serde_json::{Value, json};

/// Most bytes of a message. Requests are small; only what is written to memory is larger.
const MAX_MESSAGE: usize = 16 << 20;

/// Most bytes of a line of a header.
const MAX_LINE: u64 = 1024;

/// Most lines of a header.
const MAX_LINES: usize = 32;

/// What is no message.
#[derive(Debug, thiserror::Error)]
pub(super) enum Damaged {
    #[error("a message cannot be read: {0}")]
    Read(#[from] io::Error),
    #[error("a header ends early")]
    Header,
    #[error("a header has a line of more than {MAX_LINE} bytes or more than {MAX_LINES} lines")]
    LongHeader,
    #[error("a header has no valid Content-Length")]
    Length,
    #[error("a message of {0} bytes is larger than {MAX_MESSAGE}")]
    Long(usize),
    #[error("a message ends early: it is to have {wanted} bytes and has {got}")]
    Short { wanted: usize, got: usize },
    #[error("a message is no JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Reads messages.
pub(super) struct Reader<R>(BufReader<R>);

impl<R: Read> Reader<R> {
    pub(super) fn new(input: R) -> Reader<R> {
        Reader(BufReader::new(input))
    }

    /// The next message; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Value>, Damaged> {
        let mut length = None;
        for number in 0..=MAX_LINES {
            let mut line = Vec::new();
            let read = (&mut self.0).take(MAX_LINE).read_until(b'\n', &mut line)?;
            if read == 0 && number == 0 {
                return Ok(None);
            }
            if line.last() != Some(&b'\n') {
                let long = read as u64 == MAX_LINE;
                return Err(if long {
                    Damaged::LongHeader
                } else {
                    Damaged::Header
                });
            }
            let line = String::from_utf8_lossy(&line);
            match line.trim_end().split_once(':') {
                _ if line.trim_end().is_empty() => {
                    let length: usize = length.ok_or(Damaged::Length)?;
                    return self.body(length).map(Some);
                }
                Some((name, value)) if name.eq_ignore_ascii_case("Content-Length") => {
                    length = Some(value.trim().parse().map_err(|_| Damaged::Length)?);
                }
                _ => {}
            }
        }
        Err(Damaged::LongHeader)
    }

    fn body(&mut self, wanted: usize) -> Result<Value, Damaged> {
        if wanted > MAX_MESSAGE {
            return Err(Damaged::Long(wanted));
        }
        let mut bytes = Vec::new();
        let got = (&mut self.0).take(wanted as u64).read_to_end(&mut bytes)?;
        if got < wanted {
            return Err(Damaged::Short { wanted, got });
        }
        Ok(serde_json::from_slice(&bytes)?)
    }
}

/// Sends a whole message; `false` if the client is gone.
pub(super) type Send<'o> = dyn FnMut(&str) -> anyhow::Result<bool> + 'o;

/// Sends messages, with their numbers.
pub(super) struct Writer<'o, 's> {
    send: &'o mut Send<'s>,
    number: u64,
    pub(super) gone: bool,
}

impl<'o, 's> Writer<'o, 's> {
    pub(super) fn new(send: &'o mut Send<'s>) -> Writer<'o, 's> {
        Writer {
            send,
            number: 0,
            gone: false,
        }
    }

    fn message(&mut self, mut message: Value) -> anyhow::Result<()> {
        self.number += 1;
        message["seq"] = self.number.into();
        let text = message.to_string();
        let sent = (self.send)(&format!("Content-Length: {}\r\n\r\n{text}", text.len()))?;
        self.gone |= !sent;
        Ok(())
    }

    /// Answers a request.
    pub(super) fn respond(
        &mut self,
        request: &Value,
        result: Result<Value, String>,
    ) -> anyhow::Result<()> {
        let mut response = json!({
            "type": "response",
            "request_seq": request["seq"],
            "command": request["command"],
            "success": result.is_ok(),
        });
        match result {
            Ok(body) => response["body"] = body,
            Err(message) => {
                // Braces in it would be names of variables.
                let error = json!({"id": 1, "format": "{message}", "variables": {"message": message}, "showUser": true});
                response["message"] = message.into();
                response["body"] = json!({ "error": error });
            }
        }
        self.message(response)
    }

    /// Tells of an event.
    pub(super) fn event(&mut self, event: &str, body: Value) -> anyhow::Result<()> {
        self.message(json!({"type": "event", "event": event, "body": body}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Option<Value>, Damaged> {
        Reader::new(text).next()
    }

    #[test]
    fn messages_follow_one_another() {
        let text = b"Content-Length: 2\r\n\r\n{}content-length:  7 \r\nX: y\r\n\r\n{\"a\":1}";
        let mut reader = Reader::new(&text[..]);
        assert_eq!(reader.next().unwrap(), Some(json!({})));
        assert_eq!(reader.next().unwrap(), Some(json!({"a": 1})));
        assert_eq!(reader.next().unwrap(), None);
    }

    #[test]
    fn damaged_messages_say_why() {
        let error = |text: &[u8]| read(text).unwrap_err().to_string();
        assert_eq!(error(b"Content-Len"), "a header ends early");
        assert_eq!(error(b"\r\n{}"), "a header has no valid Content-Length");
        assert_eq!(
            error(b"Content-Length: -1\r\n\r\n"),
            "a header has no valid Content-Length"
        );
        assert_eq!(
            error(b"Content-Length: 99999999999\r\n\r\n"),
            "a message of 99999999999 bytes is larger than 16777216"
        );
        assert_eq!(
            error(b"Content-Length: 9\r\n\r\n{}"),
            "a message ends early: it is to have 9 bytes and has 2"
        );
        assert!(error(b"Content-Length: 2\r\n\r\n{]").starts_with("a message is no JSON: "));
        let long = "a header has a line of more than 1024 bytes or more than 32 lines";
        assert_eq!(error(&[b'a'; 5000]), long);
        assert_eq!(error("a: b\r\n".repeat(50).as_bytes()), long);
    }
}
