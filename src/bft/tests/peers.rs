//! Peers that are not known.

use crate::fake_node::FakeNode;
use crate::support::{BLOCK_BYTES, Cluster, address, free_ports, network_key};
use ledger_bft::Engine;

/// The fourth validator's key is of no use without its network key: no vote, part or announcement
/// of it arrives.
#[test]
fn a_validator_with_an_unknown_network_key_is_not_received() {
    let cluster = Cluster::start(4, &[0, 1, 2], 5);
    let stranger = FakeNode::new(address(3), BLOCK_BYTES, u64::MAX);
    let mut settings = cluster.settings(3);
    settings.network_key = network_key(9);
    // So that it dials all others.
    settings.is_validator = false;
    settings.listen_address = format!("127.0.0.1:{}", free_ports(1)[0]);
    let engine = Engine::start(settings, stranger.sender()).unwrap();
    for index in 0..3 {
        cluster.node(index).wait_for_height(5);
    }
    engine.announce_work(6);
    // The stranger tries again and again, and is heard by none. Two further heights take longer
    // than its messages would.
    cluster.node(0).begin(7);
    for index in 0..3 {
        cluster.node(index).wait_for_height(6);
        let report = cluster.engine(index).report();
        assert_eq!(report.peers, 2, "{report:?}");
        let stranger = report.validator(&address(3)).unwrap();
        assert_eq!(stranger.last_vote, None, "{report:?}");
        let certificates = cluster.node(index).read(|state| state.decided.clone());
        let mut signers = certificates
            .iter()
            .flat_map(|block| &block.certificate.signatures);
        assert!(signers.all(|signed| signed.validator != address(3)));
    }
    assert_eq!(
        stranger.read(|state| state.decided.len() + state.received),
        0
    );
    cluster.check(&[0, 1, 2]);
}
