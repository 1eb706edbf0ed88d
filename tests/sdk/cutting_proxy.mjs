// A proxy between a client and a node, which reports the moments at which a test kills one of them.
// It has the same address while the node restarts at others.

import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Moments of a submission. */
export const MOMENTS = {
  /** The proxy has begun to forward the request. */
  REQUESTED: "requested",
  /** The node has responded, and the proxy does not forward the response. */
  ANSWERED: "answered",
};

export class CuttingProxy {
  #server;
  #target;
  #sockets = new Set();
  /** The next moment to report, and the number of submissions until it. */
  #moment;
  #submissionsUntil = 0;
  #report;

  /** Starts a proxy to the node at the URL `target`. */
  static async start(target) {
    const proxy = new CuttingProxy();
    proxy.#target = new URL(target);
    proxy.#server = createServer((client) => proxy.#forward(client));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    proxy.url = `http://127.0.0.1:${proxy.#server.address().port}`;
    return proxy;
  }

  /** Resolves at this moment of the submission with this number from now on, the next is 1. */
  reached(moment, submission) {
    this.#moment = moment;
    this.#submissionsUntil = submission;
    return new Promise((resolve) => {
      this.#report = resolve;
    });
  }

  /** Forwards to the node at the URL `target` from now on. Cuts the connections of before. */
  redirect(target) {
    this.#target = new URL(target);
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Cuts all connections and closes the listener. */
  close() {
    this.#server.close();
    this.redirect(this.#target);
  }

  #forward(client) {
    const node = connect(Number(this.#target.port), this.#target.hostname);
    for (const [socket, peer] of [
      [client, node],
      [node, client],
    ]) {
      this.#sockets.add(socket);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        peer.destroy();
      });
      // A killed process resets its connections.
      socket.on("error", () => {});
    }
    // Set from the awaited submission until the end of its connection.
    let moment;
    client.on("data", (chunk) => {
      const isSubmission = chunk.toString("latin1", 0, 5) === "POST ";
      if (isSubmission && --this.#submissionsUntil === 0) moment = this.#moment;
      node.write(chunk);
      if (moment === MOMENTS.REQUESTED) this.#report();
    });
    node.on("data", (chunk) => {
      if (moment === MOMENTS.ANSWERED) this.#report();
      else client.write(chunk);
    });
  }
}
