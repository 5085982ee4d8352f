//! Blending two clips.

use crate::{Clip, Pose, Skeleton};

/// Blends clip `a` at `time_a` \[s\] with clip `b` at `time_b` \[s\]. Weight 0 is `a` alone, weight 1 is `b` alone.
pub fn blend(
    skeleton: &Skeleton,
    (a, time_a): (&Clip, f32),
    (b, time_b): (&Clip, f32),
    weight: f32,
) -> Pose {
    let weight = weight.clamp(0.0, 1.0);
    a.sample(skeleton, time_a)
        .blend(&b.sample(skeleton, time_b), weight)
}

/// Clip `a` followed by clip `b`, which fades in over the last `overlap` seconds of `a`.
///
/// The blend factor is a smoothstep, so the speed has no jump at either end of the fade.
pub fn crossfade(skeleton: &Skeleton, a: &Clip, b: &Clip, overlap: f32, time: f32) -> Pose {
    let overlap = clamped_overlap(a, b, overlap);
    let start = a.duration() - overlap;
    if time < start {
        return a.sample(skeleton, time);
    }
    if time >= a.duration() {
        return b.sample(skeleton, time - start);
    }
    let t = ((time - start) / overlap).clamp(0.0, 1.0);
    let weight = t * t * (3.0 - 2.0 * t);
    blend(skeleton, (a, time), (b, time - start), weight)
}

/// Duration of [`crossfade`] \[s\].
pub fn crossfade_duration(a: &Clip, b: &Clip, overlap: f32) -> f32 {
    a.duration() + b.duration() - clamped_overlap(a, b, overlap)
}

/// The overlap, clamped to the shorter clip.
fn clamped_overlap(a: &Clip, b: &Clip, overlap: f32) -> f32 {
    overlap.clamp(0.0, a.duration().min(b.duration()))
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::clip::{Interpolation, Track, Values};
    use crate::skeleton::JointKind;
    use crate::{Joint, Transform};

    fn one_joint() -> Skeleton {
        let joint = Joint {
            name: "root".into(),
            parent: None,
            rest: Transform::IDENTITY,
            tail: None,
            kind: JointKind::Bone,
        };
        Skeleton::from_unordered(vec![joint]).unwrap().0
    }

    fn along_x(from: f32, to: f32) -> Clip {
        Clip {
            name: "x".into(),
            tracks: vec![Track {
                joint: 0,
                times: vec![0.0, 2.0],
                values: Values::Translation(vec![Vec3::X * from, Vec3::X * to]),
                interpolation: Interpolation::Linear,
            }],
            morphs: Vec::new(),
        }
    }

    #[test]
    fn crossfade_joins_its_clips() {
        let skeleton = one_joint();
        let (a, b) = (along_x(0.0, 2.0), along_x(10.0, 12.0));
        let x = |time| {
            crossfade(&skeleton, &a, &b, 1.0, time).locals[0]
                .translation
                .x
        };
        assert_eq!(crossfade_duration(&a, &b, 1.0), 3.0);
        assert!((x(0.5) - 0.5).abs() < 1e-6);
        assert!((x(1.5) - 6.0).abs() < 1e-5);
        assert!((x(2.5) - 11.5).abs() < 1e-5);
        // An overlap longer than the clips is clamped.
        assert_eq!(crossfade_duration(&a, &b, 9.0), 2.0);
    }

    #[test]
    fn poses_survive_a_clip_and_loops_wrap() {
        let skeleton = one_joint();
        let poses: Vec<Pose> = (0..5)
            .map(|i| {
                let mut pose = Pose::rest(&skeleton);
                pose.locals[0].translation.y = i as f32;
                pose.twist = vec![0.1 * i as f32];
                pose
            })
            .collect();
        let clip = Clip::from_poses("up", &skeleton, 4.0, &poses);
        assert_eq!(clip.tracks.len(), 2);
        assert_eq!(clip.duration(), 1.0);
        assert_eq!(clip.sample(&skeleton, 0.5), poses[2]);
        assert_eq!(clip.sample_looped(&skeleton, 2.25), poses[1]);
        assert_eq!(clip.sample_looped(&skeleton, -0.25), poses[3]);
        let fine = clip.resampled(8.0);
        assert_eq!(fine.tracks[0].times.len(), 9);
        assert_eq!(fine.sample(&skeleton, 0.125).locals[0].translation.y, 0.5);
    }
}
