//! A picture of a layered person: peeled from the front and the back, sections, and the numbers.

use glam::Vec3;
use supple::anatomy::Sex;
use supple::anatomy::person::Person;
use supple_picture::{DrawMesh, Image, SheetStyle, contact_sheet, hex};

use crate::template_sheet::{peeled_sheet, sections, stacked};

const WHITE: Vec3 = hex(0xf2eee8);
const IRIS: Vec3 = hex(0x3f3026);

/// Skin, fat, muscles and bones from the front and the back, with sections below. `size` is the width of a tile \[px\].
pub fn person_sheet(person: &Person, size: usize) -> Image {
    let mut anatomy = person.body.clone();
    anatomy.name = title(person);
    let views = peeled_sheet(&anatomy, &eyes(person), size);
    let cuts = sections(&anatomy, size);
    let cuts = contact_sheet("", &cuts, cuts.len(), &SheetStyle::default());
    stacked(&views, &cuts)
}

/// A person's eyes.
pub(crate) fn eyes(person: &Person) -> [DrawMesh<'static>; 2] {
    let [white, irises, _] = person.eyes_and_tongue.split();
    [
        DrawMesh::owned(white.mesh).coloured(WHITE),
        DrawMesh::owned(irises.mesh).coloured(IRIS),
    ]
}

/// The person in one line.
pub(crate) fn title(person: &Person) -> String {
    let (measures, made) = (&person.measures, &person.composition);
    let sex = match person.sex() {
        Sex::Male => "man",
        Sex::Female => "woman",
    };
    format!(
        "{}: {sex}, {:.0} cm, {:.1} kg, waist {:.0} cm, fat {:.1} kg ({:.0} %), muscle {:.1} kg",
        person.name(),
        100.0 * measures.height,
        made.weight.value,
        100.0 * measures.waist,
        made.fat_mass.value,
        made.fat_percent.value,
        made.muscle_mass.value
    )
}
