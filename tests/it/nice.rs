//! Nice values of the threads of a node.

use ledger_test_support::node::{TestNode, until};
use std::fs;

/// The highest nice value, which no thread has without a setting, unless the test itself has it.
const NICE: i32 = 19;

/// Returns the nice values of the threads of a process that have this name.
fn nice_values(process_id: u32, name: &str) -> Vec<i32> {
    let tasks = fs::read_dir(format!("/proc/{process_id}/task")).unwrap();
    // A thread may end during the iteration.
    let stats = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("stat")).ok());
    let nice = |stat: String| {
        let (start, fields) = stat.rsplit_once(") ").unwrap();
        let (_, thread) = start.split_once('(').unwrap();
        // Field 19 of the line is the nice value. The first field after the name is field 3.
        let nice = fields.split(' ').nth(19 - 3).unwrap();
        (thread == name).then(|| nice.parse().unwrap())
    };
    stats.filter_map(nice).collect()
}

#[tokio::test]
async fn readers_and_renderers_have_the_nice_value_of_their_setting() {
    let node = TestNode::start(&[&format!("work.nice={NICE}"), "storage.readers=3"]);
    let of = |name| nice_values(node.process_id(), name);
    until("the threads to raise their nice values", || async {
        let [readers, renderers] = ["store-reader", "renderer"].map(of);
        let is_raised = |values: &[i32]| values.iter().all(|nice| *nice == NICE);
        (readers.len() == 3 && renderers.len() >= 2 && is_raised(&readers) && is_raised(&renderers))
            .then_some(())
    })
    .await;
    let process = fs::read_to_string(format!("/proc/{}/stat", node.process_id())).unwrap();
    let (_, fields) = process.rsplit_once(") ").unwrap();
    let of_process: i32 = fields.split(' ').nth(19 - 3).unwrap().parse().unwrap();
    for thread in ["point-reader", "executor", "store-writer"] {
        assert_eq!(of(thread), [of_process], "{thread}");
    }
}
