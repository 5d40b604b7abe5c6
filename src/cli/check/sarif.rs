//! Findings as a SARIF 2.1.0 log, which code hosts and editors read.

use serde_json::{Value, json};
use wavelift::check::{Place, Rule, Severity};

use super::reporting::{Reported, Results};

fn location(file: &str, routine: &str, place: &Place) -> Value {
    // The binary where there is no source line.
    let physical = match &place.line {
        Some((source, line)) => json!({
            "artifactLocation": { "uri": uri(source) },
            "region": { "startLine": line },
        }),
        None => json!({
            "artifactLocation": { "uri": uri(file) },
            "address": { "absoluteAddress": place.address },
        }),
    };
    json!({
        "physicalLocation": physical,
        "logicalLocations": [{ "name": routine, "kind": "function" }],
        "message": { "text": format!("{:#x}: {}", place.address, place.text) },
    })
}

/// A path as a relative reference: what is not allowed there is escaped.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

fn result(found: &Reported) -> Value {
    let mut result = json!({
        "ruleId": found.rule.id,
        "level": match found.severity {
            Severity::Finding => "error",
            Severity::Note => "note",
        },
        "message": { "text": found.why },
        "locations": [location(&found.file, &found.routine, &found.at)],
        "properties": { "codeObject": found.file, "target": found.target },
    });
    let launch = found.found.as_ref().and_then(|run| run.launch.as_ref());
    if let Some(launch) = launch {
        result["properties"]["process"] = launch.process.into();
        result["properties"]["launch"] = launch.number.into();
    }
    if let Some(other) = &found.other {
        result["relatedLocations"] = json!([location(&found.file, &found.routine, other)]);
    }
    result
}

fn rule(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.title },
        "fullDescription": { "text": format!("Source: {}", rule.source) },
        "properties": { "certainty": rule.certainty.name() },
    })
}

/// The log.
pub(super) fn log(results: &Results) -> Value {
    let mut rules: Vec<&Rule> = results.reported.iter().map(|found| found.rule).collect();
    rules.sort_by_key(|rule| rule.id);
    rules.dedup_by_key(|rule| rule.id);
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "wavelift check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.into_iter().map(rule).collect::<Vec<_>>(),
            }},
            "results": results.reported.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}
