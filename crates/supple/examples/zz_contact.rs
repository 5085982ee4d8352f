use std::time::Instant;
use supple::sim::contact::*;
use supple::{embedded, tissue::SoftBody};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let clip = args.get(1).map_or("elbow", |s| s.as_str());
    let mode = args.get(2).map_or("off", |s| s.as_str());
    let who = args.get(3).map_or("male", |s| s.as_str());
    let character = embedded::body(if who == "male" { embedded::Body::Male } else { embedded::Body::Female }).unwrap();
    let t0 = Instant::now();
    let mut body = SoftBody::new(&character, Default::default()).unwrap();
    println!("built in {:?}, free {}", t0.elapsed(), body.flesh().model.free_count());
    let surface = body.flesh().model.contact_surface().unwrap();
    let over = surface.overlaps();
    println!("edge {:.4} overlaps {} worst {:.4}", surface.mean_edge(), over.iter().filter(|&&o| o > 0.0).count(), over.iter().fold(0f32, |a, &b| a.max(b)));
    if mode == "global" { body.solver_settings().contact.mode = ContactMode::Global; }
    let clip = embedded::clip(clip, &character).unwrap();
    let fps = 60.0;
    let n = (clip.duration() * fps) as usize;
    let hold = 90;
    let mut last: Vec<glam::Vec3> = vec![];
    let mut old: Vec<Contact> = vec![];
    for a in &args { if let Some(x) = a.strip_prefix("it=") { body.solver_settings().iterations = x.parse().unwrap(); } if let Some(x) = a.strip_prefix("mu=") { body.solver_settings().contact.friction = x.parse().unwrap(); } }
    let stop = args.get(4).and_then(|s| s.parse::<f32>().ok());
    for f in 0..=n + hold {
        let mut time = (f as f32 / fps).min(clip.duration());
        if let Some(s) = stop { time = time.min(s); }
        let pose = clip.sample(&character.skeleton, time);
        let t = Instant::now();
        if f == 0 { body.place(&pose).unwrap() } else { body.advance(&pose, 1.0 / f64::from(fps)).unwrap() }
        let dt = t.elapsed();
        let state = body.state();
        let speed = if last.is_empty() { 0.0 } else { (state.velocities.iter().map(|v| v.length_squared()).sum::<f32>() / state.velocities.len() as f32).sqrt() };
        last = state.positions.clone();
        let fresh = state.contact.contacts.iter().filter(|c| !old.iter().any(|o| o.point == c.point)).count();
        let other = state.contact.contacts.iter().filter(|c| old.iter().any(|o| o.point == c.point && o.triangle != c.triangle)).count();
        old = state.contact.contacts.clone();
        if f % 10 == 0 || f == n + hold {
            let skin = body.flesh().flesh_positions(&pose, state).unwrap();
            let bases = body.flesh().targets(&pose).unwrap().bases;
            let p = measure_penetration(body.flesh().model.contact_surface().unwrap(), &skin, &bases);
            let c = &state.contact.contacts;
            let pressing = c.iter().filter(|c| c.force != glam::Vec3::ZERO).count();
            let force: f32 = c.iter().map(|c| c.force.length()).sum();
            let inside = c.iter().filter(|c| c.distance < 0.0).count();
            let with = p.points.iter().filter(|&&q| c.iter().any(|c| c.point == q)).count();
            let free = p.points.iter().filter(|&&q| body.flesh().columns()[q as usize].is_free).count();
            let deep: Vec<usize> = [1.0, 3.0, 10.0, 30.0].iter().map(|&d| p.depths.iter().filter(|&&x| x * 1e3 > d).count()).collect();
            println!("     fresh {fresh} other {other} pen with contact {with} free {free} deeper than 1,3,10,30 mm {deep:?} q {:?}", body.quality());
            if f == n + hold {
                let mut obj = String::new();
                for q in &skin { obj += &format!("v {} {} {}\n", q.x, q.y, q.z); }
                for t in &body.flesh().skin_mesh().triangles { obj += &format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1); }
                std::fs::write(format!("/tmp/contact-pics/{}_{}.obj", args[1], mode), obj).unwrap();
            }
            println!("{f:4} {:6.2?} pen {:4} worst {:6.2} mm | contacts {:4} pressing {:4} inside {:4} force {:8.2} N | rms speed {:.3} mm/s finite {}", dt, p.count(), p.worst() * 1e3, c.len(), pressing, inside, force, speed * 1e3, state.is_finite());
        }
    }
}
