//! Modules of a crate, and the imports between their files.
//!
//! A file imports another one if a path in it, in a `use` or inline, leads there. Re-exports are
//! followed to the file that declares the item. Code under `#[cfg(test)]` does not count.

use super::{citations::citing_files, root};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};
use syn::{
    Attribute, File, Item, ItemMod, ItemUse, Macro, Meta, UseTree,
    visit::{self, Visit},
};

/// Maximum number of re-exports that lead from a path to its item. Longer chains are cycles.
const REEXPORTS_MAX: usize = 16;

/// A path as its segments.
type Segments = Vec<String>;

/// One module, in a file of its own or inline.
#[derive(Default)]
struct Module {
    /// Index of its file.
    file: usize,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Names of the items that the module declares itself.
    items: BTreeSet<String>,
    /// Words of its macro calls, which may declare items with these names.
    macro_words: BTreeSet<String>,
    /// Paths of `use` by the name that they give to the item.
    imports: BTreeMap<String, Segments>,
    /// Paths of `use path::*`.
    globs: Vec<Segments>,
    /// Inline paths.
    paths: BTreeSet<Segments>,
}

/// The modules of one crate.
#[derive(Default)]
pub(super) struct CrateModules {
    pub(super) files: Vec<PathBuf>,
    modules: Vec<Module>,
    /// Index of the module that declares each `#[macro_export]` macro. The path of such a macro is
    /// that of the root.
    exported_macros: BTreeMap<String, usize>,
}

impl CrateModules {
    /// Parses the files of the crate with this root file.
    pub(super) fn parse(crate_root: &Path) -> Self {
        let mut modules = Self::default();
        modules.add_file(crate_root, crate_root.parent().unwrap(), None);
        modules
    }

    /// Adds the module of a file and its children. `directory` is where files of its children are.
    fn add_file(&mut self, path: &Path, directory: &Path, parent: Option<usize>) -> usize {
        let text =
            fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let File { items, .. } = syn::parse_file(&text).unwrap();
        self.files.push(path.to_owned());
        self.add_module(self.files.len() - 1, &items, directory, parent)
    }

    fn add_module(
        &mut self,
        file: usize,
        items: &[Item],
        directory: &Path,
        parent: Option<usize>,
    ) -> usize {
        let index = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            ..Module::default()
        });
        for item in items
            .iter()
            .filter(|item| !attributes(item).iter().any(is_test_only))
        {
            match item {
                Item::Mod(child) => {
                    let child_index = self.add_child(index, child, directory);
                    self.modules[index]
                        .children
                        .insert(child.ident.to_string(), child_index);
                }
                item => {
                    if let Some(name) = exported_macro(item) {
                        self.exported_macros.insert(name, index);
                    }
                    self.modules[index].add_item(item);
                }
            }
        }
        index
    }

    fn add_child(&mut self, parent: usize, child: &ItemMod, directory: &Path) -> usize {
        let name = child.ident.to_string();
        let file = self.modules[parent].file;
        if let Some((_, items)) = &child.content {
            return self.add_module(file, items, &directory.join(name), Some(parent));
        }
        let own_directory = directory.join(&name);
        let flat = directory.join(format!("{name}.rs"));
        let path = if flat.is_file() {
            flat
        } else {
            own_directory.join("mod.rs")
        };
        self.add_file(&path, &own_directory, Some(parent))
    }

    /// Returns, for each file, the files that it imports.
    pub(super) fn imports(&self) -> Vec<BTreeSet<usize>> {
        let mut imports = vec![BTreeSet::new(); self.files.len()];
        for (index, module) in self.modules.iter().enumerate() {
            let used = module
                .imports
                .values()
                .chain(&module.globs)
                .chain(&module.paths);
            let targets = used.filter_map(|path| self.resolve(index, path, REEXPORTS_MAX));
            imports[module.file].extend(targets.map(|target| self.modules[target].file));
            imports[module.file].remove(&module.file);
        }
        imports
    }

    /// Returns the module that declares the item of a path used in `module`, unless the path leads
    /// to another crate.
    fn resolve(&self, module: usize, path: &[String], reexports: usize) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => self.descend(0, rest, reexports),
            "self" => self.descend(module, rest, reexports),
            "super" => {
                let parent = self.modules[module].parent?;
                if rest.first().is_some_and(|next| next == "super") {
                    return self.resolve(parent, rest, reexports);
                }
                self.descend(parent, rest, reexports)
            }
            name => {
                let at = &self.modules[module];
                if let Some(&child) = at.children.get(name) {
                    return self.descend(child, rest, reexports);
                }
                // A path of `use` that begins with the name it imports is one of another crate.
                let import = at
                    .imports
                    .get(name)
                    .filter(|import| import.first() != Some(first))?;
                let reexports = reexports.checked_sub(1)?;
                self.resolve(module, &[import.as_slice(), rest].concat(), reexports)
            }
        }
    }

    /// Returns the module that declares the item of a path below `module`.
    fn descend(&self, module: usize, path: &[String], reexports: usize) -> Option<usize> {
        let Some((name, rest)) = path.split_first() else {
            return Some(module);
        };
        let at = &self.modules[module];
        if let Some(&child) = at.children.get(name) {
            return self.descend(child, rest, reexports);
        }
        if at.items.contains(name) {
            return Some(module);
        }
        if module == 0
            && let Some(&declares) = self.exported_macros.get(name)
        {
            return Some(declares);
        }
        let reexports = reexports.checked_sub(1)?;
        if let Some(import) = at.imports.get(name) {
            return self.resolve(module, &[import.as_slice(), rest].concat(), reexports);
        }
        if at.macro_words.contains(name) {
            return Some(module);
        }
        let globs = at
            .globs
            .iter()
            .filter_map(|glob| self.resolve(module, glob, reexports));
        for glob in globs.filter(|&glob| glob != module) {
            let declares = &self.modules[glob];
            if declares.items.contains(name)
                || declares.children.contains_key(name)
                || declares.imports.contains_key(name)
                || declares.macro_words.contains(name)
            {
                return self.descend(glob, path, reexports);
            }
        }
        // An item that a macro declares.
        Some(module)
    }
}

impl Module {
    fn add_item(&mut self, item: &Item) {
        if let Item::Use(item) = item {
            self.add_use(&item.tree, &mut Vec::new());
            return;
        }
        if let Item::Macro(item) = item {
            self.macro_words
                .extend(words(&item.mac.tokens.to_string()).map(str::to_owned));
        }
        self.items.extend(declared_name(item));
        self.visit_item(item);
    }

    /// Adds the paths of a `use`. `prefix` is the part of the path before `tree`.
    fn add_use(&mut self, tree: &UseTree, prefix: &mut Segments) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.add_use(&path.tree, prefix);
                prefix.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(tree, prefix);
                }
            }
            UseTree::Glob(_) => self.globs.push(prefix.clone()),
            UseTree::Name(name) => self.add_import(&name.ident.to_string(), None, prefix),
            UseTree::Rename(renamed) => {
                self.add_import(
                    &renamed.ident.to_string(),
                    Some(renamed.rename.to_string()),
                    prefix,
                );
            }
        }
    }

    fn add_import(&mut self, name: &str, alias: Option<String>, prefix: &[String]) {
        let mut path = prefix.to_vec();
        // `use path::{self}` imports the path itself.
        if name != "self" || prefix.is_empty() {
            path.push(name.to_owned());
        }
        let alias = alias.unwrap_or_else(|| path.last().unwrap().clone());
        // Two imports of one name, such as a type and a macro, both count.
        if self.imports.contains_key(&alias) || alias == "_" {
            self.paths.insert(path);
        } else {
            self.imports.insert(alias, path);
        }
    }
}

impl Visit<'_> for Module {
    fn visit_path(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            self.paths.insert(
                path.segments
                    .iter()
                    .map(|segment| segment.ident.to_string())
                    .collect(),
            );
        }
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        // A `use` within a function: its paths count, its names are not those of the module.
        let mut local = Self::default();
        local.add_use(&item.tree, &mut Vec::new());
        self.paths.extend(
            local
                .imports
                .into_values()
                .chain(local.globs)
                .chain(local.paths),
        );
    }

    fn visit_macro(&mut self, called: &Macro) {
        self.visit_path(&called.path);
        self.paths
            .extend(paths_of_tokens(&called.tokens.to_string()));
    }
}

/// Returns the words in the text of a token stream.
fn words(tokens: &str) -> impl Iterator<Item = &str> {
    tokens.split(|character: char| !(character.is_alphanumeric() || character == '_'))
}

/// Returns the paths in the text of a token stream that begin with `crate`, `self` or `super`.
fn paths_of_tokens(tokens: &str) -> Vec<Segments> {
    let text = tokens
        .replace(" :: ", "::")
        .replace(":: ", "::")
        .replace(" ::", "::");
    let words =
        text.split(|character: char| !(character.is_alphanumeric() || "_:".contains(character)));
    let starts = ["crate::", "self::", "super::"];
    words
        .filter(|word| starts.iter().any(|start| word.starts_with(start)))
        .map(|word| {
            word.split("::")
                .map(str::to_owned)
                .filter(|segment| !segment.is_empty())
                .collect()
        })
        .collect()
}

fn declared_name(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns whether the attribute is a `cfg` that names `test`, and not its negation.
fn is_test_only(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else {
        return false;
    };
    let condition = list.tokens.to_string();
    let mut words = condition.split(|character: char| !character.is_alphanumeric());
    list.path.is_ident("cfg") && !condition.starts_with("not") && words.any(|word| word == "test")
}

/// Returns the name of a macro with `#[macro_export]`.
fn exported_macro(item: &Item) -> Option<String> {
    let Item::Macro(item) = item else {
        return None;
    };
    let is_exported = |attribute: &Attribute| attribute.path().is_ident("macro_export");
    let name = item.ident.as_ref()?;
    item.attrs.iter().any(is_exported).then(|| name.to_string())
}

/// A file that two crates include is compiled twice, and its types are two types. Helpers of several
/// test binaries are in `tests/support`.
#[test]
fn only_benches_include_a_file_by_its_path() {
    let attribute = ["#[", "path"].concat();
    let files = citing_files().into_iter();
    let sources = files.filter(|file| file.extension().is_some_and(|end| end == "rs"));
    let included = sources.filter(|file| {
        let text = fs::read_to_string(file).unwrap();
        text.lines()
            .any(|line| line.trim_start().starts_with(&attribute))
    });
    let outside: Vec<_> = included
        .filter(|file| !file.starts_with(root().join("benches")))
        .collect();
    assert!(outside.is_empty(), "{outside:#?}");
}

#[test]
fn follows_reexports_inline_paths_and_macros_to_the_declaring_file() {
    let directory = tempfile::tempdir().unwrap();
    let files = [
        (
            "lib.rs",
            "mod a; mod b; mod c; mod d; mod e; pub use b::Item; pub use d::*;",
        ),
        (
            "a.rs",
            "use crate::{Item, MACRO_ITEM}; #[cfg(test)] mod tests { use crate::c::Test; }",
        ),
        (
            "b.rs",
            "pub struct Item; fn f() { vec![crate::c::made()]; crate::exported!(); }",
        ),
        (
            "c.rs",
            "pub fn made() -> super::a::Made { loop {} } use std::fs;",
        ),
        ("d.rs", "declare! { pub MACRO_ITEM = 1; } use crate::a::f;"),
        (
            "e.rs",
            "#[macro_export] macro_rules! exported { () => {} } fn f() { crate::exported!() }",
        ),
    ];
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let modules = CrateModules::parse(&directory.path().join("lib.rs"));
    let imports: Vec<Vec<_>> = modules
        .imports()
        .into_iter()
        .map(|targets| targets.into_iter().collect())
        .collect();
    // Files in the order of `mod`: lib, a, b, c, d, e.
    let expected = [vec![2, 4], vec![2, 4], vec![3, 5], vec![1], vec![1], vec![]];
    assert_eq!(imports, expected);
}
