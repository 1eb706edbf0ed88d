// Prints the function that a transaction calls, and the number of transactions in its block, with
// the client of @hey-api/openapi-ts. Arguments: address of the API, hash of the transaction.

import { getBlockByVersion, getTransactionByHash } from "./hey_api";
import { client } from "./hey_api/client.gen";

async function main([baseUrl, txn_hash]: string[]) {
  client.setConfig({ baseUrl });
  const { data: transaction, error } = await getTransactionByHash({ path: { txn_hash } });
  if (error) throw new Error(error.message);
  if (transaction?.type !== "user_transaction") throw new Error(transaction?.type);
  const { payload } = transaction;
  if (payload.type !== "entry_function_payload") throw new Error(payload.type);
  const { data: block } = await getBlockByVersion({
    path: { version: Number(transaction.version) },
    query: { with_transactions: true },
  });
  console.log(payload.function, block?.transactions?.length);
}

void main(process.argv.slice(2));
