//! Import cycles between the files of each crate.

use super::{modules::CrateModules, root};
use std::collections::BTreeSet;

/// Number of files in the largest import cycle of each crate, by the root file of the crate.
///
/// A change that makes a cycle smaller lowers the number here. Two cycles of the ledger stay:
///
/// * `vm`: a function is declared with its body, the body takes the context, and the context finds
///   declarations in the registry of its chain.
/// * `framework`: a coin and its paired asset have one supply and one balance, so each of the two
///   modules calls the other.
const LARGEST_CYCLES: [(&str, usize); 15] = [
    ("src/limits/lib.rs", 0),
    ("src/metrics/lib.rs", 0),
    ("src/ledger/crypto/lib.rs", 0),
    ("src/ledger/types/lib.rs", 0),
    ("src/ledger/vm/lib.rs", 9),
    ("src/ledger/framework/lib.rs", 6),
    ("src/ledger/execution/lib.rs", 0),
    ("src/store/lib.rs", 0),
    ("actors/lib.rs", 0),
    ("src/http/lib.rs", 0),
    ("src/api/lib.rs", 0),
    ("src/client/lib.rs", 0),
    ("src/bft/lib.rs", 0),
    ("src/relay/lib.rs", 0),
    ("src/node/main.rs", 0),
];

#[test]
fn import_cycles_do_not_grow() {
    let mut wrong = Vec::new();
    for (crate_root, files) in LARGEST_CYCLES {
        let modules = CrateModules::parse(&root().join(crate_root));
        let cycle = largest_cycle(&modules.imports());
        if cycle.len() != files {
            let names = cycle
                .iter()
                .map(|&file| modules.files[file].strip_prefix(root()).unwrap());
            let names: Vec<_> = names.map(|name| name.display().to_string()).collect();
            let found = cycle.len();
            wrong.push(format!(
                "{crate_root}: {found}, not {files}: {}",
                names.join(" ")
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "files in the largest import cycle of a crate:\n{}",
        wrong.join("\n")
    );
}

/// Returns the largest strongly connected component with more than one node, or nothing.
fn largest_cycle(imports: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut exported = vec![BTreeSet::new(); imports.len()];
    for (from, targets) in imports.iter().enumerate() {
        for &to in targets {
            exported[to].insert(from);
        }
    }
    let mut order = Vec::new();
    let mut seen = vec![false; imports.len()];
    for start in 0..imports.len() {
        visit_depth_first(start, imports, &mut seen, &mut order);
    }
    // Kosaraju: components of the reversed graph, in reverse order of completion.
    let mut largest = Vec::new();
    let mut seen = vec![false; imports.len()];
    for &start in order.iter().rev() {
        let mut component = Vec::new();
        visit_depth_first(start, &exported, &mut seen, &mut component);
        if component.len() > 1 && component.len() > largest.len() {
            largest = component;
        }
    }
    largest.sort_unstable();
    largest
}

/// Appends the nodes that can be reached from `start` to `order`, each after its successors.
fn visit_depth_first(
    start: usize,
    successors: &[BTreeSet<usize>],
    seen: &mut [bool],
    order: &mut Vec<usize>,
) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    for &next in &successors[start] {
        visit_depth_first(next, successors, seen, order);
    }
    order.push(start);
}

#[test]
fn finds_the_largest_cycle_of_a_graph() {
    let graph = |edges: &[(usize, usize)]| {
        let mut imports = vec![BTreeSet::new(); 6];
        for &(from, to) in edges {
            imports[from].insert(to);
        }
        largest_cycle(&imports)
    };
    assert_eq!(graph(&[(0, 1), (1, 2), (0, 2)]), [] as [usize; 0]);
    assert_eq!(
        graph(&[(0, 1), (1, 0), (2, 3), (3, 4), (4, 2), (1, 2)]),
        [2, 3, 4]
    );
}
