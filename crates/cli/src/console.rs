//! Terminal output: text, progress bars, JSON, errors.

use std::error::Error;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// An error for the user, with a hint.
#[derive(Debug)]
pub struct Failure {
    /// The error.
    pub error: Box<dyn Error>,
    /// What the user may try; may be empty.
    pub hint: String,
}

impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self {
            hint: crate::hints::hint(&error).to_owned(),
            error: Box::new(error),
        }
    }
}

/// An error that is only text.
#[derive(Debug)]
pub struct Plain(pub String);

impl std::fmt::Display for Plain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Plain {}

impl Failure {
    /// A failure from text, with a hint.
    pub fn new(text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            error: Box::new(Plain(text.into())),
            hint: hint.into(),
        }
    }
}

/// Output to the terminal.
pub struct Console {
    json: bool,
    quiet: bool,
}

impl Console {
    /// With JSON output, or with errors only.
    pub fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet }
    }

    /// Prints a line, unless `--json` or `--quiet` is set.
    pub fn say(&self, text: impl std::fmt::Display) {
        if !self.json && !self.quiet {
            print_line(&text.to_string());
        }
    }

    /// Prints notes to the error stream, so that they are not part of the result.
    pub fn notice(&self) -> Box<dyn Fn(&str) + Send> {
        let silent = self.json || self.quiet;
        Box::new(move |line| {
            if !silent {
                eprintln!("note: {line}");
            }
        })
    }

    /// Prints the result: text, or the value as JSON.
    pub fn result(&self, text: impl std::fmt::Display, value: &impl serde::Serialize) {
        if self.json {
            match serde_json::to_string_pretty(value) {
                Ok(json) => print_line(&json),
                Err(error) => eprintln!("error: {error}"),
            }
        } else {
            self.say(text);
        }
    }

    /// A progress bar over `steps`; hidden with `--json` and `--quiet`.
    pub fn progress(&self, what: &'static str, steps: usize) -> Progress {
        if self.json || self.quiet {
            return Progress(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(steps as u64);
        let style = ProgressStyle::with_template(
            "{msg:<22} {wide_bar:.cyan/dim} {percent:>3} % {eta:>4} left",
        );
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(500));
        Progress(bar)
    }

    /// Prints an error with its causes and hint.
    pub fn failure(&self, failure: &Failure) {
        let mut causes = vec![failure.error.to_string()];
        let mut source = failure.error.source();
        while let Some(cause) = source {
            let text = cause.to_string();
            if !causes.iter().any(|known| known.contains(&text)) {
                causes.push(text);
            }
            source = cause.source();
        }
        if self.json {
            let value = serde_json::json!({ "error": causes.join(": "), "hint": failure.hint });
            print_line(&value.to_string());
            return;
        }
        eprintln!("error: {}", causes.join("\n  because: "));
        if !failure.hint.is_empty() {
            eprintln!("   help: {}", failure.hint);
        }
    }
}

/// A progress bar that is cleared when dropped.
pub struct Progress(ProgressBar);

impl Progress {
    /// Advances by one step.
    pub fn step(&self) {
        self.0.inc(1);
    }

    /// Advances to a step, or stays where it is.
    pub fn reach(&self, step: u64) {
        if step > self.0.position() {
            self.0.set_position(step);
        }
    }

    /// Hides the bar while something is printed.
    pub fn suspend(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }

    /// Names the step that begins, and advances to it.
    pub fn tell(&self, what: &'static str) {
        self.0.set_message(what);
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Prints a line. A closed pipe (`supple info … | head`) ends the program without an error.
pub fn print_line(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{text}").is_err() {
        std::process::exit(0);
    }
}
