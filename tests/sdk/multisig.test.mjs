// Creation of a multisig account and its transactions, with the payload helpers of the SDK.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { before, describe, test } from "node:test";
import {
  Account,
  AccountAddress,
  MultiSig,
  SimpleTransaction,
  TransactionPayloadMultiSig,
  generateRawTransaction,
  generateTransactionPayload,
} from "@aptos-labs/ts-sdk";
import { COIN, Session, eventOf, rejection, sameAddress } from "./session.mjs";

const MODULE = "0x1::multisig_account";
/** Initial balance of the account. */
const INITIAL_BALANCE = 1_000_000;
const OWNERS_NEEDED = 2;

describe(
  "a multisig account with three owners and two required approvals",
  { timeout: 120_000 },
  () => {
    const session = Session.forSuite();
    let owners;

    before(async () => {
      owners = [await session.funded(), await session.funded(), await session.funded()];
    });

    /** Creates a multisig account of the owners with coins. Returns its address. */
    async function create() {
      const creator = owners[0];
      const [address] = await session.view(`${MODULE}::get_next_multisig_account_address`, [
        creator.accountAddress,
      ]);
      const others = owners.slice(1).map((owner) => owner.accountAddress);
      await session.call(creator, `${MODULE}::create_with_owners`, [
        others,
        OWNERS_NEEDED,
        ["name"],
        [[1, 2]],
      ]);
      await session.call(creator, "0x1::aptos_account::transfer", [address, INITIAL_BALANCE]);
      return address;
    }

    /** Returns the payload of a transfer by the multisig account. */
    const transferBy = (multisigAddress, recipient, amount) =>
      generateTransactionPayload({
        aptosConfig: session.aptos.config,
        multisigAddress,
        function: "0x1::aptos_account::transfer",
        functionArguments: [recipient, amount],
      });
    const bytesOf = (payload) => payload.multiSig.transaction_payload.bcsToBytes();
    const stored = (multisigAddress) =>
      new TransactionPayloadMultiSig(new MultiSig(AccountAddress.from(multisigAddress)));

    /** Builds an owner's transaction that executes the next one of the multisig account. */
    async function execution(owner, payload) {
      const aptosConfig = session.aptos.config;
      const raw = await generateRawTransaction({
        aptosConfig,
        sender: owner.accountAddress,
        payload,
      });
      return new SimpleTransaction(raw);
    }
    const execute = async (owner, payload) => session.send(owner, await execution(owner, payload));
    const simulate = async (owner, payload) => {
      const transaction = await execution(owner, payload);
      const [result] = await session.aptos.transaction.simulate.simple({
        signerPublicKey: owner.publicKey,
        transaction,
      });
      return result;
    };
    const balance = (accountAddress) => session.aptos.getBalance({ accountAddress, asset: COIN });

    test("is created at the predicted address, with its owners", async () => {
      const account = await create();
      const [listed] = await session.view(`${MODULE}::owners`, [account]);
      assert.equal(listed.length, 3);
      sameAddress(listed[2], owners[0].accountAddress, "its creator comes last");
      assert.deepEqual(await session.view(`${MODULE}::num_signatures_required`, [account]), ["2"]);
      const [metadata] = await session.view(`${MODULE}::metadata`, [account]);
      assert.deepEqual(metadata, { data: [{ key: "name", value: "0x0102" }] });
      assert.equal(await balance(account), INITIAL_BALANCE);
    });

    test("executes a stored payload that two owners approved", async () => {
      const account = await create();
      const recipient = Account.generate().accountAddress;
      const payload = await transferBy(account, recipient, 250_000);
      await session.call(owners[0], `${MODULE}::create_transaction`, [account, bytesOf(payload)]);
      assert.deepEqual(await session.view(`${MODULE}::can_be_executed`, [account, 1]), [false]);

      const approval = await session.call(owners[1], `${MODULE}::approve_transaction`, [
        account,
        1,
      ]);
      const vote = eventOf(approval, `${MODULE}::Vote`).data;
      assert.deepEqual([vote.sequence_number, vote.approved], ["1", true]);
      sameAddress(vote.owner, owners[1].accountAddress);
      assert.deepEqual(await session.view(`${MODULE}::can_be_executed`, [account, 1]), [true]);

      // The ledger has the payload, so the executing transaction names only the account.
      const done = await execute(owners[2], stored(account));
      assert.equal(done.success, true, done.vm_status);
      assert.equal(done.payload.type, "multisig_payload");
      sameAddress(done.payload.multisig_address, account);
      const executed = eventOf(done, `${MODULE}::TransactionExecutionSucceeded`).data;
      sameAddress(executed.multisig_account, account);
      sameAddress(executed.executor, owners[2].accountAddress);
      assert.deepEqual([executed.sequence_number, executed.num_approvals], ["1", "3"]);
      assert.equal(await balance(recipient), 250_000);
      assert.equal(
        await balance(account),
        INITIAL_BALANCE - 250_000,
        "the executing owner pays the gas",
      );
      assert.deepEqual(await session.view(`${MODULE}::last_resolved_sequence_number`, [account]), [
        "1",
      ]);
    });

    test("executes the payload of an approved hash and rejects another one", async () => {
      const account = await create();
      const recipient = Account.generate().accountAddress;
      const payload = await transferBy(account, recipient, 300_000);
      const hash = createHash("sha3-256").update(bytesOf(payload)).digest();
      await session.call(owners[0], `${MODULE}::create_transaction_with_hash`, [
        account,
        new Uint8Array(hash),
      ]);

      const other = await rejection(
        execute(owners[1], await transferBy(account, recipient, 300_001)),
      );
      assert.equal(other.status, 400);
      assert.equal(
        other.data.vm_error_code,
        35,
        "MULTISIG_TRANSACTION_PAYLOAD_DOES_NOT_MATCH_HASH",
      );

      // The execution counts as an approval of its sender.
      const done = await execute(owners[1], payload);
      assert.equal(done.success, true, done.vm_status);
      assert.equal(done.payload.transaction_payload.function, "0x1::aptos_account::transfer");
      assert.equal(await balance(recipient), 300_000);
    });

    test("rejects executions with too few approvals or by a stranger", async () => {
      const account = await create();
      const payload = await transferBy(account, owners[0].accountAddress, 1);
      const missing = await rejection(execute(owners[0], payload));
      assert.equal(missing.data.vm_error_code, 33, "MULTISIG_TRANSACTION_NOT_FOUND");

      await session.call(owners[0], `${MODULE}::create_transaction`, [account, bytesOf(payload)]);
      const few = await rejection(execute(owners[0], payload));
      assert.equal(few.data.vm_error_code, 34, "MULTISIG_TRANSACTION_INSUFFICIENT_APPROVALS");
      assert.equal(few.data.error_code, "vm_error");

      const stranger = await session.funded();
      const strange = await rejection(execute(stranger, payload));
      assert.equal(strange.data.vm_error_code, 32, "NOT_MULTISIG_OWNER");

      const changed = await rejection(
        execute(owners[1], await transferBy(account, owners[0].accountAddress, 2)),
      );
      assert.equal(changed.data.vm_error_code, 40, "MULTISIG_TRANSACTION_PAYLOAD_DOES_NOT_MATCH");

      const none = await rejection(
        execute(owners[1], await transferBy(stranger.accountAddress, account, 1)),
      );
      assert.equal(none.data.vm_error_code, 31, "ACCOUNT_NOT_MULTISIG");
    });

    test("reports a failed payload in a successful transaction and uses its number", async () => {
      const account = await create();
      const payload = await transferBy(account, owners[0].accountAddress, INITIAL_BALANCE + 1);
      await session.call(owners[0], `${MODULE}::create_transaction`, [account, bytesOf(payload)]);
      const done = await execute(owners[1], payload);
      assert.equal(done.success, true, done.vm_status);
      const failure = eventOf(done, `${MODULE}::TransactionExecutionFailed`).data.execution_error;
      assert.deepEqual(failure, {
        abort_location: failure.abort_location,
        error_type: "MoveAbort",
        error_code: "65540",
      });
      assert.match(failure.abort_location, /^(0x)?0*1::fungible_asset$/);
      assert.equal(await balance(account), INITIAL_BALANCE);
      assert.deepEqual(await session.view(`${MODULE}::last_resolved_sequence_number`, [account]), [
        "1",
      ]);
    });

    test("removes a transaction that two owners rejected", async () => {
      const account = await create();
      const payload = await transferBy(account, owners[0].accountAddress, 1);
      await session.call(owners[0], `${MODULE}::create_transaction`, [account, bytesOf(payload)]);
      await session.call(owners[1], `${MODULE}::reject_transaction`, [account, 1]);
      assert.deepEqual(await session.view(`${MODULE}::can_be_rejected`, [account, 1]), [false]);
      await session.call(owners[2], `${MODULE}::reject_transaction`, [account, 1]);
      assert.deepEqual(await session.view(`${MODULE}::can_be_rejected`, [account, 1]), [true]);
      const done = await session.call(owners[2], `${MODULE}::execute_rejected_transaction`, [
        account,
      ]);
      const dropped = eventOf(done, `${MODULE}::ExecuteRejectedTransaction`).data;
      assert.deepEqual([dropped.sequence_number, dropped.num_rejections], ["1", "2"]);
      assert.deepEqual(await session.view(`${MODULE}::get_pending_transactions`, [account]), [[]]);
      const removed = await rejection(execute(owners[0], payload));
      assert.equal(removed.data.vm_error_code, 33, "MULTISIG_TRANSACTION_NOT_FOUND");
    });

    test("changes its owners by its own transaction", async () => {
      const account = await create();
      const newcomer = await session.funded();
      const payload = await generateTransactionPayload({
        aptosConfig: session.aptos.config,
        multisigAddress: account,
        function: `${MODULE}::add_owner`,
        functionArguments: [newcomer.accountAddress],
      });
      await session.call(owners[0], `${MODULE}::create_transaction`, [account, bytesOf(payload)]);
      const done = await execute(owners[1], payload);
      eventOf(done, `${MODULE}::AddOwners`);
      assert.deepEqual(
        await session.view(`${MODULE}::is_owner`, [newcomer.accountAddress, account]),
        [true],
      );
    });

    test("simulates an execution", async () => {
      const account = await create();
      const recipient = Account.generate().accountAddress;
      const payload = await transferBy(account, recipient, 400_000);
      await session.call(owners[0], `${MODULE}::create_transaction`, [account, bytesOf(payload)]);
      const early = await simulate(owners[0], payload);
      assert.deepEqual(
        [early.success, early.vm_status],
        [false, "MULTISIG_TRANSACTION_INSUFFICIENT_APPROVALS"],
      );

      const predicted = await simulate(owners[1], payload);
      assert.equal(predicted.success, true, predicted.vm_status);
      assert.equal(eventOf(predicted, "0x1::fungible_asset::Deposit").data.amount, "400000");
      eventOf(predicted, `${MODULE}::TransactionExecutionSucceeded`);
      assert.equal(
        (await simulate(owners[1], stored(account))).changes.length,
        predicted.changes.length,
      );
      assert.equal(await balance(recipient), 0, "a simulation changes nothing");
      const done = await execute(owners[1], payload);
      assert.equal(done.gas_used, predicted.gas_used);
      assert.deepEqual(
        done.events.map(({ type }) => type),
        predicted.events.map(({ type }) => type),
      );
    });
  },
);
