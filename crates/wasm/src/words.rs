//! Messages in the words of the page. The libraries' messages name options of the command line, which the page shows as controls.

/// Options and commands of the command line, and what does the same on the page.
const WORDS: [(&str, &str); 8] = [
    ("`--unit`", "“Unit” on the Rig tab"),
    ("`--up z`", "“Up axis: Z” on the Rig tab"),
    ("`--up`", "“Up axis” on the Rig tab"),
    ("`--auto-weights`", "“Recompute weights” on the Rig tab"),
    (
        "`supple info --joints` lists its joints",
        "the Rig tab lists its joints",
    ),
    (
        "`supple init` writes all names under [shells]",
        "click a part to see its name",
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
    use super::page_words;

    #[test]
    fn options_become_controls() {
        let text = "Assumed cm and Y up. Override with `--unit` and `--up`; see `--other 3`.";
        assert_eq!(
            page_words(text),
            "Assumed cm and Y up. Override with “Unit” on the Rig tab and “Up axis” on the Rig tab; see `other 3`."
        );
    }
}
