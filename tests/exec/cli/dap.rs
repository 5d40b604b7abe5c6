//! `wavelift debug --dap`: sessions of Microsoft's client library for the Debug Adapter Protocol, where Node.js is there
//! (`tests/dap`), and messages that no client sends.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Outcome, folder, root, wavelift, wavelift_with_input};

/// Does a program start? In CI it must.
fn is_there(program: &str) -> bool {
    let started = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    let there = started.is_ok_and(|status| status.success());
    let required = std::env::var("WAVELIFT_NODE").is_ok_and(|value| value == "required");
    assert!(there || !required, "missing: {program}");
    if !there {
        eprintln!("SKIPPED, since there is no {program}: apt-get install nodejs npm");
    }
    there
}

#[test]
fn a_client_library_drives_sessions() {
    if !is_there("node") || !is_there("npm") {
        return;
    }
    let home = folder("dap");
    for file in [
        "package.json",
        "package-lock.json",
        "session.test.js",
        "adapter.sh",
    ] {
        std::fs::copy(root().join("tests/dap").join(file), home.join(file))
            .expect("it can be copied");
    }
    let installed = Command::new("npm")
        .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
        .current_dir(&home)
        .output()
        .expect("npm starts");
    if !installed.status.success() {
        let why = String::from_utf8_lossy(&installed.stderr);
        let required = std::env::var("WAVELIFT_NODE").is_ok_and(|value| value == "required");
        assert!(!required, "{why}");
        eprintln!("SKIPPED, since npm cannot install the client: {why}");
        return;
    }
    let run = Command::new("node")
        .args(["--test", "--test-concurrency=1"])
        .arg(home.join("session.test.js"))
        .env("WAVELIFT_PROGRAM", env!("CARGO_BIN_EXE_wavelift"))
        .current_dir(root())
        .output()
        .expect("node starts");
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{text}");
    let passed = text.lines().find_map(|line| line.strip_prefix("# pass "));
    let passed = passed.or_else(|| text.lines().find_map(|line| line.strip_prefix("ℹ pass ")));
    assert_eq!(passed, Some("11"), "{text}");
}

/// A message as it is sent.
fn framed(message: &Value) -> String {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len())
}

/// The messages in an adapter's output.
fn messages(output: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut rest = output;
    while let Some((header, behind)) = rest.split_once("\r\n\r\n") {
        let length = header.strip_prefix("Content-Length: ").expect("a header");
        let (body, next) = behind.split_at(length.parse().expect("a length"));
        all.push(serde_json::from_str(body).expect("JSON"));
        rest = next;
    }
    assert_eq!(rest, "");
    all
}

/// An adapter that gets these requests, numbered from 1.
fn session(requests: &[(&str, Value)]) -> (Outcome, Vec<Value>) {
    let mut input = String::new();
    for (number, (command, arguments)) in (1..).zip(requests) {
        let request =
            json!({"seq": number, "type": "request", "command": command, "arguments": arguments});
        input += &framed(&request);
    }
    let outcome = wavelift_with_input(&["debug", "--dap"], &input);
    let all = messages(&outcome.stdout);
    (outcome, all)
}

#[test]
fn messages_that_are_damaged_end_the_session() {
    let framed = |message: Value| framed(&message);
    for (input, error) in [
        ("nonsense".to_owned(), "the input ends within a message"),
        ("\r\n".to_owned(), "a header without `Content-Length: N`"),
        (
            "a".repeat(5000),
            "a line of the header is longer than 4096 bytes",
        ),
        ("a: b\r\n".repeat(50), "or there are more than 16"),
        (
            "Content-Length: -1\r\n\r\n".to_owned(),
            "is no line of a header",
        ),
        (
            "Content-Length: 5\r\n\r\n{}".to_owned(),
            "the input ends within a message",
        ),
        (
            "Content-Length: 99999999999999\r\n\r\n".to_owned(),
            "67108864 are the most",
        ),
        (
            "Content-Length: 3\r\n\r\nabc".to_owned(),
            "a message that is no JSON",
        ),
        (framed(json!([])), "a message that is no request"),
        (
            framed(json!({"seq": 1, "type": "wish"})),
            "a message of type `wish`",
        ),
        (
            framed(json!({"seq": 1, "type": "request"})),
            "a request without a command",
        ),
    ] {
        let outcome = wavelift_with_input(&["debug", "--dap"], &input);
        assert_eq!(outcome.status, 2, "{error}");
        assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(error), "{}", outcome.stderr);
        let told = messages(&outcome.stdout);
        assert!(
            told[0]["body"]["output"]
                .as_str()
                .is_some_and(|it| it.contains(error)),
            "{told:?}"
        );
        assert_eq!(told[1]["event"], "terminated");
    }
}

#[test]
fn json_of_any_shape_is_answered_or_left() {
    let program = "examples/saxpy/saxpy.gfx900.toml";
    let shapes = [
        json!(null),
        json!(7),
        json!("x"),
        json!([1, {}]),
        json!({"threadId": -1, "frameId": 1e99}),
    ];
    let commands = [
        "initialize",
        "setBreakpoints",
        "setFunctionBreakpoints",
        "setInstructionBreakpoints",
        "setDataBreakpoints",
        "dataBreakpointInfo",
        "setExceptionBreakpoints",
        "breakpointLocations",
        "exceptionInfo",
        "threads",
        "stackTrace",
        "scopes",
        "variables",
        "setVariable",
        "setExpression",
        "evaluate",
        "source",
        "loadedSources",
        "disassemble",
        "readMemory",
        "writeMemory",
        "continue",
        "next",
        "stepIn",
        "stepOut",
        "stepBack",
        "reverseContinue",
        "pause",
    ];
    let mut requests = vec![
        ("initialize", json!({})),
        ("launch", json!({"program": program, "stopOnEntry": true})),
    ];
    for shape in &shapes {
        requests.extend(commands.iter().map(|command| (*command, shape.clone())));
    }
    requests.push(("configurationDone", json!({})));
    for shape in &shapes {
        requests.extend(commands.iter().map(|command| (*command, shape.clone())));
    }
    requests.push(("threads", json!({})));
    let (outcome, messages) = session(&requests);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    let responses: Vec<&Value> = messages
        .iter()
        .filter(|it| it["type"] == "response")
        .collect();
    assert_eq!(responses.len(), requests.len());
    for (response, (number, (command, _))) in responses.iter().zip((1..).zip(&requests)) {
        assert_eq!(response["request_seq"], number);
        assert_eq!(response["command"], *command);
        assert!(
            response["success"] == true || response["message"].is_string(),
            "{response}"
        );
    }
    let threads = responses.last().expect("there are some");
    assert_eq!(
        threads["body"]["threads"][0]["name"],
        "wave 0 of workgroup (0,0,0)"
    );
    // A response is ignored.
    let response = framed(&json!({"seq": 1, "type": "response", "request_seq": 7}));
    let outcome = wavelift_with_input(&["debug", "--dap"], &response);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, ""));
}

#[test]
fn a_client_that_leaves_stops_the_program() {
    let program = "tests/kernels/faults/faults.gfx900.co";
    let launch =
        json!({"program": program, "kernel": "endless", "grid": 64, "args": ["bytes:64", 0]});
    // The end of the input is behind the request that starts it.
    let (outcome, messages) = session(&[
        ("initialize", json!({})),
        ("launch", launch),
        ("configurationDone", json!({})),
    ]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    let last = messages.last().expect("there are some");
    assert_eq!(
        (&last["command"], &last["success"]),
        (&json!("configurationDone"), &json!(true))
    );
}

#[test]
fn the_options_of_the_command_line_are_checked() {
    let outcome = wavelift(&["debug", "--dap=door"]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .stderr
            .contains("invalid value 'door' for '--dap[=<PORT>]'"),
        "{}",
        outcome.stderr
    );
    let outcome = wavelift(&["debug", "--dap", "-e", "step"]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.stderr.contains("cannot be used with"),
        "{}",
        outcome.stderr
    );
    let outcome = wavelift(&["debug"]);
    assert_eq!(outcome.status, 2);
    assert!(outcome.stderr.contains("<FILE>"), "{}", outcome.stderr);
}
