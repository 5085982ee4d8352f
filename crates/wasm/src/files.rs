//! Dropped files, read from memory: a character with the files it refers to, or a motion.

use serde::Deserialize;
use supple::Character;
use supple::anatomy::person::file::EXTRAS;
use supple::anatomy::person::{Person, PersonFileError, read_person};
use supple::rig::character::Up;
use supple::rig::formats::{FormatError, ReadOptions, load_bytes, parse_unit};

/// Extensions of character files, the most complete format first.
const CHARACTERS: [&str; 10] = [
    "person", "ini", "glb", "gltf", "vrm", "fbx", "obj", "ply", "off", "stl",
];
/// Extensions of files with a mesh only.
const MESH_ONLY: [&str; 4] = ["obj", "ply", "off", "stl"];

/// A dropped file.
pub type File = (String, Vec<u8>);

/// Options for reading files, with the values of the command line. Empty: as declared in the file, or guessed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// "y" or "z".
    pub up: String,
    /// "m", "cm", …, or a number of metres.
    pub unit: String,
    /// Whether to compute weights even if the file has some.
    pub auto_weights: bool,
}

impl Reading {
    fn options(&self) -> Result<ReadOptions, FormatError> {
        let unknown = |what: &str, text: &str, allowed: &str| {
            FormatError::Unsupported(format!("`{text}` is not a valid {what}; use {allowed}"))
        };
        let up = match self.up.as_str() {
            "" => None,
            "y" => Some(Up::Y),
            "z" => Some(Up::Z),
            other => return Err(unknown("up axis", other, "\"y\" or \"z\"")),
        };
        let metres_per_unit = match self.unit.as_str() {
            "" => None,
            unit => Some(
                parse_unit(unit)
                    .map_err(|_| unknown("unit", unit, "\"m\", \"cm\", … or a number of metres"))?,
            ),
        };
        Ok(ReadOptions {
            metres_per_unit,
            up,
        })
    }
}

/// The layered person among dropped files, if there is one. It may be named `.glb`, for other programs.
pub fn read_layered(files: &[File]) -> Result<Option<Person>, PersonFileError> {
    let is_person = |(name, bytes): &&File| match extension(name).as_str() {
        "person" => true,
        "glb" => holds_person(bytes),
        _ => false,
    };
    let file = files.iter().find(is_person);
    file.map(|(_, bytes)| read_person(bytes)).transpose()
}

/// Whether the JSON of a GLB names what only person files have.
fn holds_person(glb: &[u8]) -> bool {
    let length = (glb.get(12..16))
        .and_then(|four| four.try_into().ok())
        .map_or(0, |four| u32::from_le_bytes(four) as usize);
    let json = glb.get(20..).unwrap_or_default();
    let json = &json[..length.min(json.len())];
    json.windows(EXTRAS.len())
        .any(|window| window == EXTRAS.as_bytes())
}

/// Reads a character from files dropped together: a mesh with its skeleton and motions, a glTF with its buffers.
pub fn read_character(files: &[File], reading: &Reading) -> Result<Character, FormatError> {
    let options = reading.options()?;
    let main = (CHARACTERS.iter())
        .find_map(|ending| files.iter().find(|file| extension(&file.0) == *ending))
        .or(files.first())
        .ok_or(FormatError::Empty("no file"))?;
    let resolve = |name: &str| find(files, name);
    if MESH_ONLY.contains(&extension(&main.0).as_str())
        && let Some(pieces) = pieces(files, main)
    {
        let mut character = load_bytes("pieces.ini", pieces.as_bytes(), &resolve, &options)?;
        character.name = stem(&main.0);
        return Ok(character);
    }
    load_bytes(&main.0, &main.1, &resolve, &options)
}

/// A mesh and its skeleton file as the text of an `.ini` file. Files are referred to by number, since that format does not allow
/// spaces in names.
fn pieces(files: &[File], mesh: &File) -> Option<String> {
    let number = |file: &File| files.iter().position(|other| std::ptr::eq(other, file));
    let skeleton = files.iter().find(|file| extension(&file.0) == "skel")?;
    let mut text = format!("SIMMESH {}.{}\n", number(mesh)?, extension(&mesh.0));
    text.push_str(&format!("SKELETON {}.skel\n", number(skeleton)?));
    for motion in files.iter().filter(|file| extension(&file.0) == "anim") {
        text.push_str(&format!("ANIMATION {}.anim\n", number(motion)?));
    }
    Some(text)
}

fn find(files: &[File], name: &str) -> Result<Vec<u8>, FormatError> {
    let last = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    let by_name = files.iter().find(|file| last(&file.0) == last(name));
    let by_number = || files.get(stem(name).parse::<usize>().ok()?);
    by_name
        .or_else(by_number)
        .map(|file| file.1.clone())
        .ok_or_else(|| {
            FormatError::Unsupported(format!(
                "it refers to the file `{name}`; drop both together"
            ))
        })
}

/// The file extension in lower case, without its dot.
pub fn extension(name: &str) -> String {
    name.rsplit_once('.')
        .map_or(String::new(), |(_, ending)| ending.to_ascii_lowercase())
}

/// The name without its extension.
pub fn stem(name: &str) -> String {
    name.rsplit_once('.')
        .map_or(name, |(stem, _)| stem)
        .to_owned()
}
