//! Layered people: bodies steered through the body space, templates fitted into them, drawings.

pub mod gallery;

use supple::anatomy::body_model::BodyModel;
use supple::anatomy::composition::{Composition, Known, Regressors, Tape, composition};
use supple::anatomy::person::crotch::crotch;
use supple::anatomy::person::muscle_fit::MuscleRange;
use supple::anatomy::person::{
    FitReport, FitTemplate, MassReport, PersonFit, PersonSkin, Transfer, fitted_masses,
    fitted_person, fitted_skeleton, muscle_range, scaled_template,
};
use supple::anatomy::{LayeredBody, Layers, Sex};
use supple::embedded::{Body, template};
use supple::geom::TriMesh;
use supple::glam::{DVec3, Vec3};
use supple_lab::template_sheet::muscle_red;
use supple_picture::{Camera, Colour, DrawMesh, Ground, Image, Lens, Scene, hex, render};

/// Colour of tendons.
const TENDON: Vec3 = hex(0xe9ddd0);
/// Colour of the muscle surface.
pub const MUSCLE: Vec3 = hex(0xb8564a);
/// Colour of skin.
pub const SKIN: Vec3 = hex(0xdeb39c);
/// Colour of bones.
pub const IVORY: Vec3 = hex(0xefe5cc);

/// Corrections of the volume until the body mass index is met.
const CORRECTIONS: usize = 5;

/// A template with what its people share.
pub struct Mould {
    pub template: LayeredBody,
    pub transfer: Transfer,
    tape: Tape,
    model: &'static BodyModel,
}

/// Somebody's skin in the template's pose, and what it is made of.
pub struct Someone {
    pub skin: Vec<Vec3>,
    pub joints: Vec<Vec3>,
    pub coefficients: Vec<f64>,
    pub made_of: Composition,
}

/// Muscles that somebody may have, and those that were chosen by mass.
pub struct WeighedLayers {
    pub skeleton: Vec<Vec3>,
    pub range: MuscleRange,
    pub muscle: Vec<Vec3>,
    pub report: MassReport,
}

impl Someone {
    pub fn skin(&self) -> PersonSkin<'_> {
        PersonSkin {
            skin: &self.skin,
            joints: &self.joints,
        }
    }

    /// Estimated mass of fat and of muscle \[kg\].
    pub fn masses(&self) -> (f64, f64) {
        let Composition {
            fat_mass,
            muscle_mass,
            ..
        } = &self.made_of;
        (fat_mass.value, muscle_mass.value)
    }
}

impl Mould {
    pub fn new(which: Body) -> Self {
        let template = template(which).unwrap();
        Mould {
            transfer: Transfer::of_template(&template).unwrap(),
            tape: Tape::new(&template.body).unwrap(),
            model: BodyModel::embedded(template.body.sex),
            template,
        }
    }

    pub fn sex(&self) -> Sex {
        self.template.body.sex
    }

    /// Somebody of a height [m] and a body mass index [kg/m²], as near as possible to the mean body with some fields of the space
    /// set beforehand.
    pub fn someone(&self, height: f64, index: f64, fields: &[(&str, f64)]) -> Someone {
        let mut start = vec![0.0; self.model.field_count()];
        for (name, value) in fields {
            let field = self.model.field_names.iter().position(|n| n == name);
            start[field.unwrap()] = *value;
        }
        let mut volume = 1e-3 * index * height * height;
        let mut found = None;
        for _ in 0..CORRECTIONS {
            let coefficients = self.model.steered(&start, height, volume);
            let someone = self.with(coefficients);
            volume *= index / someone.made_of.body_mass_index;
            found = Some(someone);
        }
        found.unwrap()
    }

    fn with(&self, coefficients: Vec<f64>) -> Someone {
        let single =
            |points: Vec<DVec3>| -> Vec<Vec3> { points.iter().map(|p| p.as_vec3()).collect() };
        let skin = self.of_file(&single(self.model.rest_vertices(&coefficients)));
        let joints = single(self.model.rest_joints(&coefficients));
        let measures = self.tape.measures(&skin, &joints);
        let known = Known::sex(self.sex());
        let made_of = composition(&measures, &known, Regressors::embedded()).unwrap();
        Someone {
            skin,
            joints,
            coefficients,
            made_of,
        }
    }

    /// The template's vertices among those of the body's file.
    pub fn of_file(&self, points: &[Vec3]) -> Vec<Vec3> {
        let vertices = self.template.body.file_vertices.iter();
        vertices.map(|&v| points[v as usize]).collect()
    }

    pub fn model(&self) -> &'static BodyModel {
        self.model
    }

    /// The steps of [`fit`](Self::fit) up to the masses.
    pub fn weighed(&self, someone: &Someone) -> WeighedLayers {
        let crotch = crotch(&self.template.body).unwrap();
        let input = FitTemplate::new(&self.template, &crotch);
        let skin = someone.skin();
        let scaled = scaled_template(&input, &skin).unwrap();
        let skeleton = fitted_skeleton(&input, &scaled, &skin).unwrap().skeleton;
        let range = muscle_range(&input, &scaled, &skin, &skeleton).unwrap();
        let (fat, mass) = someone.masses();
        let (muscle, report) =
            fitted_masses(&input, &scaled, &skin, &skeleton, &range, (fat, mass, None));
        WeighedLayers {
            skeleton,
            range,
            muscle,
            report,
        }
    }

    pub fn fit(&self, someone: &Someone) -> PersonFit {
        let (fat, muscle) = someone.masses();
        fitted_person(&self.template, &self.transfer, &someone.skin(), fat, muscle).unwrap()
    }

    /// Muscles and bones.
    pub fn muscles(&self, muscles: &[TriMesh], bones: &[TriMesh]) -> Vec<DrawMesh<'static>> {
        let mut colours = Vec::new();
        for (number, muscle) in self.template.muscles.iter().enumerate() {
            let red = muscle_red(&self.template, number);
            let tendon = |v: usize| muscle.tendon.get(v).copied().unwrap_or(0.0);
            colours.extend((0..muscle.mesh.positions.len()).map(|v| red.lerp(TENDON, tendon(v))));
        }
        let flesh = DrawMesh::owned(TriMesh::merged(muscles)).coloured(Colour::Vertices(colours));
        vec![flesh, self.bones(bones)]
    }

    pub fn bones(&self, bones: &[TriMesh]) -> DrawMesh<'static> {
        DrawMesh::owned(TriMesh::merged(bones)).coloured(IVORY)
    }

    /// Vertices of ribs and sternum.
    pub fn ribs(&self, bones: &[TriMesh]) -> Vec<Vec3> {
        let is_rib = |name: &str| name.starts_with("rib") || name.starts_with("sternum");
        (self.template.bones.iter().zip(bones))
            .filter(|(bone, _)| is_rib(&bone.bone.name))
            .flat_map(|(_, mesh)| mesh.positions.iter().copied())
            .collect()
    }
}

/// A skin to see through.
pub fn glass(skin: &[Vec3], triangles: &[[u32; 3]], opacity: f32) -> DrawMesh<'static> {
    let mut glass = DrawMesh::owned(mesh(skin, triangles)).coloured(SKIN);
    glass.opacity = opacity;
    glass.casts_shadow = false;
    glass
}

/// A surface of the layers: coloured where there are layers, skin elsewhere.
pub fn layer(layers: &Layers, positions: &[Vec3], colour: Vec3) -> DrawMesh<'static> {
    let colours = layers
        .layered
        .iter()
        .map(|&l| if l { colour } else { SKIN });
    DrawMesh::owned(mesh(positions, &layers.triangles))
        .coloured(Colour::Vertices(colours.collect()))
}

pub fn mesh(positions: &[Vec3], triangles: &[[u32; 3]]) -> TriMesh {
    TriMesh {
        positions: positions.to_vec(),
        triangles: triangles.to_vec(),
    }
}

/// Draws what stands on the ground, with a camera over `height` metres [m].
pub fn standing(
    size: (usize, usize),
    meshes: Vec<DrawMesh<'static>>,
    direction: Vec3,
    height: f32,
) -> Image {
    let aspect = size.0 as f32 / size.1 as f32;
    let half = 0.5 * height * aspect;
    let across = half * Vec3::Y.cross(direction).normalize_or(Vec3::X);
    let corners = [
        -across,
        across,
        Vec3::Y * height - across,
        Vec3::Y * height + across,
    ];
    let camera = Camera::fit(
        &corners,
        direction,
        aspect,
        Lens::Perspective { fov_y: 0.25 },
        0.99,
    );
    let scene = Scene {
        meshes,
        ground: Some(Ground {
            height: Some(0.0),
            ..Ground::default()
        }),
        ..Scene::default()
    };
    render(&scene, &camera, size.0, size.1)
}

/// Whether layers are nested and no prism of them is inverted.
pub fn is_nested(report: &FitReport) -> bool {
    let m = &report.layers;
    [
        m.inverted_fat,
        m.inverted_muscle,
        m.muscle_outside,
        m.skeleton_outside,
    ] == [0; 4]
}
