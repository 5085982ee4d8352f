//! scratch
use supple::*;
fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let c = embedded::body(embedded::Body::Male).unwrap();
    for n in &names {
        let t = std::time::Instant::now();
        let clip = embedded::clip(n, &c.skeleton).unwrap();
        let d = clip.duration();
        let f = 6;
        let span = skin::Span { from: 0.0, to: d, fps: (f - 1) as f32 / d };
        let m = skin::skin(&c, &clip, rig::skinning::Method::Lbs, span, &mut |_| ());
        println!("{n} {d} {:?}", t.elapsed());
        let mut tiles = vec![];
        for view in 0..1 { let _ = view;
        for (i, fr) in m.frames.iter().enumerate() {
            tiles.push(sheet::Tile { caption: format!("{:.2}", i as f32 / span.fps), positions: fr, pose: Some(&m.poses[i]), ..Default::default() });
        } }
        let mut look = sheet::Look { size: 300, ..Default::default() };
        let a = sheet::sheet(&c, n, &tiles, 6, &look);
        a.save_png(format!("/tmp/clip_{n}.png")).unwrap();
        look.direction = glam::Vec3::new(1.0, 0.1, 0.1);
        let a = sheet::sheet(&c, n, &tiles, 6, &look);
        a.save_png(format!("/tmp/clip_{n}_side.png")).unwrap();
        println!("{n} {:?}", t.elapsed());
    }
}
