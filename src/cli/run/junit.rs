//! A JUnit report: a test case for each manifest.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use runtime::foreign;

use super::several::Outcome;

/// Writes a report.
pub(super) fn write(out: impl Write, outcomes: &[Outcome]) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let count = |kind: &str| {
        outcomes
            .iter()
            .filter(|outcome| outcome.kind() == kind)
            .count()
    };
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
    let mut suites = BytesStart::new("testsuites");
    let mut suite = BytesStart::new("testsuite");
    suite.push_attribute(("name", "wavelift"));
    for element in [&mut suites, &mut suite] {
        for (key, value) in [
            ("tests", outcomes.len().to_string()),
            ("failures", count("failure").to_string()),
            ("errors", count("error").to_string()),
            ("time", format!("{seconds:.6}")),
        ] {
            element.push_attribute((key, value.as_str()));
        }
    }
    xml.write_event(Event::Start(suites))?;
    xml.write_event(Event::Start(suite))?;
    for outcome in outcomes {
        let mut case = BytesStart::new("testcase");
        case.push_attribute(("name", foreign::lines(&outcome.name).as_str()));
        case.push_attribute(("classname", "wavelift.run"));
        case.push_attribute(("time", format!("{:.6}", outcome.seconds).as_str()));
        let message = outcome.message();
        if message.is_empty() {
            xml.write_event(Event::Empty(case))?;
            continue;
        }
        xml.write_event(Event::Start(case))?;
        // XML does not have most control characters.
        let message = foreign::lines(&message);
        let kind = outcome.kind();
        let mut failure = BytesStart::new(kind);
        failure.push_attribute(("message", message.lines().next().unwrap_or_default()));
        xml.write_event(Event::Start(failure))?;
        xml.write_event(Event::Text(BytesText::new(&message)))?;
        xml.write_event(Event::End(BytesEnd::new(kind)))?;
        xml.write_event(Event::End(BytesEnd::new("testcase")))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuite")))?;
    xml.write_event(Event::End(BytesEnd::new("testsuites")))?;
    writeln!(xml.get_mut())
}
