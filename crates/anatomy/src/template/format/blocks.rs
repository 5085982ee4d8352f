//! The blocks of a template file.

use crate::template::format::bytes::{Malformed, Reader, Writer};
use crate::template::format::header::Header;
use crate::template::format::mesh_code::{
    coded_direction, coded_share, direction_code, read_mesh, share_code, write_mesh,
};
use crate::template::{
    FatRegion, Group, LayeredBody, Regions, Rig, RiggedBone, RiggedMuscle, Weights,
};
use crate::{Body, Bone, Layers};

/// No vertex has more joints; rigs have 4, or 8.
const MOST_WEIGHTS: usize = 64;

/// What indices may refer to.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub vertices: usize,
    pub joints: usize,
}

pub(crate) fn write_weights(rows: &[Weights], writer: &mut Writer) {
    for row in rows {
        writer.unsigned(row.len() as u64);
    }
    let entries = || rows.iter().flatten();
    entries().for_each(|&(joint, _)| writer.unsigned(u64::from(joint)));
    let weights: Vec<f32> = entries().map(|&(_, weight)| weight).collect();
    writer.floats(&weights);
}

pub(crate) fn read_weights(
    reader: &mut Reader,
    rows: usize,
    joints: usize,
) -> Result<Vec<Weights>, Malformed> {
    if rows > reader.bytes.len() {
        return Err(Malformed("it ends too early"));
    }
    let mut lengths = Vec::with_capacity(rows);
    for _ in 0..rows {
        let length = reader.count()?;
        if length > MOST_WEIGHTS {
            return Err(Malformed("a vertex has too many joints"));
        }
        lengths.push(length);
    }
    let total: usize = lengths.iter().sum();
    let mut indices = Vec::new();
    for _ in 0..total {
        let joint = reader.unsigned()?;
        if joint >= joints as u64 {
            return Err(Malformed("a weight is on no joint"));
        }
        indices.push(joint as u32);
    }
    let weights = reader.floats(total)?;
    let mut entries = indices.into_iter().zip(weights);
    Ok(lengths
        .into_iter()
        .map(|length| entries.by_ref().take(length).collect())
        .collect())
}

pub(super) fn skin_block(body: &Body) -> Writer {
    let mut writer = Writer::default();
    let mesh = &body.mesh;
    writer.unsigned(mesh.positions.len() as u64);
    writer.unsigned(mesh.triangles.len() as u64);
    writer.points(&mesh.positions);
    writer.differences(mesh.triangles.iter().flatten().map(|&v| i64::from(v)));
    writer.differences(body.file_vertices.iter().map(|&v| i64::from(v)));
    write_weights(&body.influences, &mut writer);
    writer
}

pub(super) fn read_skin(mut reader: Reader, body: &mut Body) -> Result<(), Malformed> {
    let (vertices, triangles) = (reader.count()?, reader.count()?);
    body.mesh.positions = reader.points(vertices)?;
    let corners = reader.indices(3 * triangles, vertices)?;
    body.mesh.triangles = corners
        .chunks_exact(3)
        .map(|t| [t[0], t[1], t[2]])
        .collect();
    body.file_vertices = reader.indices(vertices, u32::MAX as usize)?;
    body.influences = read_weights(&mut reader, vertices, body.skeleton.len())?;
    reader.end()
}

pub(super) fn layers_block(template: &LayeredBody) -> Writer {
    let mut writer = Writer::default();
    let layers = &template.layers;
    let layered = || (0..layers.skin.len()).filter(|&v| layers.layered[v]);
    writer.unsigned(layered().count() as u64);
    writer.differences(layered().map(|v| v as i64));
    for surface in [&layers.muscle, &layers.skeleton] {
        let points: Vec<_> = layered().map(|v| surface[v]).collect();
        writer.points(&points);
    }
    let thickness: Vec<f32> = layered().map(|v| template.thickness[v]).collect();
    writer.floats(&thickness);
    writer
}

pub(super) fn read_layers(
    mut reader: Reader,
    body: &Body,
) -> Result<(Layers, Vec<f32>), Malformed> {
    let count = reader.count()?;
    let vertices = body.mesh.positions.len();
    let which = reader.indices(count, vertices)?;
    let (muscle, skeleton) = (reader.points(count)?, reader.points(count)?);
    let thick = reader.floats(count)?;
    reader.end()?;
    let skin = &body.mesh.positions;
    let mut layers = Layers {
        triangles: body.mesh.triangles.clone(),
        skin: skin.clone(),
        muscle: skin.clone(),
        skeleton: skin.clone(),
        layered: vec![false; vertices],
    };
    let mut thickness = vec![0.0; vertices];
    for (i, v) in which.into_iter().map(|v| v as usize).enumerate() {
        layers.muscle[v] = muscle[i];
        layers.skeleton[v] = skeleton[i];
        layers.layered[v] = true;
        thickness[v] = thick[i];
    }
    Ok((layers, thickness))
}

/// Stands for no group, region or bone.
const NOTHING: u8 = u8::MAX;

pub(super) fn regions_block(regions: &Regions) -> Writer {
    let mut writer = Writer::default();
    let code = |index: Option<usize>| index.map_or(NOTHING, |index| index as u8);
    let groups = regions.group.iter();
    (writer.bytes).extend(groups.map(|group| code(group.map(|group| group as usize))));
    let fat = regions.fat.iter();
    (writer.bytes).extend(fat.map(|region| code(region.map(|region| region as usize))));
    let marks = regions.abdomen.iter().zip(&regions.slides);
    (writer.bytes)
        .extend(marks.map(|(&abdomen, &slides)| u8::from(abdomen) | u8::from(slides) << 1));
    let held = regions.bone.iter();
    writer.differences(held.map(|bone| bone.map_or(-1, i64::from)));
    writer
}

pub(super) fn read_regions(
    mut reader: Reader,
    vertices: usize,
    bones: usize,
) -> Result<Regions, Malformed> {
    fn named<T: Copy>(bytes: &[u8], all: &[T]) -> Result<Vec<Option<T>>, Malformed> {
        let of = |&code: &u8| match code {
            NOTHING => Ok(None),
            code => match all.get(usize::from(code)) {
                Some(&known) => Ok(Some(known)),
                None => Err(Malformed("a region is not known")),
            },
        };
        bytes.iter().map(of).collect()
    }
    let group = named(reader.take(vertices)?, &Group::ALL)?;
    let fat = named(reader.take(vertices)?, &FatRegion::ALL)?;
    let marks = reader.take(vertices)?;
    let held = reader.differences(vertices)?;
    reader.end()?;
    let bone = held.into_iter().map(|bone| match u32::try_from(bone) {
        Ok(bone) if (bone as usize) < bones => Ok(Some(bone)),
        Err(_) if bone == -1 => Ok(None),
        _ => Err(Malformed("a vertex is held by no bone")),
    });
    Ok(Regions {
        group,
        fat,
        abdomen: marks.iter().map(|mark| mark & 1 != 0).collect(),
        slides: marks.iter().map(|mark| mark & 2 != 0).collect(),
        bone: bone.collect::<Result<_, _>>()?,
    })
}

fn write_rig(rig: &Rig, writer: &mut Writer) {
    match rig {
        Rig::Whole(row) => {
            writer.unsigned(0);
            write_weights(std::slice::from_ref(row), writer);
        }
        Rig::Each(rows) => {
            writer.unsigned(1);
            write_weights(rows, writer);
        }
        Rig::Skin(vertices) => {
            writer.unsigned(2);
            writer.differences(vertices.iter().map(|&v| i64::from(v)));
        }
    }
}

fn read_rig(reader: &mut Reader, vertices: usize, sizes: Sizes) -> Result<Rig, Malformed> {
    Ok(match reader.unsigned()? {
        0 => Rig::Whole(read_weights(reader, 1, sizes.joints)?.remove(0)),
        1 => Rig::Each(read_weights(reader, vertices, sizes.joints)?),
        2 => Rig::Skin(reader.indices(vertices, sizes.vertices)?),
        _ => return Err(Malformed("a rig is of no known kind")),
    })
}

pub(super) fn bones_block(bones: &[RiggedBone]) -> Writer {
    let mut writer = Writer::default();
    for RiggedBone { bone, rig } in bones {
        write_mesh(&bone.mesh, &mut writer);
        write_rig(rig, &mut writer);
    }
    writer
}

pub(super) fn read_bones(
    mut reader: Reader,
    header: &Header,
    sizes: Sizes,
) -> Result<Vec<RiggedBone>, Malformed> {
    let mut bones = Vec::new();
    for name in &header.bones {
        let mesh = read_mesh(&mut reader)?;
        let rig = read_rig(&mut reader, mesh.positions.len(), sizes)?;
        let name = name.clone();
        bones.push(RiggedBone {
            bone: Bone { name, mesh },
            rig,
        });
    }
    reader.end().map(|()| bones)
}

pub(super) fn muscles_block(muscles: &[RiggedMuscle]) -> Writer {
    let mut writer = Writer::default();
    for muscle in muscles {
        write_mesh(&muscle.mesh, &mut writer);
        write_rig(&muscle.rig, &mut writer);
        let codes: Vec<[i8; 2]> = muscle.fibres.iter().map(|&f| direction_code(f)).collect();
        writer.unsigned(codes.len() as u64);
        for axis in 0..2 {
            let bytes = codes.iter().map(|code| code[axis] as u8);
            writer.bytes.extend(bytes);
        }
        writer.unsigned(muscle.tendon.len() as u64);
        (writer.bytes).extend(muscle.tendon.iter().map(|&tendon| share_code(tendon)));
    }
    writer
}

pub(super) fn read_muscles(
    mut reader: Reader,
    header: &Header,
    sizes: Sizes,
) -> Result<Vec<RiggedMuscle>, Malformed> {
    let mut muscles = Vec::new();
    for entry in &header.muscles {
        let mesh = read_mesh(&mut reader)?;
        let rig = read_rig(&mut reader, mesh.positions.len(), sizes)?;
        let vertices = mesh.positions.len();
        let count = per_vertex(&mut reader, vertices)?;
        let (x, y) = (reader.take(count)?, reader.take(count)?);
        let fibres = x
            .iter()
            .zip(y)
            .map(|(&x, &y)| coded_direction([x as i8, y as i8]));
        let count = per_vertex(&mut reader, vertices)?;
        let tendon = reader.take(count)?.iter().map(|&code| coded_share(code));
        muscles.push(RiggedMuscle {
            name: entry.name.clone(),
            group: entry.group,
            side: entry.side,
            volume: entry.volume,
            mesh,
            fibres: fibres.collect(),
            tendon: tendon.collect(),
            rig,
        });
    }
    reader.end().map(|()| muscles)
}

/// The length of a list with nothing or one entry for each vertex.
fn per_vertex(reader: &mut Reader, vertices: usize) -> Result<usize, Malformed> {
    match reader.count()? {
        count if count == 0 || count == vertices => Ok(count),
        _ => Err(Malformed("a muscle has lists of several lengths")),
    }
}
