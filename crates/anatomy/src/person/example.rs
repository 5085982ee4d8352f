//! A small person for tests: the example template, unchanged.

use glam::{DMat3, DQuat, DVec3};
use supple_geom::TriMesh;
use supple_geom::shapes::icosphere;

use super::{EyesAndTongue, FitReport, Person, ScanFit};
use crate::Sex;
use crate::body_model::Figure;
use crate::composition::{Known, Measures, Regressors, composition};
use crate::scan::{Coverage, Distances, Placement};
use crate::template::example::example;

/// The person.
pub fn example_person() -> Person {
    let mut anatomy = example();
    anatomy.name = "somebody".to_owned();
    let measures = Measures {
        height: 1.71,
        waist: 0.8,
        volume: 0.066,
        ..Measures::default()
    };
    let known = Known::sex(Sex::Female);
    let composition = composition(&measures, &known, Regressors::embedded());
    Person {
        body: anatomy.rounded(),
        eyes_and_tongue: EyesAndTongue {
            mesh: eye(),
            influences: vec![vec![(1, 1.0)]; 162],
        },
        measures,
        composition: composition.unwrap_or_else(|error| unreachable!("{error}")),
        scans: vec![ScanFit {
            sex_confidence: 0.9,
            confidence: 0.8,
            distances: Distances {
                rms: 0.0021,
                percentile_95: 0.004,
                far_share: 0.01,
                bent: 0.004,
            },
            coverage: Coverage {
                whole: 0.97,
                parts: vec![("the head".to_owned(), 0.9)],
            },
            placement: Placement {
                metres_per_unit: 0.001,
                up: DVec3::Z,
                rotation: DMat3::from_rotation_x(-1.25),
                heading: 0.3,
                floor: true,
                inside_out: false,
            },
            figure: Figure {
                coefficients: vec![0.1, -2.0 / 3.0],
                locals: vec![DQuat::IDENTITY, DQuat::from_rotation_z(0.1)],
                translation: DVec3::new(0.0, 0.1, 1.0 / 3.0),
            },
            warnings: vec!["the left hand is not covered".to_owned()],
        }],
        fit: FitReport {
            rounds: 3,
            seconds: vec![("scaling", 0.25)],
            ..FitReport::default()
        },
    }
}

/// An eyeball on the left.
fn eye() -> TriMesh {
    let mut ball = icosphere(0.012, 2);
    ball.positions.iter_mut().for_each(|p| p.x += 0.03);
    ball
}
