// Prints the function that a transaction calls, and the number of transactions in its block, with
// the types of openapi-typescript. Arguments: the address of the API, the hash of the transaction.

import createClient from "openapi-fetch";
import type { paths } from "./openapi_typescript";

async function main([baseUrl, txn_hash]: string[]) {
  // Without the media type, a response could also be the bytes of BCS, which have no type.
  const client = createClient<paths, "application/json">({ baseUrl });
  const { data: transaction, error } = await client.GET("/transactions/by_hash/{txn_hash}", {
    params: { path: { txn_hash } },
  });
  if (error) throw new Error(error.message);
  if (transaction.type !== "user_transaction") throw new Error(transaction.type);
  const { payload } = transaction;
  if (payload.type !== "entry_function_payload") throw new Error(payload.type);
  const { data: block } = await client.GET("/blocks/by_version/{version}", {
    params: { path: { version: Number(transaction.version) }, query: { with_transactions: true } },
  });
  console.log(payload.function, block?.transactions?.length);
}

void main(process.argv.slice(2));
