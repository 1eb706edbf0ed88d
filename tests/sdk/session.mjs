// What the tests with the TypeScript SDK share: a node, a client, funded accounts, calls.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import {
  Account,
  AccountAddress,
  Aptos,
  AptosApiError,
  AptosConfig,
  Network,
} from "@aptos-labs/ts-sdk";
import { NodeProcess } from "./node_process.mjs";

/** The chain's coin, and its other name as a fungible asset. */
export const COIN = "0x1::aptos_coin::AptosCoin";
export const ASSET = "0xa";
/** The type argument of functions that take any asset's metadata object. */
export const METADATA = "0x1::fungible_asset::Metadata";
/** Enough for a dozen transactions with the SDK's default options. */
export const FUNDED = 1_000_000_000;
/** How far simulated gas may be from the real one, in percent: only the signatures' bytes differ. */
const GAS_DIFFERENCE_PERCENT = 2;

/** A node for the tests of the enclosing suite, and what they do with it. */
export class Session {
  /**
   * Starts a node, with `settings` beside the preset's, before the suite's tests and expects it to stop
   * cleanly after them.
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

  /** Stops the node, cleanly, and goes on with it when it runs again. */
  async restart() {
    assert.equal(await this.node.restart(), 0, `the node stops cleanly\n${this.node.log()}`);
    this.#connect();
  }

  /** A new account that can pay; one of `account`'s kind where that is given. */
  async funded(account = Account.generate()) {
    await this.aptos.fundAccount({ accountAddress: account.accountAddress, amount: FUNDED });
    return account;
  }

  /** Signs and submits a transaction that the SDK has built, and gives what became of it. */
  async send(signer, transaction) {
    const { hash } = await this.aptos.signAndSubmitTransaction({ signer, transaction });
    return this.aptos.waitForTransaction({
      transactionHash: hash,
      options: { checkSuccess: false },
    });
  }

  /** The authenticator of `signer` for a transaction: as its sender, or as one who signs beside it. */
  sign(signer, transaction) {
    return this.aptos.transaction.sign({ signer, transaction });
  }

  /** The authenticator of who pays for a transaction, which from then on names that account. */
  signAsPayer(signer, transaction) {
    return this.aptos.transaction.signAsFeePayer({ signer, transaction });
  }

  /**
   * Submits a transaction with the signatures given, each an authenticator: of the sender, of those who
   * sign beside it, of who pays. Gives what became of it.
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

  /** A call of an entry function, which the SDK builds with the ABI that the node gives. */
  build(sender, name, functionArguments = [], typeArguments = []) {
    const data = { function: name, functionArguments, typeArguments };
    return this.aptos.transaction.build.simple({ sender: sender.accountAddress, data });
  }

  /** Runs such a call, which must succeed, and gives the transaction. */
  async call(sender, name, functionArguments, typeArguments) {
    const done = await this.attempt(sender, name, functionArguments, typeArguments);
    assert.equal(done.vm_status, "Executed successfully", name);
    assert.equal(done.success, true, name);
    return done;
  }

  /** Runs such a call, whatever becomes of it. */
  async attempt(sender, name, functionArguments, typeArguments) {
    return this.send(sender, await this.build(sender, name, functionArguments, typeArguments));
  }

  /** How many of the coin's smallest unit an account has. */
  balance(accountAddress) {
    return this.aptos.getBalance({ accountAddress, asset: COIN });
  }

  /** What a view function returns; the SDK reads its ABI and sends BCS. */
  view(name, functionArguments = [], typeArguments = []) {
    return this.aptos.view({ payload: { function: name, functionArguments, typeArguments } });
  }
}

/** Where the SDK finds a node: for a network of its own name, the three addresses that Network.LOCAL has. */
export function endpoints(node) {
  return { fullnode: `${node.api}/v1`, faucet: node.faucet, indexer: `${node.graphql}/v1/graphql` };
}

/** What a committed transaction cost, in the coin's smallest unit. */
export function fee(done) {
  const { storage_fee_refund_octas: refund } = eventOf(
    done,
    "0x1::transaction_fee::FeeStatement",
  ).data;
  return Number(done.gas_used) * Number(done.gas_unit_price) - Number(refund);
}

/** Whether a simulation succeeded and foretold about the gas that the transaction then used. */
export function assertForetold(simulated, done) {
  assert.equal(simulated.success, true, simulated.vm_status);
  const [foretold, real] = [Number(simulated.gas_used), Number(done.gas_used)];
  const difference = Math.abs(foretold - real);
  assert.ok(difference * 100 <= real * GAS_DIFFERENCE_PERCENT, `${foretold} for ${real} gas units`);
}

export function sameAddress(left, right, message) {
  assert.equal(
    AccountAddress.from(left).toStringLong(),
    AccountAddress.from(right).toStringLong(),
    message,
  );
}

/** The only event of `transaction` that has this type. */
export function eventOf(transaction, type) {
  const found = transaction.events.filter((event) => event.type === type);
  assert.equal(
    found.length,
    1,
    `one ${type} among ${transaction.events.map((event) => event.type).join(", ")}`,
  );
  return found[0];
}

/** Runs `request`, which the node must refuse, and gives the refusal. */
export async function refusal(request) {
  const error = await request.then(
    (value) => assert.fail(`the node accepted it: ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  assert.ok(error instanceof AptosApiError, `not an answer of the node: ${error.stack}`);
  return error;
}
