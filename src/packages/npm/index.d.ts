/** A funded account of a chain in memory. Its key is public. */
export interface FundedAccount {
  /** Address, with 64 digits. */
  address: string;
  /** Private key of ed25519, `ed25519-priv-0x...`. */
  privateKey: string;
}

export interface StartOptions {
  /** Time at which the clock of the chain starts; it then runs as fast as time passes. */
  startTime?: Date;
  /** Number of funded accounts, 5 by default. */
  accounts?: number;
  /** A preset of the program, by default `sdk`, or `null` for none. */
  preset?: string | null;
  /** Settings by their keys, such as `{ "wait.timeout_ms": 500 }`. */
  settings?: Record<string, string | number | boolean>;
}

/** A running node with its ledger in memory. It ends with this process at the latest. */
export class LedgerNode {
  private constructor();
  /** Starts a node on free ports, and resolves once it accepts requests. */
  static start(options?: StartOptions): Promise<LedgerNode>;
  /** Address of the REST interface, with `/v1`. */
  readonly url: string;
  /** Address of the faucet. */
  readonly faucetUrl: string;
  /** Address that takes the GraphQL query of the SDKs. */
  readonly indexerUrl: string;
  /** Address of the admin listener. */
  readonly adminUrl: string;
  /** Funded accounts with their private keys. */
  readonly accounts: FundedAccount[];
  /** Ends the node. Its ledger is lost. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Returns the path of the program: `LEDGER_NODE_BIN`, or the one in this package. */
export function program(): string;
