//! Checks many characters, and writes what was measured as a table and a picture.
//!
//! `cargo run --release -p supple-lab --example guests -- [--table FILE.md] [--picture FILE.png] [--quick] [NAME, FILE or FOLDER]…`
//!
//! Without names, files and folders: the made guests, the strangers and the embedded bodies. `tuned` and `kept` are the
//! strangers on which contact was tuned, and those that are only measured. With `--picture`, made guests are drawn; with
//! `--quick` the return to rest is left out. The program fails if a character fails.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use supple::Character;
use supple::rig::rigging::{fitted, is_bare};
use supple::rig::skinning::weights::automatic_rebinding;
use supple_lab::guests::{
    Guest, KEPT_FAMILIES, MAX_ADDED_DEPTH, MAX_FROM_BLEND, MAX_LEFT, MAX_OUTSIDE, Measure, Moved,
    NAMES, ODD_NAMES, Played, TUNED_FAMILIES, made, members, motions,
};
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
    is_quick: bool,
    /// Names of made guests.
    names: Vec<String>,
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
            "--quick" => result.is_quick = true,
            "tuned" => result.names.extend(members(&TUNED_FAMILIES)),
            "kept" => result.names.extend(members(&KEPT_FAMILIES)),
            name if made(name).is_some() => result.names.push(name.to_owned()),
            file if file.starts_with('@') => result.files.push(file.into()),
            file => add_files(file.as_ref(), &mut result.files)?,
        }
    }
    if result.names.is_empty() && result.files.is_empty() {
        let made = NAMES.into_iter().chain(ODD_NAMES).map(str::to_owned);
        result.names.extend(made);
        result.names.extend(members(&TUNED_FAMILIES));
        result.names.extend(members(&KEPT_FAMILIES));
        result.files = ["@male", "@female"].map(PathBuf::from).into();
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
    let mut counts = [Count::default(); 2];
    let mut add = |name: &str, character: Result<Character, String>, is_drawn: bool| {
        let pictures = is_drawn.then_some(&mut pictures);
        let measured = character.and_then(|c| measure(name, &c, arguments.is_quick, pictures));
        let line = match &measured {
            Ok(guest) => {
                for moved in &guest.motions {
                    counts[0].add(&moved.off, false);
                    counts[1].add(&moved.on, moved.added_depth() > MAX_ADDED_DEPTH);
                }
                row(name, guest)
            }
            Err(error) => format!("| {name} | | | | | | | | | {error} |\n"),
        };
        let holds = |guest: Guest| guest.complaints().is_empty() && guest.jerks().is_empty();
        failed += usize::from(!measured.is_ok_and(holds));
        print!("{line}");
        table += &line;
    };
    for name in &arguments.names {
        let character = made(name).ok_or_else(String::new);
        add(name, character, arguments.picture.is_some());
    }
    for file in &arguments.files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let character = supple::load(file).map_err(|error| error.to_string());
        let character = character.and_then(|character| match is_bare(&character) {
            true => rigged(&character).map_err(|error| error.to_string()),
            false => Ok(character.into_character()),
        });
        add(&name, character, false);
    }
    for (mode, count) in ["without contact", "with contact"].into_iter().zip(counts) {
        let line = count.told(mode);
        print!("\n{line}");
        table += &format!("\n{line}");
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
    is_quick: bool,
    pictures: Option<&mut Vec<(Image, String)>>,
) -> Result<Guest, String> {
    let told = |error: supple::tissue::TissueError| error.to_string();
    let clips = motions(character);
    let mut measure = Measure::new(character).map_err(told)?;
    if is_quick {
        measure = measure.quickly();
    }
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

/// Runs that are out of bounds, in one mode of contact.
#[derive(Clone, Copy, Default)]
struct Count {
    runs: usize,
    jerk: usize,
    far: usize,
    outside: usize,
    deeper: usize,
    left: usize,
    broken: usize,
}

impl Count {
    fn add(&mut self, played: &Played, is_deeper: bool) {
        self.runs += 1;
        self.jerk += usize::from(played.jerk() > 1.0);
        self.far += usize::from(played.from_blend > MAX_FROM_BLEND);
        self.outside += usize::from(played.outside > MAX_OUTSIDE);
        self.deeper += usize::from(is_deeper);
        self.left += usize::from(played.left > MAX_LEFT);
        self.broken += usize::from(!played.is_finite);
    }

    fn told(&self, mode: &str) -> String {
        format!(
            "{mode}: of {} runs {} jerk, {} go far from linear blend, {} leave their box, {} end deeper than without, {} do not \
             return, {} break off.\n",
            self.runs, self.jerk, self.far, self.outside, self.deeper, self.left, self.broken
        )
    }
}

const HEAD: &str = "\
| character | vertices | shells | size | bind pose | from linear blend | jerk | from rest after | depth | result |
|---|---|---|---|---|---|---|---|---|---|
";

/// A line of the table: the worst of all motions, without and with contact.
fn row(name: &str, guest: &Guest) -> String {
    let worst = |of: &dyn Fn(&Played) -> f32| {
        let of_mode = |mode: fn(&Moved) -> &Played| {
            let values = guest.motions.iter().map(|moved| of(mode(moved)));
            values.fold(0.0, f32::max)
        };
        (of_mode(|moved| &moved.off), of_mode(|moved| &moved.on))
    };
    let pair = |of: fn(&Played) -> f32, digits: usize| {
        let (off, on) = worst(&|played| 1e2 * of(played));
        format!("{off:.digits$} / {on:.digits$} %")
    };
    let (jerk_off, jerk_on) = worst(&Played::jerk);
    let mut complaints = guest.complaints();
    complaints.extend(guest.jerks());
    let result = match complaints.is_empty() {
        true => "holds".to_owned(),
        false => complaints.join("; "),
    };
    format!(
        "| {name} | {} | {} | {:.2} m | {:.5} % | {} | {jerk_off:.2} / {jerk_on:.2} | {} | {} | {result} |\n",
        guest.vertices,
        guest.shells,
        guest.size,
        1e2 * guest.in_bind,
        pair(|played| played.from_blend, 1),
        pair(|played| played.left, 3),
        pair(|played| played.depth, 2),
    )
}
