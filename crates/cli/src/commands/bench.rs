//! `supple bench`

use crate::args;
use crate::console::{Console, Failure};

/// Measures reading and welding.
pub fn run(args: &args::Bench, console: &Console) -> Result<(), Failure> {
    let sizes = [args.vertices / 10, args.vertices / 3, args.vertices];
    let progress = console.progress("reading OBJ", sizes.len());
    let mut rows = Vec::new();
    for size in sizes.into_iter().filter(|&size| size > 3) {
        rows.push(supple::bench::read_obj(size)?);
        progress.step();
    }
    drop(progress);
    let mut text = format!(
        "OBJ\n{:>10} {:>8} {:>12} {:>12} {:>12} {:>14}",
        "vertices", "MB", "read MB/s", "parse MB/s", "weld MB/s", "s per million"
    );
    for row in &rows {
        text.push_str(&format!(
            "\n{:>10} {:>8.1} {:>12.0} {:>12.0} {:>12.0} {:>14.3}",
            row.vertices,
            row.megabytes,
            row.raw_mb_per_s,
            row.parse_mb_per_s,
            row.weld_mb_per_s,
            row.seconds_per_million
        ));
    }
    console.result(text, &serde_json::json!({ "obj": rows }));
    Ok(())
}
