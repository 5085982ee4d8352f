//! Another shape of the skin while it moves: displacements at rest, turned with the joints.

use supple::glam::{Mat3A, Vec3, Vec3A};

use crate::stage::Stage;

impl Stage {
    /// Shows the first part with other positions at rest \[m\], three numbers a vertex; with none, as it is. What does not
    /// fit is ignored.
    pub fn set_shape(&mut self, positions: &[f32]) {
        let rest = &self.looks.rest;
        let count = self.looks.parts.first().map_or(0, |part| part.vertices);
        self.offsets = match positions.len() == 3 * count && count > 0 {
            true => (positions.chunks_exact(3).zip(rest))
                .map(|(to, from)| Vec3::from_slice(to) - *from)
                .collect(),
            false => Vec::new(),
        };
    }

    /// Adds the displacements to posed positions.
    pub(crate) fn add_offsets(&self, positions: &mut [f32]) {
        let Some(part) = self.character.parts.first() else {
            return;
        };
        if self.offsets.len() != part.binding.influences.len() {
            return;
        }
        let worlds = self.pose.worlds(&self.character.skeleton);
        let binding = &part.binding;
        let turns: Vec<Mat3A> = (binding.joints.iter().zip(&binding.inverse_binds))
            .map(|(&joint, bind)| (worlds[joint] * *bind).matrix3)
            .collect();
        for (vertex, (offset, place)) in
            (self.offsets.iter().zip(positions.chunks_exact_mut(3))).enumerate()
        {
            let entries = binding.influences.of(vertex).iter();
            let moved: Vec3A = entries
                .filter_map(|&(slot, weight)| Some(*turns.get(slot as usize)? * weight))
                .map(|turn| turn * Vec3A::from(*offset))
                .sum();
            for (x, add) in place.iter_mut().zip(moved.to_array()) {
                *x += add;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::skin::Method;

    #[test]
    fn a_shape_turns_with_the_body() {
        let mut stage = Stage::embedded("male").unwrap();
        let shown = |stage: &mut Stage| {
            let mut shown = Default::default();
            stage.show(Method::Lbs, &mut shown, false).unwrap();
            shown.positions
        };
        let count = stage.looks.parts[0].vertices;
        let mut shape: Vec<f32> = stage.looks.rest[..count]
            .iter()
            .flat_map(|p| p.to_array())
            .collect();
        // A centimetre to the side, in a pose with arms up: lengths stay about what they are.
        shape.iter_mut().step_by(3).for_each(|x| *x += 0.01);
        stage.seek(0.6);
        stage.advance(1.0 / 60.0, 0.0, true).unwrap();
        let plain = shown(&mut stage);
        stage.set_shape(&shape);
        let moved = shown(&mut stage);
        let (mut most, mut sum) = (0.0f32, 0.0f32);
        for (a, b) in plain.chunks_exact(3).zip(moved.chunks_exact(3)).take(count) {
            let length = Vec3::from_slice(a).distance(Vec3::from_slice(b));
            most = most.max(length);
            sum += length;
        }
        assert!(most < 0.0101, "{most}");
        assert!(sum / count as f32 > 0.009, "{}", sum / count as f32);
        stage.set_shape(&[]);
        assert_eq!(shown(&mut stage), plain);
        stage.set_shape(&[1.0, 2.0]);
        assert_eq!(shown(&mut stage), plain);
    }
}
