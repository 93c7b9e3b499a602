//! Corruption of archives: the content of a file changes, but its checksum stays valid.

use std::io::{Cursor, Read, Write};

use fastrand::Rng;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// Creates an archive of these files.
pub fn of(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        // The writer rejects duplicate names.
        if zip.start_file(name.as_str(), SimpleFileOptions::default()).is_ok() {
            zip.write_all(content).expect("its content");
        }
    }
    zip.finish().expect("an archive").into_inner()
}

/// Returns the content of the archived file with this suffix.
pub fn entry(archive: &[u8], ending: &str) -> Vec<u8> {
    let entries = entries(archive).expect("an archive");
    let found = entries.into_iter().find(|(name, _)| name.ends_with(ending));
    found.expect("the archive has the file").1
}

/// Corrupts the content of one file of the archive, if the archive is readable.
pub fn mutate(archive: &mut Vec<u8>, rng: &mut Rng) {
    let Ok(mut entries) = entries(archive) else { return };
    if entries.is_empty() {
        return;
    }
    let at = rng.usize(..entries.len());
    let content = &mut entries[at].1;
    match std::str::from_utf8(content) {
        Ok(_) => super::mutate::text(content, rng),
        Err(_) => super::mutate::bytes(content, rng),
    }
    *archive = of(&entries);
}

fn entries(archive: &[u8]) -> zip::result::ZipResult<Vec<(String, Vec<u8>)>> {
    let mut zip = ZipArchive::new(Cursor::new(archive))?;
    let mut entries = Vec::new();
    for at in 0..zip.len() {
        let file = zip.by_index(at)?;
        let name = file.name()?.into_owned();
        let mut content = Vec::new();
        file.take(1 << 20).read_to_end(&mut content)?;
        entries.push((name, content));
    }
    Ok(entries)
}
