//! How every vertex of the file moves: with the flesh, on it, as a rigid piece, or by its own weights.

use glam::Vec3;
use rayon::prelude::*;
use supple_geom::adjacency::NONE;
use supple_geom::{Surface, TriMesh};
use supple_rig::Character;

use crate::construction::body::Body;
use crate::shells::riders::{Rider, bind_rider};
use crate::shells::rigid_pieces::RigidPiece;
use crate::shells::shell_kinds::{Kind, Shell, ShellKinds};

/// How an original vertex is moved.
#[derive(Clone, Copy, Debug)]
pub enum Ride {
    /// It is a vertex of the full flesh.
    Flesh(u32),
    /// It rides on the flesh.
    Cloth(Rider),
    /// It belongs to a piece that keeps its shape.
    Rigid(u32),
    /// It follows its own weights.
    Hair,
}

/// How all vertices move.
pub struct Rides {
    /// Every original vertex, parts one after another.
    pub rides: Vec<Ride>,
    /// Shells that keep their shape.
    pub pieces: Vec<RigidPiece>,
}

/// What rides are made of.
pub struct RideInput<'a> {
    /// The character.
    pub character: &'a Character,
    /// Its shells and their kinds.
    pub kinds: &'a ShellKinds,
    /// The full flesh in bind pose.
    pub flesh: &'a TriMesh,
    /// Welded index of every vertex of the flesh.
    pub welded_of: &'a [u32],
}

/// Distance from linear blend, relative to the character's height, up to which a piece with several joints keeps its shape.
/// Higher: a plate leaves the limb that it is weighted to.
const SLACK: f32 = 0.005;

/// How every original vertex moves.
pub fn rides(input: &RideInput) -> Rides {
    let RideInput {
        character, kinds, ..
    } = *input;
    let body = &kinds.body;
    let mut column_of = vec![NONE; body.welded.mesh.positions.len()];
    for (column, &welded) in input.welded_of.iter().enumerate() {
        column_of[welded as usize] = column as u32;
    }
    let (pieces, piece_of) = rigid_pieces(character, kinds);
    let surface = Surface::new(input.flesh.clone());
    let corner_weights = |v: u32| {
        let welded = input.welded_of[v as usize] as usize;
        weights_of(character, body, body.welded.original_from_welded[welded])
    };
    let ride = |(original, &welded): (usize, &u32)| {
        if column_of[welded as usize] != NONE {
            return Ride::Flesh(column_of[welded as usize]);
        }
        let shell = body.shells.of_vertex[welded as usize] as usize;
        let kind = kinds.shells.get(shell).map(|shell| &shell.kind);
        if let Some(Kind::Rigid(_)) = kind {
            return Ride::Rigid(piece_of[shell]);
        }
        let own = weights_of(character, body, original as u32);
        // Vertices without triangles belong to no shell. They are not seen.
        if kind.is_none_or(|kind| *kind == Kind::Hair) && !own.is_empty() {
            return Ride::Hair;
        }
        let point = body.welded.mesh.positions[welded as usize];
        match bind_rider(&surface, point, body.size as f32) {
            Some(rider) if own.is_empty() => Ride::Cloth(Rider { grip: 1.0, ..rider }),
            Some(rider) => {
                let triangle = input.flesh.triangles[rider.triangle as usize];
                let corners = triangle.map(corner_weights);
                // Flesh without weights has no linear blend to be shifted from.
                match corners.iter().any(Vec::is_empty) {
                    true => Ride::Hair,
                    false => {
                        Ride::Cloth(rider.with_weights(&own, corners.each_ref().map(Vec::as_slice)))
                    }
                }
            }
            None => Ride::Hair,
        }
    };
    let originals = &body.welded.welded_from_original;
    Rides {
        rides: originals.par_iter().enumerate().map(ride).collect(),
        pieces,
    }
}

/// Joints and weights of a vertex.
type Weights = Vec<(usize, f64)>;

/// Joints and weights of an original vertex; empty if its part has none.
fn weights_of(character: &Character, body: &Body, original: u32) -> Weights {
    let (part, v) = body.part_of(original as usize);
    let binding = &character.parts[part].binding;
    if v >= binding.influences.len() {
        return Vec::new();
    }
    let own = binding.influences.of(v).iter();
    own.filter_map(|&(slot, weight)| {
        let joint = *binding.joints.get(slot as usize)?;
        Some((joint, f64::from(weight)))
    })
    .collect()
}

/// The rigid pieces, and for each shell the index of its piece.
fn rigid_pieces(character: &Character, kinds: &ShellKinds) -> (Vec<RigidPiece>, Vec<u32>) {
    let body = &kinds.body;
    let mut vertices: Vec<Vec<(Vec3, Weights)>> = vec![Vec::new(); kinds.shells.len()];
    for (welded, &shell) in body.shells.of_vertex.iter().enumerate() {
        let is_rigid = |shell: &Shell| matches!(shell.kind, Kind::Rigid(None));
        if kinds.shells.get(shell as usize).is_some_and(is_rigid) {
            let original = body.welded.original_from_welded[welded];
            let weights = weights_of(character, body, original);
            vertices[shell as usize].push((body.welded.mesh.positions[welded], weights));
        }
    }
    let bounds = body.welded.mesh.bounds();
    let slack = SLACK * (bounds.max.y - bounds.min.y);
    let mut pieces = Vec::new();
    let mut piece_of = vec![NONE; kinds.shells.len()];
    for (index, (shell, vertices)) in kinds.shells.iter().zip(&vertices).enumerate() {
        if !matches!(shell.kind, Kind::Rigid(_)) {
            continue;
        }
        piece_of[index] = pieces.len() as u32;
        let has_weights = vertices.iter().any(|(_, weights)| !weights.is_empty());
        pieces.push(match has_weights {
            true => RigidPiece::of_vertices(
                vertices.iter().map(|(p, weights)| (*p, weights.as_slice())),
                slack,
            ),
            false => RigidPiece::on_joint(shell.joint),
        });
    }
    (pieces, piece_of)
}
