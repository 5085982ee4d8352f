//! Joints of the same names in two skeletons.

use std::collections::{HashMap, HashSet};

use crate::{Clip, Skeleton};

/// The joints that two skeletons share.
pub(crate) struct Pairs {
    /// Own joint of each joint of the other skeleton that has one.
    pub own: HashMap<usize, usize>,
    /// The same pairs, in the order of the other skeleton.
    pub all: Vec<(usize, usize)>,
    /// Pairs without another pair above them.
    pub tops: Vec<(usize, usize)>,
    /// All other pairs that the clip moves or that lie above such.
    pub inner: Vec<(usize, usize)>,
}

impl Pairs {
    /// The pairs of a motion for `other`. `None` if a joint with others below it moves and has no counterpart, if most have none, or if the
    /// hierarchies differ.
    pub fn of(own: &Skeleton, other: &Skeleton, clip: &Clip) -> Option<Self> {
        let moved: HashSet<usize> = clip.tracks.iter().map(|track| track.joint).collect();
        if moved.iter().any(|&joint| joint >= other.len()) {
            return None;
        }
        let pairs = by_name(own, other, &moved);
        let found = moved
            .iter()
            .filter(|joint| pairs.contains_key(joint))
            .count();
        if found == 0 || 2 * found < moved.len() {
            return None;
        }
        let taken: HashSet<usize> = pairs.values().copied().collect();
        let above = |skeleton: &Skeleton, joint: usize, is: &dyn Fn(usize) -> bool| {
            let parent = skeleton.joints()[joint].parent;
            std::iter::successors(parent, |&joint| skeleton.joints()[joint].parent).find(|&j| is(j))
        };
        let (mut tops, mut inner) = (Vec::new(), Vec::new());
        let mut ordered: Vec<(usize, usize)> = pairs.iter().map(|(&a, &b)| (a, b)).collect();
        ordered.sort_unstable();
        for &(from, to) in &ordered {
            let moves = |joint| moved.contains(&joint);
            let concerned = moves(from) || above(other, from, &moves).is_some();
            let lost = |joint| moves(joint) && !pairs.contains_key(&joint);
            if above(other, from, &lost).is_some() {
                return None;
            }
            let parents = (
                above(other, from, &|joint| pairs.contains_key(&joint)),
                above(own, to, &|joint| taken.contains(&joint)),
            );
            match parents {
                (None, None) => tops.push((from, to)),
                (Some(a), Some(b)) if pairs[&a] == b && concerned => inner.push((from, to)),
                _ if concerned => return None,
                _ => {}
            }
        }
        Some(Self {
            own: pairs,
            all: ordered,
            tops,
            inner,
        })
    }
}

/// Letters and digits of a name in lower case, without the prefix that Mixamo adds: exporters change the rest.
fn plain(name: &str) -> String {
    let kept = name.chars().filter(|c| c.is_alphanumeric());
    let name: String = kept.flat_map(char::to_lowercase).collect();
    match name.strip_prefix("mixamorig") {
        Some(rest) => rest
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .to_owned(),
        None => name,
    }
}

/// The own joint of each joint of the same name. Where names repeat, the parents' names decide, then the order.
fn by_name(own: &Skeleton, other: &Skeleton, moved: &HashSet<usize>) -> HashMap<usize, usize> {
    let mut exact: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, joint) in own.joints().iter().enumerate() {
        if !plain(&joint.name).is_empty() {
            exact.entry(&joint.name).or_default().push(index);
            alike.entry(plain(&joint.name)).or_default().push(index);
        }
    }
    let parent = |skeleton: &Skeleton, joint: usize| {
        let parent = skeleton.joints()[joint].parent;
        parent.map(|parent| plain(&skeleton.joints()[parent].name))
    };
    let mut pairs = HashMap::new();
    let mut taken = HashSet::new();
    // Joints that move choose first.
    let order = (0..other.len()).filter(|joint| moved.contains(joint));
    for from in order.chain((0..other.len()).filter(|joint| !moved.contains(joint))) {
        let name = &other.joints()[from].name;
        let Some(candidates) = exact.get(name.as_str()).or_else(|| alike.get(&plain(name))) else {
            continue;
        };
        let free = || candidates.iter().copied().filter(|to| !taken.contains(to));
        let above = parent(other, from);
        let same = free().find(|&to| parent(own, to) == above);
        if let Some(to) = same.or_else(|| free().next()) {
            taken.insert(to);
            pairs.insert(from, to);
        }
    }
    pairs
}
