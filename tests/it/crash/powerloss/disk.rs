//! A model of a file system that knows what is durable: content of files after their sync, names
//! after the sync of their directory.

use super::recorder::Step;
use fastrand::Rng;
use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
};

/// The unit in which a disk may tear a write, in bytes.
const SECTOR_BYTES: usize = 512;
/// The index of the root among the nodes.
const ROOT: usize = 0;

/// The nodes in a directory by name.
type Names = BTreeMap<String, usize>;

/// The content of a directory or file.
#[derive(Clone, Debug)]
enum Content {
    Directory(Names),
    File(Vec<u8>),
}

/// A change of a directory or file.
#[derive(Clone, Debug)]
enum Change {
    Link(String, usize),
    Unlink(String),
    Rename(String, String, usize),
    Write(usize, Vec<u8>),
    Length(usize),
}

impl Content {
    fn names(&self) -> &Names {
        match self {
            Self::Directory(names) => names,
            Self::File(_) => panic!("a file has no names"),
        }
    }

    fn apply(&mut self, change: &Change) {
        match (self, change) {
            (Self::Directory(names), Change::Link(name, node)) => {
                names.insert(name.clone(), *node);
            }
            (Self::Directory(names), Change::Unlink(name)) => {
                names.remove(name);
            }
            (Self::Directory(names), Change::Rename(from, to, node)) => {
                names.remove(from);
                names.insert(to.clone(), *node);
            }
            (Self::File(bytes), Change::Write(offset, written)) => {
                let end = offset + written.len();
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[*offset..end].copy_from_slice(written);
            }
            (Self::File(bytes), Change::Length(length)) => bytes.resize(*length, 0),
            (content, change) => panic!("{change:?} of {content:?}"),
        }
    }

    /// Applies each sector of a write, or the whole of another change, with a probability of
    /// `arrives_in_4` in 4.
    fn apply_torn(&mut self, change: &Change, random: &mut Rng, arrives_in_4: u64) {
        if let Change::Write(offset, bytes) = change {
            for (number, sector) in bytes.chunks(SECTOR_BYTES).enumerate() {
                if random.u64(..4) < arrives_in_4 {
                    self.apply(&Change::Write(
                        offset + number * SECTOR_BYTES,
                        sector.to_vec(),
                    ));
                }
            }
        } else if random.u64(..4) < arrives_in_4 {
            self.apply(change);
        }
    }
}

/// A directory or file.
#[derive(Clone, Debug)]
struct Node {
    written: Content,
    durable: Content,
    /// Changes that are written but not durable.
    pending: Vec<Change>,
    /// Number of durable changes.
    synced: usize,
}

impl Node {
    fn new(content: Content) -> Self {
        Self {
            written: content.clone(),
            durable: content,
            pending: Vec::new(),
            synced: 0,
        }
    }

    fn change(&mut self, change: Change) {
        self.written.apply(&change);
        self.pending.push(change);
    }

    /// Returns the number of changes.
    fn changes(&self) -> usize {
        self.synced + self.pending.len()
    }

    /// Makes the first `changes` changes durable.
    fn sync(&mut self, changes: usize) {
        let count = changes.saturating_sub(self.synced);
        for change in self.pending.drain(..count) {
            self.durable.apply(&change);
        }
        self.synced += count;
    }
}

/// An open file descriptor.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    node: usize,
    /// Number of changes that the running sync makes durable.
    syncing: usize,
}

/// The directories and files below the recorded root.
#[derive(Debug)]
pub struct FileSystem {
    nodes: Vec<Node>,
    descriptors: HashMap<u32, Descriptor>,
}

impl Default for FileSystem {
    fn default() -> Self {
        Self {
            nodes: vec![Node::new(Content::Directory(Names::new()))],
            descriptors: HashMap::new(),
        }
    }
}

/// Content of files by path; `None` for a directory. In the order of paths a parent precedes its
/// content.
pub type Image = BTreeMap<String, Option<Vec<u8>>>;

/// Writes an image into an empty directory.
pub fn write_image(image: &Image, directory: &Path) {
    for (path, bytes) in image {
        let path = directory.join(path);
        match bytes {
            Some(bytes) => fs::write(path, bytes).unwrap(),
            None => fs::create_dir(path).unwrap(),
        }
    }
}

impl FileSystem {
    /// Returns the node of a path, if it exists.
    fn find(&self, path: &str) -> Option<usize> {
        let mut node = ROOT;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            node = *self.nodes[node].written.names().get(name)?;
        }
        Some(node)
    }

    /// Returns the directory of a path, and the name in it.
    fn parent<'a>(&mut self, path: &'a str) -> (&mut Node, &'a str) {
        let (parent, name) = path.rsplit_once('/').unwrap();
        let parent = self.find(parent).unwrap();
        (&mut self.nodes[parent], name)
    }

    /// Creates a directory or file and returns its node.
    fn create(&mut self, path: &str, content: Content) -> usize {
        let node = self.nodes.len();
        self.nodes.push(Node::new(content));
        let (parent, name) = self.parent(path);
        parent.change(Change::Link(name.to_owned(), node));
        node
    }

    fn node(&mut self, descriptor: u32) -> &mut Node {
        let node = self.descriptors[&descriptor].node;
        &mut self.nodes[node]
    }

    /// Applies a step of the record.
    pub fn apply(&mut self, step: &Step) {
        match step {
            Step::Start => self.descriptors.clear(),
            Step::Open {
                descriptor,
                creates,
                truncates,
                path,
            } => {
                let node = self.find(path).unwrap_or_else(|| {
                    assert!(creates, "{path} was opened and does not exist");
                    self.create(path, Content::File(Vec::new()))
                });
                if *truncates {
                    self.nodes[node].change(Change::Length(0));
                }
                let opened = Descriptor { node, syncing: 0 };
                self.descriptors.insert(*descriptor, opened);
            }
            Step::Close { descriptor } => {
                self.descriptors.remove(descriptor);
            }
            Step::Write {
                descriptor,
                offset,
                bytes,
            } => self
                .node(*descriptor)
                .change(Change::Write(*offset, bytes.clone())),
            Step::Length { descriptor, length } => {
                self.node(*descriptor).change(Change::Length(*length));
            }
            Step::Sync { descriptor } => {
                let changes = self.node(*descriptor).changes();
                self.descriptors.get_mut(descriptor).unwrap().syncing = changes;
            }
            Step::Synced { descriptor } => {
                let Descriptor { node, syncing } = self.descriptors[descriptor];
                self.nodes[node].sync(syncing);
            }
            Step::Rename { from, to } => {
                let node = self.find(from).unwrap();
                let ((before, old), (after, new)) =
                    (from.rsplit_once('/').unwrap(), to.rsplit_once('/').unwrap());
                assert_eq!(
                    before, after,
                    "renames between directories are not modelled"
                );
                self.parent(from)
                    .0
                    .change(Change::Rename(old.to_owned(), new.to_owned(), node));
            }
            Step::Unlink { path } => {
                let (parent, name) = self.parent(path);
                parent.change(Change::Unlink(name.to_owned()));
            }
            Step::Mkdir { path } => {
                self.create(path, Content::Directory(Names::new()));
            }
        }
    }

    /// Returns the synced content alone.
    pub fn synced(&self) -> Image {
        self.image(&mut |node| node.durable.clone())
    }

    /// Returns the synced content with a random part of the later changes.
    pub fn torn(&self, random: &mut Rng) -> Image {
        let arrives_in_4 = random.u64(1..5);
        self.image(&mut |node| {
            let mut content = node.durable.clone();
            for change in &node.pending {
                content.apply_torn(change, random, arrives_in_4);
            }
            content
        })
    }

    /// Builds an image of the content that `content` returns for each node.
    fn image(&self, content: &mut dyn FnMut(&Node) -> Content) -> Image {
        let mut image = Image::new();
        let mut contents = HashMap::new();
        let mut unvisited = vec![(ROOT, String::new())];
        while let Some((number, path)) = unvisited.pop() {
            // A file with two names, as in the middle of a rename, has one content.
            let node_content = contents
                .entry(number)
                .or_insert_with(|| content(&self.nodes[number]));
            match node_content {
                Content::File(bytes) => {
                    image.insert(path, Some(bytes.clone()));
                }
                Content::Directory(names) => {
                    let below = names
                        .iter()
                        .map(|(name, node)| (*node, format!("{path}/{name}")));
                    unvisited.extend(
                        below.map(|(node, path)| (node, path.trim_start_matches('/').to_owned())),
                    );
                    if number != ROOT {
                        image.insert(path, None);
                    }
                }
            }
        }
        image
    }

    /// Checks the model against the real files: the record has every change.
    pub fn check_against(&self, root: &Path) {
        for (path, bytes) in self.image(&mut |node| node.written.clone()) {
            if let Some(bytes) = bytes {
                let real = fs::read(root.join(&path)).unwrap();
                assert!(real == bytes, "{path} was changed without a record");
            }
        }
    }
}
