//! The scans to work on: of a folder, of a list, or of a table with what is known of each person.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use supple_anatomy::Sex;
use supple_anatomy::person::export::file_name;
use supple_anatomy::person::{Given, GivenFat};

use super::PeopleError;

/// Endings of scans.
const ENDINGS: [&str; 10] = [
    "ply", "obj", "stl", "off", "glb", "gltf", "fbx", "xyz", "pts", "asc",
];
/// Folders in folders are searched this deep.
const DEEPEST: usize = 8;

/// One scan.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Name of the results, unique in the list.
    pub name: String,
    /// The scan.
    pub scan: PathBuf,
    /// Sex, if it is known.
    pub sex: Option<Sex>,
    /// What else is known.
    pub given: Given,
}

/// The scans of a folder (and the folders in it), of a text file with one path a line, or of a CSV. Paths are relative to the list.
pub fn tasks(path: &Path) -> Result<Vec<Task>, PeopleError> {
    let io = |source| PeopleError::Io {
        path: path.to_owned(),
        source,
    };
    let mut list = Vec::new();
    if path.is_dir() {
        let mut scans = Vec::new();
        collect(path, DEEPEST, &mut scans)?;
        scans.sort();
        list.extend(scans.into_iter().map(plain));
    } else {
        let text = std::fs::read_to_string(path).map_err(io)?;
        let text = text.trim_start_matches('\u{feff}');
        let folder = path.parent().unwrap_or(Path::new(""));
        let is_table = ending(path) == "csv";
        let read = if is_table { table } else { lines };
        list.extend(
            read(text, folder).map_err(|(line, reason)| PeopleError::Line {
                path: path.to_owned(),
                line,
                reason,
            })?,
        );
    }
    if list.is_empty() {
        return Err(PeopleError::NoScans {
            path: path.to_owned(),
        });
    }
    name_all(&mut list);
    Ok(list)
}

fn plain(scan: PathBuf) -> Task {
    Task {
        name: String::new(),
        scan,
        sex: None,
        given: Given::default(),
    }
}

fn ending(path: &Path) -> String {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    ending.to_ascii_lowercase()
}

fn collect(folder: &Path, depth: usize, scans: &mut Vec<PathBuf>) -> Result<(), PeopleError> {
    let io = |source| PeopleError::Io {
        path: folder.to_owned(),
        source,
    };
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let is_hidden = path
            .file_name()
            .is_none_or(|name| name.to_string_lossy().starts_with('.'));
        if is_hidden {
            continue;
        }
        if path.is_dir() {
            if depth > 0 {
                collect(&path, depth - 1, scans)?;
            }
        } else if ENDINGS.contains(&ending(&path).as_str()) {
            scans.push(path);
        }
    }
    Ok(())
}

type Lines = Result<Vec<Task>, (usize, String)>;

fn lines(text: &str, folder: &Path) -> Lines {
    let lines = text.lines().map(str::trim);
    Ok(
        (lines.filter(|line| !line.is_empty() && !line.starts_with('#')))
            .map(|line| plain(folder.join(line)))
            .collect(),
    )
}

/// A table with a header. Cells may be empty.
fn table(text: &str, folder: &Path) -> Lines {
    let cells = |line: &str| -> Vec<String> {
        let cell = |cell: &str| cell.trim().trim_matches('"').to_owned();
        line.split([',', ';']).map(cell).collect()
    };
    let mut lines = text.lines();
    let header = cells(lines.next().unwrap_or_default());
    let known = [
        "scan",
        "sex",
        "age",
        "height_cm",
        "weight_kg",
        "fat_percent",
        "fat_kg",
        "muscle_kg",
    ];
    let column = |name: &str| header.iter().position(|cell| cell == name);
    if column("scan").is_none() {
        let names = known.join(", ");
        return Err((
            1,
            format!("the table has no column 'scan'; known columns are {names}"),
        ));
    }
    let mut list = Vec::new();
    for (number, line) in lines.enumerate() {
        let number = number + 2;
        let row = cells(line);
        let cell = |name: &str| {
            let cell = column(name).and_then(|place| row.get(place));
            cell.filter(|cell| !cell.is_empty())
        };
        let Some(scan) = cell("scan") else {
            continue;
        };
        let value = |name: &str| match cell(name) {
            None => Ok(None),
            Some(text) => match text.parse::<f64>() {
                Ok(value) if value.is_finite() && value > 0.0 => Ok(Some(value)),
                _ => Err((
                    number,
                    format!("'{text}' is no {name}; leave the cell empty if it is unknown"),
                )),
            },
        };
        let sex = match cell("sex").map(|sex| sex.to_lowercase()).as_deref() {
            None => None,
            Some("male" | "m" | "man") => Some(Sex::Male),
            Some("female" | "f" | "woman") => Some(Sex::Female),
            Some(other) => {
                return Err((number, format!("'{other}' is no sex; use male or female")));
            }
        };
        let fat = match (value("fat_kg")?, value("fat_percent")?) {
            (Some(mass), _) => Some(GivenFat::Mass(mass)),
            (None, Some(percent)) => Some(GivenFat::Percent(percent)),
            (None, None) => None,
        };
        list.push(Task {
            sex,
            given: Given {
                age: value("age")?,
                height: value("height_cm")?.map(|cm| 0.01 * cm),
                weight: value("weight_kg")?,
                fat,
                muscle_mass: value("muscle_kg")?,
            },
            ..plain(folder.join(scan))
        });
    }
    Ok(list)
}

/// Names every scan by its file; those that share one also by their folder, their ending, or a number.
fn name_all(list: &mut [Task]) {
    let text =
        |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let stem = |path: &Path| file_name(&text(path.file_stem()));
    let foldered = |path: &Path| {
        let folder = path.parent().and_then(Path::file_name);
        file_name(&format!("{}_{}", text(folder), stem(path)))
    };
    let with_ending = |path: &Path| format!("{}_{}", foldered(path), ending(path));
    let ways: [&dyn Fn(&Path) -> String; 3] = [&stem, &foldered, &with_ending];
    let mut open: Vec<usize> = (0..list.len()).collect();
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for way in ways {
        let names: Vec<String> = open.iter().map(|&task| way(&list[task].scan)).collect();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for name in &names {
            *counts.entry(name.to_lowercase()).or_default() += 1;
        }
        let mut left = Vec::new();
        for (&task, name) in open.iter().zip(names) {
            let key = name.to_lowercase();
            if counts[&key] == 1 && !taken.contains_key(&key) {
                taken.insert(key, task);
                list[task].name = name;
            } else {
                left.push(task);
            }
        }
        open = left;
    }
    for task in open {
        let base = with_ending(&list[task].scan);
        let free = (2..).map(|number| format!("{base}_{number}"));
        let name = free
            .into_iter()
            .find(|name| !taken.contains_key(&name.to_lowercase()));
        let name = name.unwrap_or(base);
        taken.insert(name.to_lowercase(), task);
        list[task].name = name;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_lists_and_tables_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        for (name, text) in [
            ("b/anna.ply", ""),
            ("b/otto.obj", ""),
            ("a/anna.ply", ""),
            ("a/notes.txt", ""),
            ("a/.hidden.ply", ""),
            ("list.txt", "# ours\n\nb/otto.obj\na/anna.ply\n"),
            (
                "table.csv",
                "scan,sex,weight_kg,age\nb/otto.obj,male,81.5,\na/anna.ply,,,44\n",
            ),
        ] {
            std::fs::create_dir_all(here.join(name).parent().unwrap()).unwrap();
            std::fs::write(here.join(name), text).unwrap();
        }
        let names = |path: &str| -> Vec<String> {
            let list = tasks(&here.join(path)).unwrap();
            list.into_iter().map(|task| task.name).collect()
        };
        assert_eq!(names(""), ["a_anna", "b_anna", "otto"]);
        assert_eq!(names("list.txt"), ["otto", "anna"]);
        let table = tasks(&here.join("table.csv")).unwrap();
        assert_eq!(table[0].sex, Some(Sex::Male));
        assert_eq!(
            (table[0].given.weight, table[0].given.age),
            (Some(81.5), None)
        );
        assert_eq!(table[1].given.age, Some(44.0));
        assert!(matches!(
            tasks(&here.join("none")),
            Err(PeopleError::Io { .. })
        ));
        std::fs::write(here.join("table.csv"), "scan,weight_kg\nx.ply,heavy\n").unwrap();
        let error = tasks(&here.join("table.csv")).unwrap_err().to_string();
        assert!(
            error.contains("line 2") && error.contains("heavy"),
            "{error}"
        );
    }

    #[test]
    fn names_are_unique() {
        let mut list: Vec<Task> = ["x/a.ply", "x/a.obj", "y/a.ply", "y/b.ply", "x/a.ply"]
            .into_iter()
            .map(|path| plain(path.into()))
            .collect();
        name_all(&mut list);
        let mut names: Vec<&str> = list.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names[3], "b");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 5, "{names:?}");
    }
}
