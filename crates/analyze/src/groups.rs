//! Groups of equal items.

/// Groups items that `is_same` relates to the first of a group, in the order of these firsts.
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
