//! `supple skin`

use supple::bake::{self, BakeReport};
use supple::rig::formats::save;
use supple::{Character, motion, skin};

use crate::args::{self, Bake};
use crate::console::{Console, Failure};
