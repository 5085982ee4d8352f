//! `supple person`, `people` and `composition`, and persons in the other commands. Accuracy is tested in the libraries.

mod common;

use std::fmt::Write;
use std::path::Path;

use common::{fail, succeed, supple, text};
use supple::anatomy::Sex;
use supple::anatomy::body_model::BodyModel;
use supple::anatomy::body_model::sample::{BodySampler, PoseRange};

/// A body of the space as a scan: millimetres, Z up, turned, without its eyes.
fn write_scan(path: &Path, sex: Sex, seed: u64) {
    let model = BodyModel::embedded(sex);
    let figure = BodySampler::new(seed).figure(model, &PoseRange::default(), 0.7);
    let mut text = String::new();
    for p in figure.vertices(model) {
        writeln!(
            text,
            "v {:.2} {:.2} {:.2}",
            1e3 * p.x,
            -1e3 * p.z,
            1e3 * p.y
        )
        .unwrap();
    }
    for t in &model.triangles {
        if !t.iter().any(|&v| model.is_hidden(v as usize)) {
            writeln!(text, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1).unwrap();
        }
    }
    std::fs::write(path, text).unwrap();
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_scan_becomes_a_person_that_every_command_takes() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write_scan(&here.join("anna.obj"), Sex::Female, 5);
    std::fs::write(here.join("broken.ply"), "ply\nformat ascii").unwrap();
    std::fs::write(
        here.join("list.csv"),
        "scan,sex,weight_kg\nbroken.ply,,\nanna.obj,female,61.5\n",
    )
    .unwrap();
    let said = succeed(here, &["people", "list.csv", "-o", "out"]);
    assert!(said.contains("broken: refused: "), "{said}");
    assert!(said.contains("1 women, 0 men, 1 refused"), "{said}");
    let wanted = [
        "anna.json",
        "anna.person",
        "broken.json",
        "people.csv",
        "people.md",
        "people.png",
    ];
    assert_eq!(entries(&here.join("out")), wanted);
    let csv = std::fs::read_to_string(here.join("out/people.csv")).unwrap();
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.contains("61.50"), "{csv}");

    // Again: nothing is done, and a half-written file of a stopped run goes.
    std::fs::write(here.join("out/.anna.person.77.part"), "half").unwrap();
    let before = std::fs::metadata(here.join("out/anna.person")).unwrap();
    let said = succeed(here, &["people", "list.csv", "-o", "out"]);
    assert!(said.contains("2 were done before"), "{said}");
    let after = std::fs::metadata(here.join("out/anna.person")).unwrap();
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    assert_eq!(entries(&here.join("out")), wanted);
    let again = std::fs::read_to_string(here.join("out/people.csv")).unwrap();
    assert_eq!(again, csv);

    let person = "out/anna.person";
    let told = json(&succeed(here, &["--json", "info", person]));
    assert_eq!(told["sex"], "female");
    assert_eq!(told["composition"]["weight"]["value"], 61.5);
    assert_eq!(told["registration"]["placement"]["metres_per_unit"], 0.001);
    assert_eq!(told["fit"]["layers"]["inverted_fat"], 0);
    let told = succeed(here, &["info", person]);
    for word in ["layered person, woman", "61.5 kg (given)", "NHANES"] {
        assert!(told.contains(word), "no '{word}' in {told}");
    }
    let size = before.len();
    assert!((1 << 20..12 << 20).contains(&size), "{size} bytes");

    succeed(here, &["picture", person, "--size", "64", "-o", "skin.png"]);
    succeed(
        here,
        &[
            "picture", person, "--layers", "--size", "48", "-o", "in.png",
        ],
    );
    let written = succeed(here, &["convert", person, "layers"]);
    assert!(written.contains("tissue.vtk"), "{written}");
    assert!(here.join("layers/bones/femur_l.ply").exists());
    assert_eq!(entries(&here.join("layers/bones")).len(), 178);
    succeed(here, &["convert", person, "skin.glb"]);
    let skin = json(&succeed(here, &["--json", "info", "skin.glb"]));
    assert_eq!(skin["parts"][0]["vertices"], 13348);
    assert_eq!(skin["joints"].as_array().unwrap().len(), 104);
    succeed(
        here,
        &[
            "skin", person, "--method", "lbs", "--clip", "knee", "--fps", "5", "-o", "knee.pc2",
        ],
    );

    // Half a file, and one that another program saved.
    let bytes = std::fs::read(here.join(person)).unwrap();
    std::fs::write(here.join("half.person"), &bytes[..bytes.len() / 2]).unwrap();
    let message = fail(here, &["info", "half.person"]);
    assert!(
        message.contains("half.person") && message.contains("damaged"),
        "{message}"
    );
    std::fs::copy(here.join("skin.glb"), here.join("other.person")).unwrap();
    for command in [
        &["info", "other.person"][..],
        &["picture", "other.person", "--layers"],
    ] {
        let message = fail(here, command);
        assert!(message.contains("not a person file"), "{message}");
    }
    let message = fail(here, &["skin", "half.person", "-o", "x.pc2"]);
    assert!(message.contains("damaged"), "{message}");
}

#[test]
fn what_is_no_person_is_refused_in_a_line_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let mut ball = String::new();
    for k in 0..4000 {
        let (a, b) = (0.1 * f64::from(k), 0.001 * f64::from(k));
        let (x, y, z) = (a.cos() * b.sin(), b.cos(), a.sin() * b.sin());
        writeln!(ball, "v {x} {y} {z}").unwrap();
    }
    std::fs::write(here.join("ball.obj"), ball).unwrap();
    std::fs::write(here.join("empty.ply"), "").unwrap();
    std::fs::write(here.join("few.xyz"), "0 0 0\n1 1 1\n").unwrap();
    std::fs::write(here.join("marks.txt"), "wrist.L 1 2\n").unwrap();
    std::fs::write(here.join("bad.toml"), "x = 3\n").unwrap();
    let before = entries(here);
    let says = |args: &[&str], wanted: &str| {
        let all = [&["person"], args].concat();
        let message = fail(here, &all);
        let first = message.lines().next().unwrap();
        assert!(
            first.contains(wanted),
            "{all:?} does not say '{wanted}': {message}"
        );
    };
    says(&["none.ply"], "none.ply");
    says(&["empty.ply"], "empty.ply");
    says(&["few.xyz"], "usable points");
    says(&["ball.obj", "--sex", "male"], "ball.obj: ");
    says(&["ball.obj", "-o", "x.glb"], ".person");
    says(&["ball.obj", "--picture", "x.jpg"], "PNG");
    says(&["ball.obj", "--landmarks", "marks.txt"], "line 1");
    says(&["ball.obj", "--regressors", "bad.toml"], "bad.toml");
    for bad in ["-3", "lots", "95%"] {
        let output = supple(here, &["person", "ball.obj", "--fat", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}");
    }
    let message = fail(here, &["people", "marks.txt", "-o", "marks.txt"]);
    assert!(message.contains("not a folder"), "{message}");
    assert_eq!(entries(here), before);
}

#[test]
fn models_of_fat_are_fitted_to_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let mut table = String::from("sex,age,height_cm,weight_kg,waist_cm,fat_percent\n");
    for k in 0..300 {
        let part = |n: usize| ((k * n) % 97) as f64 / 97.0;
        let sex = if k % 2 == 0 { "male" } else { "female" };
        let (height, weight, waist) = (
            150.0 + 50.0 * part(17),
            45.0 + 60.0 * part(41),
            60.0 + 50.0 * part(57),
        );
        let fat = 5.0 + 20.0 * part(41) + 10.0 * part(57);
        writeln!(
            table,
            "{sex},{},{height},{weight},{waist},{fat}",
            20 + k % 50
        )
        .unwrap();
    }
    std::fs::write(here.join("people.csv"), table).unwrap();
    let said = succeed(
        here,
        &[
            "composition",
            "fit",
            "people.csv",
            "-o",
            "models.toml",
            "--report",
            "errors.json",
        ],
    );
    for word in [
        "150 women",
        "150 men",
        "height, weight, waist, age",
        "wrote models.toml",
    ] {
        assert!(said.contains(word), "no '{word}' in {said}");
    }
    let models = std::fs::read_to_string(here.join("models.toml")).unwrap();
    assert!(models.contains("source = \"people\""), "{models}");
    let errors = json(&std::fs::read_to_string(here.join("errors.json")).unwrap());
    assert!(errors["male"]["models"][0]["mean_error"].as_f64().unwrap() < 2.0);
    std::fs::write(
        here.join("few.csv"),
        "sex,age,height_cm,weight_kg,waist_cm,fat_percent\n",
    )
    .unwrap();
    let message = fail(here, &["composition", "fit", "few.csv"]);
    assert!(
        message.contains("few.csv") && message.contains("at least 100"),
        "{message}"
    );
    let output = supple(here, &["composition", "fit", "none.csv"]);
    assert!(text(&output.stderr).contains("none.csv"));
}
