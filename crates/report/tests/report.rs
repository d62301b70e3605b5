//! Reports of runs made by hand: golden texts, documents against the published schema, figures.

#[cfg(test)]
mod report {
    mod document;
    mod figures;
    mod golden;
    mod hosts;
    mod profile;
    mod rows;
    mod sample;
    mod variants;
    mod watched;
}
