//! Groups of things that are the same in some respect.

/// Items in groups of those that are the same, in the order of the first of each.
pub(crate) fn grouped<T>(
    items: impl IntoIterator<Item = T>,
    is_same: impl Fn(&T, &T) -> bool,
) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    for item in items {
        match groups.iter_mut().find(|group| is_same(&group[0], &item)) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// The first item of each group.
pub(crate) fn firsts<T>(items: impl IntoIterator<Item = T>, is_same: impl Fn(&T, &T) -> bool) -> Vec<T> {
    grouped(items, is_same).into_iter().filter_map(|group| group.into_iter().next()).collect()
}
