//! `actors/node/wiring.rs` against the table of messages in `docs/internals/actors.md`.

use super::{actors, root};
use std::{collections::BTreeSet, fs};
use syn::{
    Expr, ExprCall, ExprMethodCall, ExprStruct, GenericArgument, Macro, Member, Token, Type,
    punctuated::Punctuated,
    visit::{self, Visit},
};

/// The file that creates the wires, from the root of the repository.
const WIRING: &str = "actors/node/wiring.rs";

/// Maximum number of lines of that file, so that all wires are seen together.
const LINES_MAX: usize = 150;

/// Senders of the table that are outside of the wiring: they have the mailbox itself.
const OUTSIDE: [&str; 4] = ["engine", "handle", "node", "timer"];

/// Threads that send messages, by the type that holds their recipients.
const THREADS: [(&str, &str); 4] = [
    ("WriterPeers", "thread store-writer"),
    ("ScrubberPeers", "thread store-scrubber"),
    ("ConsensusLogPeers", "thread consensus-log"),
    ("HealthReporter", "thread with a `HealthReporter`"),
];

/// A message from one part to an actor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wire {
    message: String,
    from: String,
    to: String,
}

fn wire(message: &str, from: &str, to: &str) -> Wire {
    Wire {
        message: message.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
    }
}

#[test]
fn wires_are_those_of_the_table_of_messages() {
    let text = fs::read_to_string(root().join(WIRING)).unwrap();
    let page = actors::page();
    let (in_code, in_table) = (wires_of_code(&text, &page), wires_of_page(&page));
    let missing: Vec<_> = in_table.difference(&in_code).collect();
    let unknown: Vec<_> = in_code.difference(&in_table).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "{WIRING} lacks {missing:#?}\nthe table lacks {unknown:#?}"
    );
    let lines = text.lines().count();
    assert!(lines <= LINES_MAX, "{WIRING} has {lines} lines");
}

/// Reads the rows of messages that a part inside of the wiring sends.
fn wires_of_page(page: &str) -> BTreeSet<Wire> {
    let mut wires = BTreeSet::new();
    for row in actors::rows(page, "Messages") {
        let (senders, receivers) = row[1].split_once(" -> ").unwrap();
        for from in senders.split(", ").filter(|from| !OUTSIDE.contains(from)) {
            let receivers = receivers.split(", ");
            wires.extend(receivers.map(|to| wire(row[0].trim_matches('`'), from, to)));
        }
    }
    wires
}

/// Reads the wires of a file. A part that is wired to itself receives the answer to one of its
/// messages, so the sender of the answer is the receiver of that message in the table.
fn wires_of_code(text: &str, page: &str) -> BTreeSet<Wire> {
    let mut found = Recipients::default();
    found.visit_file(&syn::parse_file(text).unwrap());
    let rows = actors::rows(page, "Messages");
    let sender = |found: &Wire| {
        let answer = format!("`{}`", found.message);
        let request = |row: &&Vec<String>| row[2].starts_with(&answer);
        let row = rows.iter().filter(|_| found.from == found.to).find(request);
        let (from, to) = row?[1].split_once(" -> ")?;
        (from == found.to).then(|| to.to_owned())
    };
    let wires = found.wires.into_iter().map(|found| Wire {
        from: sender(&found).unwrap_or_else(|| found.from.clone()),
        ..found
    });
    wires.collect()
}

/// The calls of `recipient` in a file, with the peers that hold them.
#[derive(Default)]
struct Recipients {
    wires: Vec<Wire>,
    /// The part whose peers are being visited.
    sender: String,
}

impl Recipients {
    /// Calls `visit` with the sender that holds recipients in this type, if it is one.
    fn within(&mut self, holder: &str, visit: impl FnOnce(&mut Self)) {
        let thread = THREADS.iter().find(|(name, _)| *name == holder);
        let sender = match (thread, holder.strip_suffix("Peers")) {
            (Some((_, thread)), _) => (*thread).to_owned(),
            (None, Some(actor)) if !actor.is_empty() => actor.to_lowercase(),
            _ => self.sender.clone(),
        };
        let outer = std::mem::replace(&mut self.sender, sender);
        visit(self);
        self.sender = outer;
    }
}

impl Visit<'_> for Recipients {
    fn visit_expr_struct(&mut self, literal: &ExprStruct) {
        let name = literal.path.segments.last().unwrap().ident.to_string();
        self.within(&name, |found| visit::visit_expr_struct(found, literal));
    }

    fn visit_expr_call(&mut self, call: &ExprCall) {
        let name = match &*call.func {
            Expr::Path(function) => function.path.segments[0].ident.to_string(),
            _ => String::new(),
        };
        self.within(&name, |found| visit::visit_expr_call(found, call));
    }

    /// Visits the elements of a `vec!`.
    fn visit_macro(&mut self, list: &Macro) {
        let elements = list.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        for element in &elements.unwrap() {
            self.visit_expr(element);
        }
    }

    fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
        visit::visit_expr_method_call(self, call);
        if call.method != "recipient" {
            return;
        }
        let message = call.turbofish.as_ref().and_then(|types| types.args.first());
        let Some(GenericArgument::Type(Type::Path(message))) = message else {
            panic!("a wire names its message: .recipient::<Message>()");
        };
        let Expr::Field(mailbox) = &*call.receiver else {
            panic!("a wire names the mailbox: to.mempool.recipient::<Message>()");
        };
        let Member::Named(to) = &mailbox.member else {
            panic!("a mailbox has a name");
        };
        let message = message.path.segments.last().unwrap().ident.to_string();
        let found = wire(&message, &self.sender, &to.to_string());
        self.wires.push(found);
    }
}

#[test]
fn reads_the_wires_of_a_file_and_of_a_table() {
    let page = "\
## Messages

| message | from -> to | answer |
|---|---|---|
| `Submit` | handle -> mempool | oneshot |
| `Pull` | sequencer -> mempool | `Batch`, later |
| `Batch` | mempool -> sequencer | - |
| `SetPaused` | storage -> mempool, pruner | - |
| `Done` | thread store-writer -> pruner | - |
";
    let text = "fn peers() -> Peers { Peers {
        sequencer: SequencerPeers {
            mempool: to.mempool.recipient::<Pull>(),
            batches: to.sequencer.recipient::<Batch>(),
        },
        storage: StoragePeers {
            paused: vec![to.mempool.recipient::<SetPaused>(), to.pruner.recipient::<SetPaused>()],
        },
        writer: WriterPeers { pruner: to.pruner.recipient::<Done>() },
    } }";
    let expected = [
        wire("Batch", "mempool", "sequencer"),
        wire("Done", "thread store-writer", "pruner"),
        wire("Pull", "sequencer", "mempool"),
        wire("SetPaused", "storage", "mempool"),
        wire("SetPaused", "storage", "pruner"),
    ];
    let expected = BTreeSet::from(expected);
    assert_eq!(wires_of_page(page), expected);
    assert_eq!(wires_of_code(text, page), expected);
}
