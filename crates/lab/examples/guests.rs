//! Checks many characters, and writes what was measured as a table and a picture.
//!
//! `cargo run --release -p supple-lab --example guests -- [--table FILE.md] [--picture FILE.png] [FILE or FOLDER]…`
//!
//! Without files and folders: the made guests and the embedded bodies. With `--picture`, made guests are drawn. The
//! program fails if a character fails.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use supple::Character;
use supple::rig::rigging::{fitted, is_bare};
use supple::rig::skinning::weights::automatic_rebinding;
use supple_lab::guests::{Guest, Measure, Moved, NAMES, ODD_NAMES, Played, made, motions};
use supple_lab::sheet::{Look, Tile, picture};
use supple_picture::{Image, SheetStyle, contact_sheet};

/// Endings of files that are looked for in folders.
const ENDINGS: [&str; 4] = ["glb", "gltf", "vrm", "fbx"];
/// Width of a picture \[px\], pictures of a character, and pictures in a row.
const TILE: usize = 180;
const DRAWN_CLIPS: usize = 2;
const COLUMNS: usize = 8;

#[derive(Default)]
struct Arguments {
    table: Option<PathBuf>,
    picture: Option<PathBuf>,
    files: Vec<PathBuf>,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut result = Arguments::default();
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        let mut file = || given.next().map(PathBuf::from).ok_or("a file is missing");
        match argument.as_str() {
            "--table" => result.table = Some(file()?),
            "--picture" => result.picture = Some(file()?),
            _ => add_files(argument.as_ref(), &mut result.files)?,
        }
    }
    Ok(result)
}

/// A file, or all characters in a folder and those below it.
fn add_files(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort();
    for entry in entries {
        let ending = entry
            .extension()
            .map(|e| e.to_string_lossy().to_lowercase());
        if entry.is_dir() || ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) {
            add_files(&entry, files)?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("{failed} characters failed");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// A bare mesh with a fitted skeleton, and weights for linear blend skinning.
fn rigged(character: &Character) -> Result<Character, Box<dyn Error>> {
    let mut character = fitted(character, &Default::default())?;
    for part in 0..character.parts.len() {
        let binding = automatic_rebinding(&character, &character.parts[part])?;
        character.parts[part].binding = binding;
    }
    Ok(character)
}

/// The number of characters that failed.
fn run() -> Result<usize, Box<dyn Error>> {
    let arguments = arguments()?;
    let mut table = String::from(HEAD);
    print!("{HEAD}");
    let mut pictures = Vec::new();
    let mut failed = 0;
    let mut add = |name: &str, character: Result<Character, String>, is_drawn: bool| {
        let pictures = is_drawn.then_some(&mut pictures);
        let measured = character.and_then(|c| measure(name, &c, pictures));
        let line = match &measured {
            Ok(guest) => row(name, guest),
            Err(error) => format!("| {name} | | | | | | | | {error} |\n"),
        };
        failed += usize::from(!measured.is_ok_and(|guest| guest.complaints().is_empty()));
        print!("{line}");
        table += &line;
    };
    if arguments.files.is_empty() {
        for name in NAMES.into_iter().chain(ODD_NAMES) {
            add(
                name,
                made(name).ok_or_else(String::new),
                arguments.picture.is_some(),
            );
        }
    }
    let embedded = ["@male", "@female"].map(PathBuf::from);
    let files = match arguments.files.is_empty() {
        true => &embedded[..],
        false => &arguments.files,
    };
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let character = supple::load(file).map_err(|error| error.to_string());
        let character = character.and_then(|character| match is_bare(&character) {
            true => rigged(&character).map_err(|error| error.to_string()),
            false => Ok(character.into_character()),
        });
        add(&name, character, false);
    }
    if let Some(path) = arguments.table {
        std::fs::write(path, table)?;
    }
    if let Some(path) = arguments.picture {
        let style = SheetStyle::default();
        contact_sheet("Made guests, with contact", &pictures, COLUMNS, &style).save_png(path)?;
    }
    Ok(failed)
}

fn measure(
    name: &str,
    character: &Character,
    pictures: Option<&mut Vec<(Image, String)>>,
) -> Result<Guest, String> {
    let told = |error: supple::tissue::TissueError| error.to_string();
    let clips = motions(character);
    let mut measure = Measure::new(character).map_err(told)?;
    let guest = measure.all(&clips).map_err(told)?;
    if let Some(pictures) = pictures {
        for clip in clips.iter().take(DRAWN_CLIPS) {
            let positions = measure.at_half(clip).map_err(told)?;
            let tile = Tile {
                positions: &positions,
                ..Tile::default()
            };
            let look = Look {
                size: TILE,
                ..Look::default()
            };
            pictures.push((
                picture(character, &tile, &look),
                format!("{name}, {}", clip.name),
            ));
        }
    }
    Ok(guest)
}

const HEAD: &str = "\
| character | vertices | shells | size | bind pose | from linear blend | from rest after | depth | result |
|---|---|---|---|---|---|---|---|---|
";

/// A line of the table: the worst of all motions, without and with contact.
fn row(name: &str, guest: &Guest) -> String {
    let pair = |of: fn(&Played) -> f32, digits: usize| {
        let worst = |played: fn(&Moved) -> &Played| {
            let values = guest.motions.iter().map(|moved| of(played(moved)));
            1e2 * values.fold(0.0, f32::max)
        };
        let (off, on) = (worst(|moved| &moved.off), worst(|moved| &moved.on));
        format!("{off:.digits$} / {on:.digits$} %")
    };
    let complaints = guest.complaints();
    let result = match complaints.is_empty() {
        true => "holds".to_owned(),
        false => complaints.join("; "),
    };
    format!(
        "| {name} | {} | {} | {:.2} m | {:.5} % | {} | {} | {} | {result} |\n",
        guest.vertices,
        guest.shells,
        guest.size,
        1e2 * guest.in_bind,
        pair(|played| played.from_blend, 1),
        pair(|played| played.left, 3),
        pair(|played| played.depth, 2),
    )
}
