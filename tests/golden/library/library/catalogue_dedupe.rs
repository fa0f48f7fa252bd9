//! Finds records in the catalogue that describe the same book twice.

use std::collections::HashMap;

/// What two records of one book nearly always share, even when one was typed in 1994.
#[derive(Hash, PartialEq, Eq, Clone, Debug)]
pub struct Fingerprint {
    title: String,
    year: u16,
    pages_rounded: u16,
}

/// Lower case, no articles, no subtitles: "The Hive: A Life" is "hive".
pub fn plain_title(title: &str) -> String {
    let main = title.split(':').next().unwrap_or("").to_lowercase();
    main.split_whitespace().filter(|w| !matches!(*w, "the" | "a" | "an")).collect::<Vec<_>>().join(" ")
}

pub fn fingerprint(title: &str, year: u16, pages: u16) -> Fingerprint {
    // Pages to the nearest ten: some cataloguers count the index and some do not.
    Fingerprint { title: plain_title(title), year, pages_rounded: (pages + 5) / 10 * 10 }
}

/// Groups of two and more. A person looks at each: large print has the same fingerprint far too often.
pub fn suspects(records: &[(u32, Fingerprint)]) -> Vec<Vec<u32>> {
    let mut groups: HashMap<&Fingerprint, Vec<u32>> = HashMap::new();
    for (id, print) in records {
        groups.entry(print).or_default().push(*id);
    }
    groups.into_values().filter(|ids| ids.len() > 1).collect()
}
