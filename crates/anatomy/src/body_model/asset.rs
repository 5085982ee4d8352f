//! Unpacks the embedded assets, which `scripts/body-space.py` writes. All numbers are little-endian.
//!
//! `space_*.bin`: `SUPSPC01`; numbers of vertices, joints, components and wide components (u32); scale and standard
//! deviation of each component (f32); mean of vertices, then joints (f32 × 3); wide components (i16), the others (i8).
//! `rig.bin`: `SUPRIG01`; numbers of vertices, joints, triangles (u32); triangles (u16 × 3); parent (i16, −1 for none),
//! length (u8) and name of each joint; four joints (u8) of each vertex, then their weights (u16, 65,535 is one).

use glam::{DVec3, Vec3};

use super::{BodyModel, VertexWeights};
use crate::Sex;

/// Bytes of the space of a sex and of the rig.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn embedded(sex: Sex) -> (&'static [u8], &'static [u8]) {
    let space: &[u8] = match sex {
        Sex::Male => include_bytes!("../../assets/space_male.bin"),
        Sex::Female => include_bytes!("../../assets/space_female.bin"),
    };
    (space, include_bytes!("../../assets/rig.bin"))
}

/// Nothing: pages fetch them when they are needed, and start in half the time.
#[cfg(target_arch = "wasm32")]
pub(super) fn embedded(_: Sex) -> (&'static [u8], &'static [u8]) {
    (&[], &[])
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn count(&mut self) -> Option<usize> {
        Some(u32::from_le_bytes(self.array()?) as usize)
    }

    fn f32(&mut self) -> Option<f32> {
        Some(f32::from_le_bytes(self.array()?))
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.array()?))
    }
}

/// The model without widening and regressor. None if the bytes are damaged.
pub(super) fn unpack(sex: Sex, space: &[u8], rig: &[u8]) -> Option<BodyModel> {
    let mut reader = Reader(space);
    if reader.take(8)? != b"SUPSPC01" {
        return None;
    }
    let [vertices, joints, components, wide] = [
        reader.count()?,
        reader.count()?,
        reader.count()?,
        reader.count()?,
    ];
    let points = vertices + joints;
    let floats = |reader: &mut Reader, count: usize| -> Option<Vec<f32>> {
        (0..count).map(|_| reader.f32()).collect()
    };
    let scales = floats(&mut reader, components)?;
    let deviations = floats(&mut reader, components)?;
    let mean = floats(&mut reader, 3 * points)?;
    let mut fields = vec![Vec3::ZERO; points * components];
    for component in 0..components {
        for point in 0..points {
            let mut number = || {
                Some(match component < wide {
                    true => f32::from(i16::from_le_bytes(reader.array()?)),
                    false => f32::from(i8::from_le_bytes(reader.array()?)),
                })
            };
            let entry = Vec3::new(number()?, number()?, number()?);
            fields[point * components + component] = entry * scales[component];
        }
    }
    let mut model = BodyModel {
        sex,
        triangles: Vec::new(),
        joint_names: Vec::new(),
        parents: Vec::new(),
        weights: Vec::new(),
        mean: (mean.chunks_exact(3))
            .map(|p| DVec3::new(p[0].into(), p[1].into(), p[2].into()))
            .collect(),
        fields,
        deviations: deviations.iter().map(|&d| f64::from(d)).collect(),
        field_names: (0..components).map(|c| format!("component {c}")).collect(),
        regressor: Vec::new(),
        carried: Vec::new(),
        hidden: Vec::new(),
        scalp: Vec::new(),
    };
    unpack_rig(&mut model, vertices, rig)?;
    Some(model)
}

fn unpack_rig(model: &mut BodyModel, vertices: usize, rig: &[u8]) -> Option<()> {
    let mut reader = Reader(rig);
    if reader.take(8)? != b"SUPRIG01" || reader.count()? != vertices {
        return None;
    }
    let (joints, triangles) = (reader.count()?, reader.count()?);
    for _ in 0..triangles {
        let corners = [reader.u16()?, reader.u16()?, reader.u16()?].map(u32::from);
        model.triangles.push(corners);
    }
    for _ in 0..joints {
        let parent = i16::from_le_bytes(reader.array()?);
        model.parents.push(usize::try_from(parent).ok());
        let [length] = reader.array()?;
        let name = std::str::from_utf8(reader.take(length.into())?).ok()?;
        model.joint_names.push(name.to_owned());
    }
    let slots = reader.take(4 * vertices)?;
    for of_vertex in slots.chunks_exact(4) {
        let mut weights: VertexWeights = [(0, 0.0); 4];
        for (entry, &joint) in weights.iter_mut().zip(of_vertex) {
            *entry = (joint, f32::from(reader.u16()?));
        }
        let sum: f32 = weights.iter().map(|w| w.1).sum();
        weights.iter_mut().for_each(|w| w.1 /= sum);
        model.weights.push(weights);
    }
    Some(())
}
