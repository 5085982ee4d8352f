//! `supple completions` and `supple man`

use std::path::Path;

use clap::CommandFactory;

use crate::args::Args;
use crate::console::Failure;

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "supple", &mut script);
    crate::console::print_line(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}

/// Writes all manual pages into a folder, or prints the main one.
pub fn pages(folder: Option<&Path>) -> Result<(), Failure> {
    match folder {
        Some(folder) => {
            std::fs::create_dir_all(folder)?;
            clap_mangen::generate_to(Args::command(), folder)?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Args::command()).render(&mut page)?;
            crate::console::print_line(String::from_utf8_lossy(&page).trim_end());
        }
    }
    Ok(())
}
