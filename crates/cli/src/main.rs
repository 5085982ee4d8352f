//! The `supple` command line: one file per subcommand, no logic of its own.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod console;
mod hints;
mod output;

use clap::Parser;

fn main() -> std::process::ExitCode {
    let args = args::Args::parse();
    let console = console::Console::new(args.json, args.quiet);
    match commands::run(&args.command, &console) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(failure) => {
            console.failure(&failure);
            std::process::ExitCode::FAILURE
        }
    }
}
