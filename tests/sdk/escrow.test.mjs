// The example module `escrow`, called with the TypeScript SDK.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { COIN, Session, eventOf, sameAddress } from "./session.mjs";

const ESCROW = "0x1::escrow";
const AMOUNT = 1_000_000;
const DAY_SECS = 86_400;

describe("escrow", { timeout: 120_000 }, () => {
  const session = Session.forSuite();
  let payer;
  let recipient;

  before(async () => {
    payer = await session.funded();
    recipient = await session.funded();
  });

  /** Opens an escrow for the recipient and returns its number. */
  async function open() {
    const { ledger_timestamp: nowUsecs } = await session.aptos.getLedgerInfo();
    const deadlineSecs = Math.floor(Number(nowUsecs) / 1_000_000) + DAY_SECS;
    const done = await session.call(
      payer,
      `${ESCROW}::open`,
      [recipient.accountAddress, AMOUNT, deadlineSecs],
      [COIN],
    );
    const opened = eventOf(done, `${ESCROW}::Opened`).data;
    assert.equal(opened.coin_type, COIN);
    assert.equal(opened.escrow.deadline_secs, deadlineSecs.toString());
    return opened.number;
  }

  const locked = async () => {
    const [amount] = await session.view(`${ESCROW}::locked`, [payer.accountAddress], [COIN]);
    return Number(amount);
  };
  const balance = ({ accountAddress }) => session.aptos.getBalance({ accountAddress, asset: COIN });

  test("locks coins, lists them in a table, and releases them to the recipient", async () => {
    const lockedBefore = await locked();
    const number = await open();
    assert.equal(await locked(), lockedBefore + AMOUNT);
    const { open: table } = await session.aptos.getAccountResource({
      accountAddress: payer.accountAddress,
      resourceType: `${ESCROW}::EscrowStore<${COIN}>`,
    });
    const item = await session.aptos.getTableItem({
      handle: table.handle,
      data: { key_type: "u64", value_type: `${ESCROW}::Escrow`, key: number },
    });
    assert.equal(item.amount, AMOUNT.toString());
    sameAddress(item.recipient, recipient.accountAddress);

    const before = await balance(recipient);
    const done = await session.call(
      recipient,
      `${ESCROW}::release`,
      [payer.accountAddress, number],
      [COIN],
    );
    sameAddress(eventOf(done, `${ESCROW}::Closed`).data.paid_to, recipient.accountAddress);
    const { storage_fee_refund_octas: refund } = eventOf(
      done,
      "0x1::transaction_fee::FeeStatement",
    ).data;
    const fee = Number(done.gas_used) * Number(done.gas_unit_price) - Number(refund);
    assert.equal(await balance(recipient), before + AMOUNT - fee);
    assert.equal(await locked(), lockedBefore);
    assert.deepEqual(await session.view(`${ESCROW}::get`, [payer.accountAddress, number], [COIN]), [
      { vec: [] },
    ]);
  });

  test("rejects other accounts always and the payer before the deadline", async () => {
    const number = await open();
    const lockedNow = await locked();
    const stranger = await session.funded();
    const taken = await session.attempt(
      stranger,
      `${ESCROW}::release`,
      [payer.accountAddress, number],
      [COIN],
    );
    assert.match(taken.vm_status, /^Move abort in 0x1::escrow: ENOT_RECIPIENT\(0x50004\): /);
    const early = await session.attempt(payer, `${ESCROW}::cancel`, [number], [COIN]);
    assert.match(early.vm_status, /^Move abort in 0x1::escrow: EBEFORE_DEADLINE\(0x30005\): /);
    assert.equal(await locked(), lockedNow);
  });
});
