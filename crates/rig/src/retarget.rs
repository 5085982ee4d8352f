//! retarget
