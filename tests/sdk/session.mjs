// Shared by the tests with the TypeScript SDK: a node, a client, funded accounts, calls.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import {
  Account,
  AccountAddress,
  Aptos,
  AptosApiError,
  AptosConfig,
  Network,
  createUserDerivedObjectAddress,
} from "@aptos-labs/ts-sdk";
import { NodeProcess } from "./node_process.mjs";

/** Type of the native coin, and the metadata address of its paired asset. */
export const COIN = "0x1::aptos_coin::AptosCoin";
export const ASSET = "0xa";
/** The type argument of functions that take any asset's metadata object. */
export const METADATA = "0x1::fungible_asset::Metadata";
/** Type of the resource that holds a balance, in the primary store of an account and an asset. */
export const STORE = "0x1::fungible_asset::FungibleStore";
/** Enough for a dozen transactions with the SDK's default options. */
export const FUNDED = 1_000_000_000;
/** Tolerance of simulated gas in percent, because the size of signatures differs. */
const GAS_DIFFERENCE_PERCENT = 2;

/** A node for the tests of the enclosing suite, with a client and helpers. */
export class Session {
  /**
   * Starts a node with the preset and `settings` before the suite's tests. Asserts that the node
   * stops cleanly after them.
   */
  static forSuite(settings) {
    const session = new Session();
    before(async () => {
      session.node = await NodeProcess.start("sdk", settings);
      session.#connect();
    });
    after(async () => {
      const code = await session.node?.stop();
      if (session.node) assert.equal(code, 0, `the node stops cleanly\n${session.node.log()}`);
    });
    return session;
  }

  #connect() {
    this.api = `${this.node.api}/v1`;
    this.aptos = new Aptos(new AptosConfig({ network: Network.CUSTOM, ...endpoints(this.node) }));
  }

  /** Restarts the node, asserts a clean stop, and connects to its new addresses. */
  async restart() {
    assert.equal(await this.node.restart(), 0, `the node stops cleanly\n${this.node.log()}`);
    this.#connect();
  }

  /** Funds `account`, by default a new one, and returns it. */
  async funded(account = Account.generate()) {
    await this.aptos.fundAccount({ accountAddress: account.accountAddress, amount: FUNDED });
    return account;
  }

  /** Signs and submits a transaction of the SDK. Returns the committed one. */
  async send(signer, transaction) {
    const { hash } = await this.aptos.signAndSubmitTransaction({ signer, transaction });
    return this.aptos.waitForTransaction({
      transactionHash: hash,
      options: { checkSuccess: false },
    });
  }

  /** Returns the authenticator of `signer`, as sender or as secondary signer. */
  sign(signer, transaction) {
    return this.aptos.transaction.sign({ signer, transaction });
  }

  /** Returns the authenticator of a fee payer, and sets the payer of the transaction. */
  signAsPayer(signer, transaction) {
    return this.aptos.transaction.signAsFeePayer({ signer, transaction });
  }

  /**
   * Submits a transaction with the authenticators of its sender, secondary signers and fee payer.
   * Returns the committed transaction.
   */
  async submit(transaction, { sender, secondary, feePayer }) {
    const { hash } = await this.aptos.transaction.submit.multiAgent({
      transaction,
      senderAuthenticator: sender,
      additionalSignersAuthenticators: secondary,
      feePayerAuthenticator: feePayer,
    });
    return this.aptos.waitForTransaction({
      transactionHash: hash,
      options: { checkSuccess: false },
    });
  }

  /** Builds a call of an entry function with the node's ABI. */
  build(sender, name, functionArguments = [], typeArguments = []) {
    const data = { function: name, functionArguments, typeArguments };
    return this.aptos.transaction.build.simple({ sender: sender.accountAddress, data });
  }

  /** Sends a call and asserts success. Returns the committed transaction. */
  async call(sender, name, functionArguments, typeArguments) {
    const done = await this.attempt(sender, name, functionArguments, typeArguments);
    assert.equal(done.vm_status, "Executed successfully", name);
    assert.equal(done.success, true, name);
    return done;
  }

  /** Sends a call, which may fail. Returns the committed transaction. */
  async attempt(sender, name, functionArguments, typeArguments) {
    return this.send(sender, await this.build(sender, name, functionArguments, typeArguments));
  }

  /** Returns the balance of an account in the smallest unit. */
  balance(accountAddress) {
    return this.aptos.getBalance({ accountAddress, asset: COIN });
  }

  /** Returns the result of a view function. The SDK reads its ABI and sends BCS. */
  view(name, functionArguments = [], typeArguments = []) {
    return this.aptos.view({ payload: { function: name, functionArguments, typeArguments } });
  }
}

/** Returns a node's addresses for the SDK, as those of Network.LOCAL. */
export function endpoints(node) {
  return { fullnode: `${node.api}/v1`, faucet: node.faucet, indexer: `${node.graphql}/v1/graphql` };
}

/** Returns the address of the primary store of an account, by default that of the native coin. */
export function primaryStore(accountAddress, metadata = ASSET) {
  return createUserDerivedObjectAddress(
    AccountAddress.from(accountAddress),
    AccountAddress.from(metadata),
  );
}

/** Returns the cost of a committed transaction in the smallest unit. */
export function fee(done) {
  const { storage_fee_refund_octas: refund } = eventOf(
    done,
    "0x1::transaction_fee::FeeStatement",
  ).data;
  return Number(done.gas_used) * Number(done.gas_unit_price) - Number(refund);
}

/** Asserts that a simulation succeeded, and that its gas is within the tolerance. */
export function assertPredicted(simulated, done) {
  assert.equal(simulated.success, true, simulated.vm_status);
  const [predicted, real] = [Number(simulated.gas_used), Number(done.gas_used)];
  const difference = Math.abs(predicted - real);
  assert.ok(
    difference * 100 <= real * GAS_DIFFERENCE_PERCENT,
    `${predicted} for ${real} gas units`,
  );
}

export function sameAddress(left, right, message) {
  assert.equal(
    AccountAddress.from(left).toStringLong(),
    AccountAddress.from(right).toStringLong(),
    message,
  );
}

/** Returns the only event of `transaction` with this type. */
export function eventOf(transaction, type) {
  const found = transaction.events.filter((event) => event.type === type);
  assert.equal(
    found.length,
    1,
    `one ${type} among ${transaction.events.map((event) => event.type).join(", ")}`,
  );
  return found[0];
}

/** Returns the error of `request`, which the node must reject. */
export async function rejection(request) {
  const error = await request.then(
    (value) => assert.fail(`the node accepted it: ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  assert.ok(error instanceof AptosApiError, `not a response of the node: ${error.stack}`);
  return error;
}
