// The predecessor of the TypeScript SDK, which is no longer developed but still in use. It uses
// another faucet route, sends JSON instead of BCS, and reads pages of other sizes. It follows the
// events of accounts, so stores have event handles.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { AptosAccount, AptosClient, CoinClient, FaucetClient, ApiError } from "aptos";
import { COIN, FUNDED, STORE, Session, primaryStore, sameAddress } from "./session.mjs";

const AMOUNT = 1_000;

describe("the legacy SDK", { timeout: 120_000 }, () => {
  const session = Session.forSuite(["chain.coin_event_handles=true"]);
  const [sender, recipient] = [new AptosAccount(), new AptosAccount()];
  let client, faucet, coins, transfer;

  before(async () => {
    client = new AptosClient(session.api);
    faucet = new FaucetClient(session.api, session.node.faucet);
    coins = new CoinClient(client);
    const [hash] = await faucet.fundAccount(sender.address(), FUNDED);
    assert.equal((await client.getTransactionByHash(hash)).success, true);
    const transferred = await coins.transfer(sender, recipient, AMOUNT, {
      createReceiverIfMissing: true,
    });
    transfer = await client.waitForTransactionWithResult(transferred, { checkSuccess: true });
  });

  test("sends coins and reads balances", async () => {
    assert.equal((await client.getAccount(sender.address())).sequence_number, "1");
    const balance = async (account) => {
      const payload = {
        function: "0x1::coin::balance",
        type_arguments: [COIN],
        arguments: [account.address().hex()],
      };
      const [amount] = await client.view(payload);
      return BigInt(amount);
    };
    assert.equal(await balance(recipient), BigInt(AMOUNT));
    assert.ok((await balance(sender)) < BigInt(FUNDED - AMOUNT));
    // This method reads a coin store, which no account has, as on the reference node.
    await assert.rejects(coins.checkBalance(recipient), { errorCode: "resource_not_found" });
  });

  test("builds a call from all modules of its account, and simulates it", async () => {
    const call = { function: "0x1::aptos_account::transfer", type_arguments: [] };
    const raw = await client.generateTransaction(sender.address(), {
      ...call,
      arguments: [recipient.address(), 1],
    });
    const [simulated] = await client.simulateTransaction(sender, raw);
    assert.equal(simulated.success, true, simulated.vm_status);
    assert.equal(simulated.sequence_number, "1");
  });

  test("reads all resources and modules of an account", async () => {
    const address = primaryStore(recipient.address().hex()).toString();
    const resources = await client.getAccountResources(address);
    const store = resources.find(({ type }) => type === STORE);
    assert.equal(store.data.balance, String(AMOUNT));
    const modules = await client.getAccountModules("0x1");
    assert.ok(modules.some(({ abi }) => abi.name === "coin"));
    assert.equal(new Set(modules.map(({ abi }) => abi.name)).size, modules.length, "each once");
  });

  test("reads events by handle and by creation number", async () => {
    const store = `0x1::coin::CoinStore<${COIN}>`;
    const byHandle = await client.getEventsByEventHandle(
      recipient.address(),
      store,
      "deposit_events",
      { limit: 5 },
    );
    assert.deepEqual(
      byHandle.map(({ data, version }) => [data, version]),
      [[{ amount: String(AMOUNT) }, transfer.version]],
    );
    const { creation_number: number, account_address: account } = byHandle[0].guid;
    sameAddress(account, primaryStore(recipient.address().hex()));
    assert.deepEqual(await client.getEventsByCreationNumber(account, number), byHandle);
  });

  test("reads a block with its transactions", async () => {
    const block = await client.getBlockByVersion(Number(transfer.version), true);
    assert.deepEqual(
      block.transactions.find(({ hash }) => hash === transfer.hash),
      transfer,
    );
    assert.deepEqual(await client.getBlockByHeight(Number(block.block_height), true), block);
  });

  test("throws the node's errors", async () => {
    await assert.rejects(client.getTransactionByVersion(1_000_000), (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual([error.status, error.errorCode], [404, "transaction_not_found"]);
      return true;
    });
  });
});
