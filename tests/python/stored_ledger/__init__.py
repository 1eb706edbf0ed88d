"""Reader of a data directory that shares no code with the node, after docs/internals/storage.md.

| module | content |
|---|---|
| `binary` | bounds-checked reads, and the error that every module raises |
| `redb` | header, pages and tables of the database file |
| `siphash` | the keyed digest of log records and index entries |
| `wal` | records of the write-ahead log |
| `bcs` | a decoder that follows a schema |
| `schema` | the BCS schemas of transactions, blocks and rows |
| `runs` | the manifest, and the runs of the state below the window |
| `ledger` | a whole directory: tables, then the log |
| `hashes` | hashes of transactions, infos, blocks and accumulators |
| `verify` | the checks that need no node |
| `balances` | the state and its balances |
| `node` | the comparison with the responses of a running node |

`PYTHONPATH=tests/python python3 -m stored_ledger DIRECTORY` reads the copy of a directory.
"""
