//! Supple makes characters soft: it builds tissue between the skin and the bones of a rigged character and simulates it.
//!
//! A character plays a clip, and gives positions and normals every frame:
//!
//! ```
//! # fn upload(_: &[supple::glam::Vec3], _: &[supple::glam::Vec3]) {}
//! # fn main() -> Result<(), supple::Error> {
//! use supple::{ContactMode, SoftBody};
//!
//! let hero = supple::load("@male")?; // or "hero.glb"
//! let walk = supple::clip(&hero, "squat")?; // of the file, or an embedded one
//! let mut body = SoftBody::builder(&hero).contact(ContactMode::Global).build()?;
//! body.place(&walk.sample(&hero.skeleton, 0.0))?; // at rest in the first pose
//! # let last = 3;
//! # #[cfg(any())]
//! let last = (60.0 * walk.duration()) as u32;
//! for frame in 1..=last {
//!     let time = frame as f32 / 60.0;
//!     body.advance(&walk.sample(&hero.skeleton, time), 1.0 / 60.0)?; // any frame rate: internal steps are fixed
//!     for part in body.skin() {
//!         upload(&part.positions, &part.normals); // every vertex, in the file's order; metres, Y up
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Positions are in metres with Y up, also for files whose unit was guessed ([`units.declared`](rig::character::Units) tells).
//! [`hero.units.to_file(p)`](rig::character::Units::to_file) takes a position to the unit and axes of the file. Times and durations may be `f32`
//! or `f64`. A program whose `main` returns [`Error`] prints it as text.
//!
//! `examples/first.rs` is a complete program in which two characters touch each other and the floor. The rest of this page is a tour:
//! [load](#load), [build](#build), [step](#step), [export](#export), [contact](#contact), [crowds on the GPU](#crowds),
//! [settings](#settings).
//!
//! # Load
//!
//! [`load()`] makes a [`Subject`] of glTF, GLB, VRM, FBX, OBJ, PLY, OFF and STL, of layered persons and templates (`.person`,
//! `.template`), or of one of two embedded bodies, `@male` and `@female`. [`load_with`] takes a skeleton from another file, or with another
//! unit or up axis; [`load_layered`] gives embedded bodies the layers of their template. A subject is read as a [`Character`], which keeps
//! every vertex in the file's order. [`clip`] finds a clip of the file or an embedded one by name; [`clip_from`] retargets a motion from another file.
//!
//! ```no_run
//! # fn main() -> Result<(), supple::Error> {
//! use supple::{LoadOptions, rig::character::Up};
//!
//! let hero = supple::load("hero.vrm")?;
//! let walk = supple::clip_from(&hero, "walk.bvh")?;
//! let scan = supple::load_with("scan.obj", &LoadOptions::new().skeleton("scan.skel").up(Up::Z))?;
//! # Ok(())
//! # }
//! ```
//!
//! # Build
//!
//! A [`SoftBody`] is a character with tissue. No weights, painting or tet meshing are needed. Building takes some tenths of a second;
//! [`cache_beside`](SoftBodyBuilder::cache_beside) caches the slowest part beside the file.
//!
//! ```
//! # fn main() -> Result<(), supple::Error> {
//! use supple::{ContactMode, SoftBody};
//!
//! let hero = supple::load("@female")?;
//! let mut body = SoftBody::builder(&hero).contact(ContactMode::Global).ground(0.0).build()?;
//! assert!(body.flesh().report.tets > 10_000);
//! # Ok(())
//! # }
//! ```
//!
//! # Step
//!
//! [`SoftBody::advance`] advances time while the skeleton moves to a pose, and reports steps and dropped time. Frames may have any length.
//! [`SoftBody::skin`] gives positions and normals of every part, in buffers that the body keeps. [`SoftBody::place`] puts it at rest in a
//! pose; [`settled`] does so in one call.
//!
//! ```
//! # fn main() -> Result<(), supple::Error> {
//! use supple::SoftBody;
//!
//! let hero = supple::load("@female")?;
//! let jump = supple::clip(&hero, "jump")?;
//! let mut body = SoftBody::builder(&hero).build()?;
//! body.place(&jump.sample(&hero.skeleton, 0.0))?;
//! let report = body.advance(&jump.sample(&hero.skeleton, 0.02), 0.02)?;
//! assert_eq!((report.steps, report.dropped), (1, 0.0));
//! for (part, skin) in hero.parts.iter().zip(body.skin()) {
//!     assert_eq!(skin.positions.len(), part.mesh.positions.len());
//!     assert_eq!(skin.normals.len(), part.mesh.positions.len());
//! }
//!
//! let still = supple::settled(&hero, &jump.sample(&hero.skeleton, 0.6))?; // one call
//! assert_eq!(still.len(), hero.parts.len());
//! # Ok(())
//! # }
//! ```
//!
//! # Export
//!
//! [`export`](export()) simulates a clip and writes it for other programs: the character's own GLB with corrective morph targets, a
//! point cache, or one mesh per frame. [`Exporter`] has the options. To write a motion that your program simulated itself, record it with a
//! [`Recording`](play::Recording) and call [`export::write_motion`].
//!
//! ```no_run
//! # fn main() -> Result<(), supple::Error> {
//! use supple::{Exporter, Method};
//!
//! let hero = supple::load("hero.glb")?;
//! let clip = supple::clip(&hero, "squat")?;
//! let written = supple::export(&hero, &clip, "squat.glb")?; // one call
//! println!("{} morph targets, {} mm off at most", written.targets, written.max_error_mm);
//! Exporter::new(&hero, &clip).method(Method::Dqs).fps(60.0).write("dqs.pc2")?;
//! # Ok(())
//! # }
//! ```
//!
//! # Contact
//!
//! [`ContactMode::Global`] keeps the skin out of itself, [`ContactMode::Local`] handles folds at joints only and costs less. Colliders
//! (planes, spheres, capsules, boxes, meshes) stand still, follow a joint, or fall. A [`Scene`] holds several characters that touch each
//! other; [`scene_file`] reads one from TOML.
//!
//! ```
//! # fn main() -> Result<(), supple::Error> {
//! use supple::{Collider, ContactMode, SoftBody, glam::Vec3, sim::contact::{Placement, Shape}};
//!
//! let hero = supple::load("@male")?;
//! let mut body = SoftBody::builder(&hero).contact(ContactMode::Local).build()?;
//! let place = Placement { translation: Vec3::new(0.0, 1.1, 0.3), ..Placement::default() };
//! let ball = Collider::falling(Shape::Sphere { radius: 0.1 }, place, 2.0);
//! body.set_colliders(vec![ball.into()]);
//! body.advance(&body.pose().clone(), 1.0 / 60.0)?;
//! assert!(body.colliders_now()[0].placement.translation.y < 1.1);
//! # Ok(())
//! # }
//! ```
//!
//! # Crowds
//!
//! A [`Crowd`] keeps any number of bodies of one character on the GPU (feature `gpu`, on by default): poses go in, and
//! skins come out on request. A single body can be stepped on the GPU too: [`SoftBodyBuilder::backend`].
//!
//! ```no_run
//! # #[cfg(feature = "gpu")]
//! # fn main() -> Result<(), supple::Error> {
//! use supple::Crowd;
//!
//! let hero = supple::load("hero.glb")?;
//! let walk = supple::clip(&hero, "walk")?;
//! let mut crowd = Crowd::new(&hero, 100)?; // one call
//! for body in 0..crowd.len() {
//!     crowd.set_pose(body, &walk.sample(&hero.skeleton, 0.01 * body as f32))?;
//! }
//! crowd.step()?;
//! let parts = crowd.skin(7)?;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "gpu"))]
//! # fn main() {}
//! ```
//!
//! # Settings
//!
//! [`Settings`] hold stiffness, iterations, resolution, contact and regions. Everything has a default. They can be read from TOML files
//! beside characters ([`settings`]).
//!
//! ```
//! # fn main() -> Result<(), supple::Error> {
//! use supple::{Settings, SoftBody};
//!
//! let mut settings = Settings::default();
//! settings.tissue.stiffness = 1500.0; // Pa: softer than the default
//! settings.solver.steps_per_second = 120.0;
//! let hero = supple::load("@female")?;
//! let body = SoftBody::builder(&hero).settings(settings).build()?;
//! # Ok(())
//! # }
//! ```
//!
//! # Units, features, crates
//!
//! Inside Supple everything is metres, Y up, seconds, kilograms. Features: `fbx` (FBX files, through a C library) and `gpu`; without
//! them the crate builds for `wasm32-unknown-unknown`. The crates behind this one are re-exported: [`geom`] for meshes, [`rig`] for
//! skeletons, clips, skinning and files, [`flesh`] and [`sim`] for tissue, [`anatomy`] for layered bodies, `gpu` for the GPU.
#![forbid(unsafe_code)]

mod appearance;
pub mod backend;
mod body_builder;
pub mod clips;
pub mod contact_report;
#[cfg(feature = "gpu")]
pub mod crowd;
#[cfg(feature = "gpu")]
mod crowd_tables;
pub mod embedded;
mod error;
pub mod export;
pub mod growth;
pub mod hug;
pub mod info;
pub mod inside;
mod load;
pub mod morphs;
#[cfg(not(target_arch = "wasm32"))]
pub mod people;
pub mod person;
pub mod play;
pub mod pull;
pub mod scene;
#[cfg(not(target_arch = "wasm32"))]
pub mod scene_file;
pub mod settings;
pub mod skin;
mod subject;
pub mod tissue;

pub use body_builder::SoftBodyBuilder;
pub use clips::{clip, clip_from};
#[cfg(feature = "gpu")]
pub use crowd::{Crowd, CrowdBuilder};
pub use error::Error;
pub use export::{Bake, Exporter, export};
pub use load::{LoadOptions, is_template, load, load_layered, load_with};
pub use scene::{Scene, SceneBuilder, standing_at};
pub use settings::{ContactMode, Settings};
pub use skin::{Method, Span};
pub use subject::Subject;
pub use tissue::{SoftBody, settled};

pub use glam;
pub use supple_anatomy as anatomy;
pub use supple_flesh as flesh;
pub use supple_geom as geom;
#[cfg(feature = "gpu")]
pub use supple_gpu as gpu;
pub use supple_rig as rig;
pub use supple_rig::bake;
pub use supple_rig::skinning::Posed;
pub use supple_rig::{Character, Clip, Pose, Skeleton};
pub use supple_sim as sim;
pub use supple_sim::Collider;
pub use supple_sim::advance::Advance;
pub use supple_sim::contact::Placement;
