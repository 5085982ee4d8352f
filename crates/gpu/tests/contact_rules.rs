//! The table of docs/method/contact.md has every constant of contact, with its value.

use std::path::Path;

/// Files whose public constants are rules.
const SOURCES: [&str; 2] = ["sim/src/contact/rules.rs", "gpu/src/contact_rules.rs"];
/// Constants of the device's tables, which change no result.
const LAYOUT: [&str; 2] = ["COEFFICIENT_UNITS", "NONE"];

/// A number, or a quotient of two.
fn value(text: &str) -> Option<f64> {
    let mut parts = text.split('/').map(|part| {
        let digits = part.trim().replace(['_', '\u{2009}'], "");
        digits.replace('−', "-").parse::<f64>().ok()
    });
    let first = parts.next()??;
    parts.try_fold(first, |all, part| Some(all / part?))
}

#[test]
fn the_table_has_every_rule() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = crates.join("../docs/method/contact.md");
    let Ok(page) = std::fs::read_to_string(page) else {
        assert!(std::env::var_os("CI").is_none(), "the page is required");
        println!("skipped: docs/ is not here");
        return;
    };
    let mut count = 0;
    for source in SOURCES {
        let text = std::fs::read_to_string(crates.join(source)).expect("a source file");
        for line in text.lines().filter_map(|l| l.strip_prefix("pub const ")) {
            let (name, rest) = line.split_once(": ").expect("a type");
            if LAYOUT.contains(&name) {
                continue;
            }
            let (_, number) = rest.split_once(" = ").expect("a value");
            let number = value(number.trim_end_matches(';'));
            let row = page
                .lines()
                .find(|l| l.starts_with(&format!("| `{name}` |")));
            let row = row.unwrap_or_else(|| panic!("{name} is not in the table"));
            let told = row.split('|').nth(2).expect("a value");
            let same = value(told)
                .zip(number)
                .is_some_and(|(a, b)| (a - b).abs() < 1e-6 * b.abs());
            assert!(same, "{name} is {number:?}, not {told}");
            count += 1;
        }
    }
    assert!(count > 30, "{count} rules");
}
