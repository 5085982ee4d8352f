//! Messages in the words of the page. The libraries' messages name options of the command line, which the page shows as controls.

/// Options and commands of the command line, and what does the same on the page.
const WORDS: [(&str, &str); 9] = [
    (
        "`supple person` writes one",
        "“See inside” on the Anatomy tab makes one of a scan",
    ),
    ("`--unit`", "“Unit” on the Rig tab"),
    ("`--up z`", "“Up axis: Z” on the Rig tab"),
    ("`--up`", "“Up axis” on the Rig tab"),
    ("`--auto-weights`", "“Recompute weights” on the Rig tab"),
    (
        "`supple info --joints` lists its joints",
        "the Rig tab lists its joints",
    ),
    (
        "`supple info --shells` lists all shells",
        "the Tissue tab lists all parts",
    ),
    (
        "combine them with `supple scene`",
        "open them one at a time",
    ),
    ("`supple ", "`"),
];

/// A message without options of the command line. One that has no control here is shown by its plain name.
pub fn page_words(text: &str) -> String {
    let mut text = text.to_owned();
    for (option, control) in WORDS {
        text = text.replace(option, control);
    }
    text.replace("`--", "`")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::page_words;

    #[test]
    fn persons_are_made_on_the_page() {
        let error = supple::anatomy::person::read_person(b"none").unwrap_err();
        let words = page_words(&error.to_string());
        assert!(
            words.contains("See inside") && !words.contains('`'),
            "{words}"
        );
    }

    #[test]
    fn options_become_controls() {
        let text = "Assumed cm and Y up. Override with `--unit` and `--up`; see `--other 3`.";
        assert_eq!(
            page_words(text),
            "Assumed cm and Y up. Override with “Unit” on the Rig tab and “Up axis” on the Rig tab; see `other 3`."
        );
    }

    /// No message of the libraries reaches the page with a command in it.
    #[test]
    fn every_message_is_in_the_pages_words() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut folders: Vec<_> = ["geom", "rig", "sim", "flesh", "supple"]
            .map(|name| crates.join(name).join("src"))
            .into();
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                for line in fs::read_to_string(&path).unwrap().lines() {
                    let text = line.trim_start();
                    let names_command = text.contains("`--") || text.contains("`supple ");
                    if !text.starts_with('"') || !names_command {
                        continue;
                    }
                    seen += 1;
                    let words = page_words(text);
                    let clean = !words.contains("--") && !words.contains("`supple");
                    assert!(clean, "{}: {words}", path.display());
                    assert!(
                        words != text.replace("`--", "`"),
                        "{}: {text}",
                        path.display()
                    );
                }
            }
        }
        assert!(seen > 8, "{seen} messages");
    }
}
