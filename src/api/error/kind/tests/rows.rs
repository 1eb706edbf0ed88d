//! Rows of the table, each with its response, except rejections by validation and failed views.

use super::*;

fn hash() -> HashValue {
    HashValue::new([0xab; 32])
}

pub fn left(reason: RemovalReason) -> ErrorKind {
    ErrorKind::TransactionNotFound {
        name: TransactionName::Hash(hash()),
        left: Some(reason),
    }
}

/// Returns each error kind with its status, `error_code` and message.
pub fn rows() -> Vec<(ErrorKind, u16, &'static str, String)> {
    let address = AccountAddress::ONE;
    let text = str::to_owned;
    let not_found = format!("Transaction not found by Transaction hash({})", hash());
    vec![
        (
            ErrorKind::ResourceNotFound {
                address,
                tag: Box::new("0x9::A::B<u8,u64>".parse().unwrap()),
                version: 3,
            },
            404,
            "resource_not_found",
            text(
                "Resource not found by Address(0x1), Struct tag(0x9::A::B<u8, u64>) and Ledger \
                 version(3)",
            ),
        ),
        (
            ErrorKind::ModuleNotFound {
                address,
                name: "m".parse().unwrap(),
                version: 3,
            },
            404,
            "module_not_found",
            text("Module not found by Address(0x1), Module name(m) and Ledger version(3)"),
        ),
        (
            ErrorKind::StructFieldNotFound {
                address,
                tag: Box::new("0x9::A::B".parse().unwrap()),
                field: "f".parse().unwrap(),
                version: 3,
            },
            404,
            "struct_field_not_found",
            text(
                "Struct Field not found by Address(0x1), Struct tag(0x9::A::B), Field name(f) and \
                 Ledger version(3)",
            ),
        ),
        (
            ErrorKind::TableItemNotFound {
                handle: address,
                key: text("0x00"),
                version: 3,
            },
            404,
            "table_item_not_found",
            text(
                "Table Item not found by Table handle(0x1), Table key(0x00) and Ledger version(3)",
            ),
        ),
        (
            ErrorKind::StateValueNotFound {
                key: text("0x00"),
                version: 3,
            },
            404,
            "state_value_not_found",
            text("State Value not found by State key(0x00) and Ledger version(3)"),
        ),
        (
            ErrorKind::VersionNotFound(9),
            404,
            "version_not_found",
            text("Ledger version not found by Ledger version(9)"),
        ),
        (
            ErrorKind::TransactionNotFound {
                name: TransactionName::Version(9),
                left: None,
            },
            404,
            "transaction_not_found",
            text("Transaction not found by Ledger version(9)"),
        ),
        (
            left(RemovalReason::Expired { at_secs: 77 }),
            404,
            "transaction_not_found",
            format!("{not_found}: expired at 77"),
        ),
        (
            left(RemovalReason::Replaced(hash())),
            404,
            "transaction_not_found",
            format!("{not_found}: replaced by {}", hash()),
        ),
        (
            ErrorKind::BlockNotFound(1000),
            404,
            "block_not_found",
            text("Block not found by Block height(1000)"),
        ),
        (
            ErrorKind::VersionPruned(5),
            410,
            "version_pruned",
            text("Ledger version(5) has been pruned"),
        ),
        (
            ErrorKind::EventPruned { start: 5, end: 7 },
            410,
            "version_pruned",
            text("Event(5) has been pruned, the events before 7 are gone"),
        ),
        (
            ErrorKind::AccountTransactionPruned { start: 5, end: 7 },
            410,
            "version_pruned",
            text(
                "Account transaction(5) has been pruned, those with a sequence number before 7 are \
                 gone",
            ),
        ),
        (
            ErrorKind::TransactionPruned {
                hash: hash(),
                oldest: 7,
            },
            410,
            "version_pruned",
            format!(
                "Transaction({}) may have been committed, those before version 7 are gone: submit \
                 a transaction only after you have read its effects",
                hash()
            ),
        ),
        (
            ErrorKind::BlockPruned(5),
            410,
            "block_pruned",
            text("Block(5) has been pruned"),
        ),
        (
            ErrorKind::InvalidInput(text("why")),
            400,
            "invalid_input",
            text("why"),
        ),
        (
            ErrorKind::InvalidUpdate(text("why")),
            400,
            "invalid_transaction_update",
            text("why"),
        ),
        (
            ErrorKind::SequenceNumberTooOld {
                given: 1,
                current: 2,
                used_by: hash(),
            },
            400,
            "sequence_number_too_old",
            format!(
                "transaction sequence number is 1, current sequence number is 2; used by \
                 transaction {}",
                hash()
            ),
        ),
        (
            ErrorKind::RejectedByFilter(Filtered {
                number: 3,
                rule: Box::new("deny function 0x9::m::f".parse().unwrap()),
            }),
            403,
            "rejected_by_filter",
            text(
                "Transaction rejected by the submission filter of this node, rule 3: deny function \
                 0x9::m::f",
            ),
        ),
        (
            ErrorKind::ApiDisabled(Switch::BcsOutput),
            403,
            "api_disabled",
            text("disabled on this node: api.bcs_output_enabled is false"),
        ),
        (
            ErrorKind::AddressDenied,
            403,
            "api_disabled",
            text("requests from this address are denied on this node (api.denied_addresses)"),
        ),
        (
            ErrorKind::HealthCheck(text("why")),
            503,
            "health_check_failed",
            text("why"),
        ),
        (
            ErrorKind::PoolFull(text("why")),
            507,
            "mempool_is_full",
            text("why"),
        ),
        (
            ErrorKind::Overloaded(overload()),
            503,
            "internal_error",
            text("overloaded: work.read_budget_ms = 500"),
        ),
        (
            ErrorKind::VersionNotReached {
                version: 9,
                newest: 7,
            },
            503,
            "internal_error",
            text("ledger version 9 is not reached: the newest version is 7; retry later"),
        ),
        (
            ErrorKind::VersionTooFarAhead {
                version: 2_000_008,
                newest: 7,
            },
            503,
            "internal_error",
            text(
                "ledger version 2000008 is too far ahead: the newest version is 7, and a read \
                 waits for at most 2000000 more; check that the version is one of this chain",
            ),
        ),
        (
            ErrorKind::NotApplied,
            503,
            "internal_error",
            text("the disk of the node is too slow to read the newest block; retry later"),
        ),
        (
            ErrorKind::Unresolved,
            503,
            "internal_error",
            text(
                "other nodes may know the transaction, and do not answer or are ahead of this one; \
                 retry later",
            ),
        ),
        (
            ErrorKind::Unwritable(NotWritable::LowDiskSpace("why".into())),
            503,
            "internal_error",
            text("writes are paused: why; they resume when disk space is free"),
        ),
        (
            ErrorKind::Stopping,
            503,
            "internal_error",
            text("the node is stopping"),
        ),
        (
            ErrorKind::Internal("why"),
            500,
            "internal_error",
            text("internal error: why"),
        ),
        (
            ErrorKind::Syntax(text("why")),
            400,
            "web_framework_error",
            text("why"),
        ),
        (
            ErrorKind::UnknownRoute(text("/v1/x")),
            404,
            "web_framework_error",
            text("not found: no route /v1/x"),
        ),
        (
            ErrorKind::MethodNotAllowed(text("GET, POST")),
            405,
            "web_framework_error",
            text("method not allowed, use GET, POST"),
        ),
        (
            ErrorKind::MethodOfPage(text("GET, HEAD, POST")),
            403,
            "web_framework_error",
            text("request-method not allowed for web pages, use GET, HEAD, POST"),
        ),
        (
            ErrorKind::LengthRequired,
            411,
            "web_framework_error",
            text("missing `Content-Length` header"),
        ),
        (
            ErrorKind::BodyTooLarge { limit_bytes: 7 },
            413,
            "web_framework_error",
            text("payload too large: a body has at most 7 bytes"),
        ),
        (
            ErrorKind::BodyTooManyValues { limit_bytes: 7 },
            413,
            "web_framework_error",
            text("the body holds too many values: it would take more than 7 bytes of memory"),
        ),
        (
            ErrorKind::BodyTimeout { timeout_secs: 7 },
            408,
            "web_framework_error",
            text("the body did not arrive within 7 seconds"),
        ),
        (
            ErrorKind::UriTooLong { limit_bytes: 7 },
            414,
            "web_framework_error",
            text("the path and query of a request have at most 7 bytes"),
        ),
        (
            ErrorKind::UnsupportedContentType(text("text/plain")),
            415,
            "web_framework_error",
            text("the `Content-Type` requested by the client is not supported: text/plain"),
        ),
        (
            ErrorKind::MediaTypeOfSdk(text("application/x.aptos.view_function+bcs")),
            415,
            "web_framework_error",
            text(
                "the `Content-Type` requested by the client is not supported: \
                 application/x.aptos.view_function+bcs; an SDK of Aptos needs a chain with the \
                 vendor word APTOS: start a new one with `ledger-node run --preset sdk`",
            ),
        ),
        (
            ErrorKind::UnsupportedContentEncoding(text("gzip")),
            415,
            "web_framework_error",
            text(
                "the `Content-Encoding` of the request is not supported: gzip; send the body \
                 unencoded",
            ),
        ),
        (
            ErrorKind::BcsNotSupported("encode_submission"),
            400,
            "bcs_not_supported",
            text("encode_submission responds in JSON only, not in BCS"),
        ),
        (
            ErrorKind::MissingContentType,
            415,
            "web_framework_error",
            text("missing `Content-Type` header"),
        ),
    ]
}
