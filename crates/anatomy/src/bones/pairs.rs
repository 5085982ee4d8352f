//! Bones that meet: distances between their surfaces are what "closed" is measured by.

use super::articulations::{CARPALS, breast, finger, owned, spine, toe};

/// Two groups of bones whose surfaces should be near each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub name: String,
    pub bones: [Vec<String>; 2],
}

/// Places where bones should be closed, whether or not they move against each other.
pub(super) fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut push = |name: String, a: Vec<String>, b: Vec<String>| {
        pairs.push(Pair {
            name,
            bones: [a, b],
        })
    };
    let spine = spine();
    for two in spine.windows(2) {
        let short = |name: &str| name.trim_start_matches("vertebra_").to_owned();
        push(
            format!("{}_{}", short(&two[1]), short(&two[0])),
            vec![two[0].clone()],
            vec![two[1].clone()],
        );
    }
    push(
        "C1_skull".into(),
        owned(["vertebra_C1"]),
        owned(["skull", "occipital_bone"]),
    );
    for side in ["l", "r"] {
        let s = |stem: &str| vec![format!("{stem}_{side}")];
        let named = |name: &str| format!("{name}_{side}");
        push(named("hip"), s("pelvis"), s("femur"));
        push(named("knee"), s("femur"), s("tibia"));
        push(named("patella"), s("femur"), s("patella"));
        push(named("ankle"), s("tibia"), s("talus"));
        push(named("sternoclavicular"), breast(), s("clavicle"));
        push(named("acromioclavicular"), s("scapula"), s("clavicle"));
        push(named("shoulder"), s("scapula"), s("humerus"));
        push(named("elbow"), s("humerus"), s("ulna"));
        push(named("humeroradial"), s("humerus"), s("radius"));
        push(named("radioulnar"), s("ulna"), s("radius"));
        let carpals: Vec<String> = CARPALS
            .iter()
            .map(|stem| format!("{stem}_{side}"))
            .collect();
        push(named("wrist"), s("radius"), carpals.clone());
        for i in 1..=12 {
            let above = format!("vertebra_T{}", if i == 1 { 1 } else { i - 1 });
            let rib = vec![format!("rib{i:02}_{side}")];
            push(
                format!("rib{i:02}_vertebra_{side}"),
                vec![format!("vertebra_T{i}"), above],
                rib.clone(),
            );
            if i <= 10 {
                push(format!("rib{i:02}_breast_{side}"), breast(), rib);
            }
        }
        for i in 1..=5 {
            let ray = finger(i, side);
            push(
                format!("carpometacarpal{i}_{side}"),
                carpals.clone(),
                vec![ray[0].clone()],
            );
            ray.windows(2)
                .for_each(|two| push(two[1].clone(), vec![two[0].clone()], vec![two[1].clone()]));
            let ray = toe(i, side);
            let tarsals = ["cuneiform_med", "cuneiform_int", "cuneiform_lat", "cuboid"];
            let tarsals = tarsals.map(|stem| format!("{stem}_{side}")).to_vec();
            push(
                format!("tarsometatarsal{i}_{side}"),
                tarsals,
                vec![ray[0].clone()],
            );
            ray.windows(2)
                .for_each(|two| push(two[1].clone(), vec![two[0].clone()], vec![two[1].clone()]));
        }
        push(named("subtalar"), s("talus"), s("calcaneus"));
        push(named("talonavicular"), s("talus"), s("navicular"));
        push(named("calcaneocuboid"), s("calcaneus"), s("cuboid"));
    }
    pairs
}
