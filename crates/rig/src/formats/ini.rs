//! `.ini`: lists the files of one model in lines `SIMMESH file`, `VISMESH file`, `SKELETON file`, `ANIMATION file [name]`.

use super::FormatError;
use super::text::{Words, lossy};

/// File names of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pieces {
    /// The mesh to load: `VISMESH` if present, else `SIMMESH`.
    pub mesh: String,
    /// A coarser mesh, used only if the other is missing; Supple builds its own simulation mesh.
    pub coarse: Option<String>,
    /// The `.skel`.
    pub skeleton: Option<String>,
    /// The `.anim`s.
    pub motions: Vec<String>,
}

/// Parses the file names; unknown keys are ignored.
pub(super) fn parse_ini(bytes: &[u8]) -> Result<Pieces, FormatError> {
    let mut words = Words::new(bytes, Some(b'#'));
    let (mut fine, mut coarse) = (None, None);
    let mut pieces = Pieces::default();
    while let Some(key) = words.next_word() {
        let file = words.next_on_line().map(lossy);
        let key = key.to_ascii_uppercase();
        match (key.as_slice(), file) {
            (b"VISMESH", Some(file)) => fine = Some(file),
            (b"SIMMESH", Some(file)) => coarse = Some(file),
            (b"SKELETON", Some(file)) => pieces.skeleton = Some(file),
            (b"ANIMATION", Some(file)) => pieces.motions.push(file),
            _ => {}
        }
        words.rest_of_line();
    }
    (pieces.mesh, pieces.coarse) = match (fine, coarse) {
        (Some(fine), coarse) => (fine, coarse),
        (None, Some(coarse)) => (coarse, None),
        (None, None) => return Err(FormatError::Empty("no SIMMESH or VISMESH line")),
    };
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fine_mesh_is_shown() {
        let text =
            b"SIMMESH a.off\nVISMESH b.off\nOTHER x\nSKELETON c.skel\nANIMATION d.anim walk\n";
        let pieces = parse_ini(text).unwrap();
        assert_eq!(pieces.mesh, "b.off");
        assert_eq!(pieces.coarse.as_deref(), Some("a.off"));
        assert_eq!(pieces.skeleton.as_deref(), Some("c.skel"));
        assert_eq!(pieces.motions, ["d.anim"]);
        assert!(parse_ini(b"SKELETON x").is_err());
    }
}
