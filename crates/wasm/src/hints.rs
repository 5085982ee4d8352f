//! What may mend a problem of a file, in controls of the page.

use supple::rig::character::Remedy;

/// The controls that mend a problem, as a sentence.
pub fn remedy(remedy: Option<Remedy>) -> &'static str {
    match remedy {
        None => "",
        Some(Remedy::Unit) => " Set “Unit” on the Rig tab.",
        Some(Remedy::UnitAndUp) => " Override with “Unit” and “Up axis” on the Rig tab.",
        Some(Remedy::UpZ) => " Choose “Up axis: Z” on the Rig tab.",
        Some(Remedy::Weights) => " “Recompute weights” on the Rig tab computes new ones.",
        Some(Remedy::Scene) => " Open them one at a time.",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// No message of the libraries names an option or a command, which the page does not have.
    #[test]
    fn no_library_speaks_of_the_command_line() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut folders: Vec<_> = ["geom", "rig", "sim", "gpu", "flesh", "anatomy", "supple"]
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
                    if text.starts_with("//") || !text.contains('"') {
                        continue;
                    }
                    seen += 1;
                    let is_option = |at: usize| {
                        let next = text[at + 2..].chars().next();
                        let before = text[..at].chars().next_back();
                        next.is_some_and(|c| c.is_ascii_lowercase())
                            && before.is_none_or(|c| !c.is_alphanumeric() && c != '-')
                    };
                    let names_option = text.match_indices("--").any(|(at, _)| is_option(at));
                    let names_command = names_option || text.contains("`supple ");
                    // Written files say what made them.
                    let is_origin = text.contains("Made by");
                    assert!(!names_command || is_origin, "{}: {text}", path.display());
                }
            }
        }
        assert!(seen > 1000, "{seen} lines");
    }
}
