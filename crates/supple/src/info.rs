//! Contents of a character file, as text and as data.

use std::fmt;

use serde::Serialize;
use supple_geom::{TriMesh, shells::shells, weld::weld};
use supple_rig::character::{Remedy, Severity, Up};
use supple_rig::problem_groups::grouped;
use supple_rig::retarget::{BoneMap, Humanoid};
use supple_rig::skeleton::JointKind;
use supple_rig::{Character, inspect};

/// Contents of a character file.
#[derive(Clone, Debug, Serialize)]
pub struct Info {
    /// Name, from the file name.
    pub name: String,
    /// Height at rest \[m\].
    pub height_m: f32,
    /// Width, height and depth at rest \[m\].
    pub size_m: [f32; 3],
    /// Length of one unit of the file \[m\].
    pub metres_per_unit: f32,
    /// The file's up axis.
    pub up: char,
    /// Whether the file declares unit and axis; otherwise they are guessed.
    pub units_declared: bool,
    /// Vertices of all parts.
    pub vertices: usize,
    /// Triangles of all parts.
    pub triangles: usize,
    /// Number of vertices after welding seams.
    pub welded_vertices: usize,
    /// Number of connected shells after welding seams.
    pub shells: usize,
    /// All parts.
    pub parts: Vec<PartInfo>,
    /// Joints that move skin.
    pub bones: usize,
    /// Joints that move no skin.
    pub helpers: usize,
    /// Joints without a parent.
    pub roots: usize,
    /// Names of all joints, parents first.
    pub joints: Vec<String>,
    /// Number of humanoid bones recognised among the joints.
    pub humanoid_bones: usize,
    /// Whether a humanoid skeleton can be fitted to a mesh without one.
    pub fits_humanoid: bool,
    /// All clips.
    pub clips: Vec<ClipInfo>,
    /// Number of materials.
    pub materials: usize,
    /// What is unusual about the file.
    pub problems: Vec<ProblemInfo>,
}

/// A part.
#[derive(Clone, Debug, Serialize)]
pub struct PartInfo {
    /// Names of mesh and primitive.
    pub name: String,
    /// Vertices, in the file's order.
    pub vertices: usize,
    /// Triangles.
    pub triangles: usize,
    /// Number of joints that move it.
    pub joints: usize,
    /// Largest number of joints that move one vertex.
    pub influences: usize,
    /// Number of morph targets.
    pub morphs: usize,
}

/// A clip.
#[derive(Clone, Debug, Serialize)]
pub struct ClipInfo {
    /// Name in the file.
    pub name: String,
    /// Duration \[s\].
    pub seconds: f32,
    /// Largest number of keys on one track.
    pub keys: usize,
}

/// A problem of the file.
#[derive(Clone, Debug, Serialize)]
pub struct ProblemInfo {
    /// "note" or "warning".
    pub severity: &'static str,
    /// The part, joint or clip.
    pub place: String,
    /// What it is, and its effect.
    pub text: String,
    /// What may mend it.
    #[serde(skip)]
    pub remedy: Option<Remedy>,
}

/// Collects the contents of a character.
pub fn info(character: &Character) -> Info {
    let rest = character.bind_meshes();
    let whole = TriMesh::merged(&rest);
    let welded = weld(&whole, 0.0).mesh;
    let joints = character.skeleton.joints();
    let size = character
        .bounds()
        .map_or([0.0; 3], |(low, high)| (high - low).to_array());
    Info {
        name: character.name.clone(),
        height_m: character.height(),
        size_m: size,
        metres_per_unit: character.units.metres_per_unit,
        up: match character.units.up {
            Up::Y => 'y',
            Up::Z => 'z',
        },
        units_declared: character.units.declared,
        vertices: whole.positions.len(),
        triangles: whole.triangles.len(),
        welded_vertices: welded.positions.len(),
        shells: shells(&welded).count,
        parts: character.parts.iter().map(part_info).collect(),
        bones: joints
            .iter()
            .filter(|joint| joint.kind == JointKind::Bone)
            .count(),
        helpers: joints
            .iter()
            .filter(|joint| joint.kind == JointKind::Helper)
            .count(),
        roots: joints.iter().filter(|joint| joint.parent.is_none()).count(),
        joints: joints.iter().map(|joint| joint.name.clone()).collect(),
        humanoid_bones: Humanoid::find(&character.skeleton, &BoneMap::of(character))
            .map_or(0, |humanoid| humanoid.bones.len()),
        fits_humanoid: supple_rig::rigging::is_bare(character)
            && supple_rig::skeleton_fit::fit_humanoid(&whole, &Default::default()).is_ok(),
        clips: character.clips.iter().map(clip_info).collect(),
        materials: character.materials.len(),
        problems: problems(character),
    }
}

fn part_info(part: &supple_rig::Part) -> PartInfo {
    let influences = &part.binding.influences;
    PartInfo {
        name: part.name.clone(),
        vertices: part.mesh.positions.len(),
        triangles: part.mesh.triangles.len(),
        joints: part.binding.joints.len(),
        influences: (0..influences.len())
            .map(|vertex| influences.of(vertex).len())
            .max()
            .unwrap_or(0),
        morphs: part.morphs.len(),
    }
}

fn clip_info(clip: &supple_rig::Clip) -> ClipInfo {
    let joints = clip.tracks.iter().map(|track| track.times.len());
    let morphs = clip.morphs.iter().map(|track| track.times.len());
    ClipInfo {
        name: clip.name.clone(),
        seconds: clip.duration(),
        keys: joints.chain(morphs).max().unwrap_or(0),
    }
}

fn problems(character: &Character) -> Vec<ProblemInfo> {
    let mut problems = character.problems.clone();
    problems.extend(inspect::inspect(character).problems);
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
    let problems = grouped(problems);
    let in_words = |severity| match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
    };
    problems
        .into_iter()
        .map(|problem| ProblemInfo {
            severity: in_words(problem.severity),
            place: problem.place,
            text: problem.text,
            remedy: problem.remedy,
        })
        .collect()
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [width, height, depth] = self.size_m;
        writeln!(f, "{}", self.name)?;
        if self.vertices > 0 {
            writeln!(
                f,
                "  size      {height:.3} m tall, {width:.3} m wide, {depth:.3} m deep"
            )?;
        }
        let guessed = if self.units_declared {
            ""
        } else {
            " (guessed)"
        };
        writeln!(
            f,
            "  units     1 unit = {} m, {} up{guessed}",
            self.metres_per_unit, self.up
        )?;
        self.fmt_meshes(f)?;
        self.fmt_joints(f)?;
        match self.clips.len() {
            0 => writeln!(f, "  clips     none")?,
            _ => writeln!(f, "  clips     {}", self.clips.len())?,
        }
        for (index, clip) in self.clips.iter().enumerate() {
            let name = if clip.name.is_empty() {
                "(no name)"
            } else {
                &clip.name
            };
            writeln!(
                f,
                "    {index}: {name}, {:.2} s, {}",
                clip.seconds,
                count(clip.keys, "key")
            )?;
        }
        if self.problems.is_empty() {
            return write!(f, "  problems  none found");
        }
        write!(f, "  problems  {}", self.problems.len())?;
        for problem in &self.problems {
            let place = if problem.place.is_empty() {
                String::new()
            } else {
                format!("{}: ", problem.place)
            };
            write!(f, "\n    {}: {place}{}", problem.severity, problem.text)?;
        }
        Ok(())
    }
}

impl Info {
    fn fmt_meshes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.vertices == 0 {
            return writeln!(f, "  mesh      none");
        }
        writeln!(
            f,
            "  mesh      {} vertices ({} after welding), {}, {}, {}",
            self.vertices,
            self.welded_vertices,
            count(self.triangles, "triangle"),
            count(self.shells, "shell"),
            count(self.materials, "material"),
        )?;
        for part in &self.parts {
            let morphs = if part.morphs > 0 {
                format!(", {}", count(part.morphs, "morph target"))
            } else {
                String::new()
            };
            let skin = match part.influences {
                0 => "no weights".to_owned(),
                most => format!("{}, up to {most} per vertex", count(part.joints, "joint")),
            };
            writeln!(
                f,
                "    {}: {} vertices, {}, {skin}{morphs}",
                if part.name.is_empty() {
                    "mesh"
                } else {
                    &part.name
                },
                part.vertices,
                count(part.triangles, "triangle")
            )?;
        }
        Ok(())
    }

    fn fmt_joints(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.joints.is_empty() || self.fits_humanoid {
            let fit = match self.fits_humanoid {
                true => "; a humanoid skeleton is fitted when one is needed",
                false => "",
            };
            return writeln!(f, "  skeleton  none{fit}");
        }
        let humanoid = match self.humanoid_bones {
            0 => "not a humanoid".to_owned(),
            found => format!("{found} humanoid bones recognised"),
        };
        let roots = count(self.roots, "root");
        writeln!(
            f,
            "  skeleton  {}, {}, {roots}; {humanoid}",
            count(self.bones, "bone"),
            count(self.helpers, "helper")
        )
    }
}

fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
