//! A body sits down on a box, which flattens its seat.

mod common;

use common::touch::{self, Painter, Shot};
use supple::embedded::{Body, body, clip};
use supple::flesh::settings::ContactMode;
use supple::glam::{Vec3, vec3};
use supple::play::follow;
use supple::sim::Collider;
use supple::sim::contact::{Placement, Shape, measure_in_colliders};
use supple::tissue::SoftBody;

/// Time at which it sits [s].
const SEATED: f32 = 1.75;
/// Height of the box above the lowest point of the seat without contact [m].
const PRESSED: f32 = 0.035;
const SIZE: (usize, usize) = (320, 340);

fn main() {
    let character = body(Body::Female).unwrap();
    let motion = clip("sit", &character).unwrap();
    let times: Vec<f32> = (0..=8).map(|k| SEATED * k as f32 / 8.0).collect();
    let free = touch::touching(&character, ContactMode::Global);
    let mut air = SoftBody::from_flesh(free.clone()).unwrap();
    follow(&mut air, &character, &motion, &times, &mut |_, _| Ok(())).unwrap();
    let hanging = Shot::of(&air);

    // Below the seat: the lowest point of the trunk, between the hips.
    let worlds = air.pose().worlds(&character.skeleton);
    let hips = Vec3::from(worlds[character.skeleton.find("root").unwrap()].translation);
    let is_seat = |p: &&Vec3| p.distance(hips) < 0.25 && p.z < hips.z + 0.05;
    let lowest = hanging.simulated.iter().filter(is_seat).map(|p| p.y);
    let top = lowest.fold(f32::INFINITY, f32::min) + PRESSED;
    let half = vec3(0.28, 0.5 * top, 0.2);
    let place = Placement::at(vec3(hips.x, half.y, hips.z - 0.06));
    let seat = Collider::driven(Shape::Box { half }, place);

    let mut flesh = free;
    flesh.colliders = vec![seat.clone().into()];
    let mut sitting = SoftBody::from_flesh(flesh).unwrap();
    let mut worst = 0.0;
    follow(&mut sitting, &character, &motion, &times, &mut |_, body| {
        let inside = measure_in_colliders(&body.simulated_skin()?, &body.colliders_now());
        worst = f32::max(worst, inside.worst());
        Ok(())
    })
    .unwrap();
    let seated = Shot::of(&sitting);
    let colliders = std::slice::from_ref(&seat);
    let (before, after) = (
        measure_in_colliders(&hanging.simulated, colliders),
        measure_in_colliders(&seated.simulated, colliders),
    );
    let flat = seated
        .simulated
        .iter()
        .filter(|p| (p.y - top).abs() < 0.003 && (p.z - place.translation.z).abs() < half.z);
    let flat = flat.count();
    println!(
        "inside the box without contact: {} points, at most {:.1} mm deep; with contact: {}, at most {:.1} mm (on the way down {:.1} mm)",
        before.count(),
        1e3 * before.worst(),
        after.count(),
        1e3 * after.worst(),
        1e3 * worst
    );
    println!("{flat} points touch the box");

    let corners = [hips - vec3(0.35, 0.42, 0.3), hips + vec3(0.35, 0.28, 0.45)];
    let side = common::view_in(SIZE, &corners, vec3(1.0, 0.1, 0.0));
    let behind = common::view_in(SIZE, &corners, vec3(0.4, -0.1, -1.0));
    let painter = Painter::new(&character, sitting.flesh());
    let mut tiles = Vec::new();
    for (camera, with_box) in [(&side, true), (&behind, false)] {
        for (skin, caption) in [
            (
                painter.marked(&hanging, &before.points),
                format!(
                    "nothing in the way: {:.0} mm in the box",
                    1e3 * before.worst()
                ),
            ),
            (
                painter.moved(&seated, &hanging, 0.04),
                format!("on the box: {:.1} mm in it", 1e3 * after.worst()),
            ),
        ] {
            let mut meshes = skin;
            if with_box {
                meshes.extend(touch::things(colliders));
            }
            tiles.push((common::tile_in(SIZE, meshes, vec![], camera), caption));
        }
    }
    common::save(
        "sit_on_box",
        &common::sheet("Sitting down on a box", &tiles, 4),
    );
    assert!(before.worst() > 0.8 * PRESSED);
    assert!(after.worst() < 0.002, "{} m in the box", after.worst());
    assert!(worst < 0.006, "on the way down {worst} m");
    assert!(
        after.count() * 20 < before.count().max(20),
        "{} points",
        after.count()
    );
    assert!(flat > 30, "a seat is flat: {flat} points");
}
