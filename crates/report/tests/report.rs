//! Reports of runs made by hand: golden texts, documents against the published schema, figures.

#[cfg(test)]
mod report {
    mod ab;
    mod comparisons;
    mod document;
    mod figures;
    mod golden;
    mod history;
    mod hosts;
    mod overload;
    mod page;
    mod pipelines;
    mod profile;
    mod rows;
    mod run_rows;
    mod sample;
    mod schemas;
    mod snippet_rates;
    mod snippets;
    mod variants;
    mod watched;
}
