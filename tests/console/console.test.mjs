// The console in headless Chromium, against nodes under load.
//
//     LEDGER_NODE_BIN=target/debug/ledger-node npm test --prefix tests/console
//
// With CONSOLE_IMAGE=FILE the picture of the README is made anew. CHROMIUM names the browser.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import puppeteer from "puppeteer-core";
import { NodeProcess, binary } from "../sdk/node_process.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** Maximum time of a change on a page. Long, because the machine may be busy. */
const TIMEOUT_MS = 60_000;
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };
const MAILBOX = "actors.mempool.mailbox_capacity";
const TOKEN = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

let browser;

before(async () => {
  browser = await puppeteer.launch({
    executablePath: CHROMIUM,
    // A container has no user namespaces for the sandbox, and its /dev/shm may be small.
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
});

after(() => browser?.close());

/** Opens a page that fails on an error of the console and on a request to another host. */
async function open(context, url, viewport = DESKTOP) {
  const page = await context.newPage();
  const problems = [];
  page.setDefaultTimeout(TIMEOUT_MS);
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && origin !== new URL(url).origin) problems.push(request.url());
  });
  await page.setViewport(viewport);
  await page.goto(url, { waitUntil: "domcontentloaded" });
  return { page, problems };
}

/** Sends transfers until the test ends. */
function load(node) {
  const child = spawn(
    binary(),
    ["bench", "--url", node.api, "--faucet", node.faucet, "--accounts", "64", "--connections", "64"]
      .concat(["--threads", "1", "--duration", "3600"]),
    { stdio: "ignore" },
  );
  return async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
}

/** Waits until a stage is marked as the limit and rejects, or until neither is so. */
async function untilLimited(page, stage, isLimited) {
  await page.waitForFunction(
    (stage, isLimited) => {
      const card = document.querySelector(`.flow [data-stage="${stage}"]`);
      const isRejecting = !card.querySelector(".rejected").hidden;
      return card.hasAttribute("data-limit") === isLimited && isRejecting === isLimited;
    },
    { timeout: TIMEOUT_MS },
    stage,
    isLimited,
  );
}

/** Presses a button that loads the page again. */
async function press(page, selector) {
  await page.waitForSelector(selector, { visible: true });
  await Promise.all([
    page.waitForNavigation({ waitUntil: "domcontentloaded" }),
    page.$eval(selector, (button) => button.click()),
  ]);
}

/** Changes a setting on the page of the settings. */
async function change(page, url, key, value) {
  await page.goto(`${url}/console/settings`, { waitUntil: "domcontentloaded" });
  const setting = `[data-setting="${key}"]`;
  await page.waitForSelector(`${setting} button[type="submit"]`, { visible: true });
  await page.$eval(`${setting} [name="value"]`, (field, value) => (field.value = value), value);
  await press(page, `${setting} button[type="submit"]`);
  const now = await page.$eval(`${setting} .value strong`, (element) => element.textContent);
  assert.equal(now, `${value}`);
}

/** Fails if axe-core finds a serious fault of accessibility. */
async function assertAccessible(page, what) {
  await page.evaluate(await readFile(AXE, "utf8"));
  const { violations } = await page.evaluate(() => window.axe.run());
  const serious = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  const texts = serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  assert.deepEqual(texts, [], what);
}

describe("the console of a node under load", () => {
  let node;
  let stopLoad;
  let context;

  before(async () => {
    node = await NodeProcess.start("sdk");
    context = await browser.createBrowserContext();
    stopLoad = load(node);
  });

  after(async () => {
    await context?.close();
    await stopLoad?.();
    await node?.kill();
  });

  test("marks the mailbox that rejects, and a larger capacity ends it", async () => {
    const { page, problems } = await open(context, `${node.admin}/`);
    await page.waitForFunction(() => {
      const committed = document.querySelector('[data-value="series.committed.value"]');
      return Number.parseFloat(committed.textContent) > 0;
    });
    await untilLimited(page, "mempool", false);
    await change(page, node.admin, MAILBOX, 1);
    await page.goto(`${node.admin}/`, { waitUntil: "domcontentloaded" });
    await untilLimited(page, "mempool", true);
    assert.match(await page.$eval("#sentence", (line) => line.textContent), /mempool rejects/);
    const remedy = await page.$eval("#remedy a", (link) => link.getAttribute("href"));
    assert.equal(remedy, `/console/settings#${MAILBOX}`);
    await page.waitForFunction(() => document.querySelector(".drawing path.mark[d^=M]"));
    if (process.env.CONSOLE_IMAGE) {
      await page.screenshot({ path: process.env.CONSOLE_IMAGE });
    }
    await change(page, node.admin, MAILBOX, 16384);
    await page.goto(`${node.admin}/`, { waitUntil: "domcontentloaded" });
    await untilLimited(page, "mempool", false);
    assert.deepEqual(problems, []);
    await page.close();
  });

  test("tries a change, takes it back, keeps another one and forgets it", async () => {
    const { page, problems } = await open(context, `${node.admin}/console/settings`);
    const setting = '[data-setting="wait.capacity"]';
    const value = () => page.$eval(`${setting} .value strong`, (element) => element.textContent);
    const old = await value();
    await page.$eval(`${setting} [name="value"]`, (field) => (field.value = 777));
    await press(page, `${setting} [data-revert-after-secs]`);
    assert.equal(await value(), "777");
    await press(page, '.banner [data-post="/settings/undo"]');
    assert.equal(await value(), old);

    await change(page, node.admin, "wait.capacity", 778);
    await page.$eval(`${setting} [data-keep="keys"]`, (button) => button.click());
    await page.waitForSelector("#keep[open]");
    const diff = await page.$eval("#keep-diff", (lines) => lines.textContent);
    assert.match(diff, /^\+.*capacity.*778/m);
    await press(page, "[data-keep-write]");
    await page.$eval(`${setting} [data-keep="forget"]`, (button) => button.click());
    await page.waitForSelector("#keep[open]");
    await press(page, "[data-keep-write]");
    assert.equal(await page.$(`${setting} [data-keep="forget"]`), null);
    await change(page, node.admin, "wait.capacity", Number(old));
    assert.deepEqual(problems, []);
    await page.close();
  });

  test("shows why a change is rejected", async () => {
    const { page } = await open(context, `${node.admin}/console/settings`);
    const setting = '[data-setting="log.level"]';
    await page.$eval(`${setting} [name="value"]`, (field) => (field.value = "loud"));
    await page.$eval(`${setting} button[type="submit"]`, (button) => button.click());
    await page.waitForFunction(() => {
      return /log\.level.*expected/.test(document.getElementById("change-error").textContent);
    });
    await page.close();
  });

  for (const [what, viewport, scheme] of [
    ["a desktop", DESKTOP, "light"],
    ["a phone in dark mode", PHONE, "dark"],
  ]) {
    test(`is accessible on ${what}`, async () => {
      for (const path of ["/", "/console/traffic", "/console/settings", "/console/health"]) {
        const { page, problems } = await open(context, node.admin + path, viewport);
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
        await assertAccessible(page, path);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(width <= viewport.width, `${path} is ${width} pixels wide`);
        assert.deepEqual(problems, []);
        await page.close();
      }
    });
  }

  test("writes figures as the server does, and loads less than 100 KB", async () => {
    const page = await context.newPage();
    const network = await page.createCDPSession();
    await network.send("Network.enable");
    await network.send("Network.setCacheDisabled", { cacheDisabled: true });
    let bytes = 0;
    network.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
    const loaded = page.waitForResponse((response) => response.url().includes("/history"));
    await page.goto(`${node.admin}/`, { waitUntil: "load" });
    await (await loaded).text();
    assert.ok(bytes > 20_000 && bytes < 100_000, `${bytes} bytes`);

    const golden = new URL("../golden/figures.json", import.meta.url);
    const figures = JSON.parse(await readFile(golden, "utf8"));
    const texts = await page.evaluate(
      (figures) => figures.map(([form, value]) => window.formatted(form, value)),
      figures,
    );
    assert.deepEqual(texts, figures.map(([, , text]) => text));
    await page.close();
  });

  test("is a table without scripts", async () => {
    const page = await context.newPage();
    await page.setJavaScriptEnabled(false);
    await page.goto(`${node.admin}/`, { waitUntil: "domcontentloaded" });
    const stages = await page.$$eval("tr[data-stage] th", (cells) => cells.length);
    assert.ok(stages > 10, `${stages} stages`);
    await page.goto(`${node.admin}/console/settings`, { waitUntil: "domcontentloaded" });
    const hidden = await page.$$eval("[data-change]", (forms) => forms.every((form) => form.hidden));
    assert.ok(hidden, "controls need the script");
    await page.close();
  });
});

/** Sends reads from an address of this machine until the returned function is called. */
function read(node, address, inFlight) {
  const agent = new Agent({ localAddress: address, keepAlive: true });
  let isStopped = false;
  const send = () => {
    if (isStopped) return;
    const request = get(`${node.api}/v1/accounts/0x1`, { agent }, (response) => {
      response.resume().on("close", send);
    });
    request.on("error", send);
  };
  for (let index = 0; index < inFlight; index += 1) send();
  return () => {
    isStopped = true;
    agent.destroy();
  };
}

describe("the traffic", () => {
  let node;
  let context;

  before(async () => {
    node = await NodeProcess.start("sdk");
    context = await browser.createBrowserContext();
  });

  after(async () => {
    await context?.close();
    await node?.kill();
  });

  test("names the culprit of a flood, and denies it with one action", async () => {
    const { page, problems } = await open(context, `${node.admin}/console/traffic`);
    const others = ["127.0.0.3", "127.0.0.4", "127.0.0.5"].map((other) => read(node, other, 1));
    await page.waitForSelector('tr[data-name="127.0.0.5"]');
    const began = Date.now();
    const flood = read(node, "127.0.0.2", 32);
    try {
      const first = '[data-kind="address"] tbody tr:first-child[data-name="127.0.0.2"]';
      await page.waitForSelector(first);
      console.log(`the culprit is named after ${Date.now() - began} ms`);
      const row = 'tr[data-name="127.0.0.2"]';
      // At once: the script replaces the rows each second.
      await page.evaluate((button) => document.querySelector(button).click(), `${row} [data-ask]`);
      await page.waitForSelector("#ask[open]");
      const question = await page.$eval("#ask", (dialog) => dialog.textContent);
      assert.match(question, /Deny address 127\.0\.0\.2\?.*is 403.*For 5 minutes/s);
      await assertAccessible(page, "the question");
      await page.type("#ask-reason", "floods the <b>node</b>");
      await press(page, "#ask-form [data-revert-after-secs]");
      const banner = () => page.$eval("#banners", (banners) => banners.textContent);
      assert.match(await banner(), /On trial: api\.denied_addresses.*floods the <b>node<\/b>/s);
      await page.waitForSelector(`${row} .badge.bad`);
      await press(page, '#banners [data-post="/settings/undo"]');
      assert.equal(await banner(), "");
    } finally {
      for (const stop of [flood, ...others]) stop();
    }
    assert.deepEqual(problems, []);
    await page.close();
  });

  test("turns a switch off with a reason, which every page shows", async () => {
    const { page, problems } = await open(context, `${node.admin}/console/traffic`);
    const button = '[data-switch="api.simulation_enabled"] [data-ask]';
    const ask = async () => {
      await page.waitForSelector(button, { visible: true });
      await page.$eval(button, (element) => element.click());
      await page.waitForSelector("#ask[open]");
    };
    await ask();
    const isComplete = await page.$eval("#ask-form", (form) => form.checkValidity());
    assert.equal(isComplete, false, "a reason is required");
    await page.type("#ask-reason", "too slow");
    await press(page, "#ask-form button:not([data-revert-after-secs])");
    for (const path of ["/", "/console/settings", "/console/health", "/console/traffic"]) {
      await page.goto(node.admin + path, { waitUntil: "domcontentloaded" });
      const banner = await page.$eval(".banner.bad", (element) => element.textContent);
      assert.match(banner, /^api\.simulation_enabled is off since .*, by .*: too slow\.$/);
    }
    await ask();
    await press(page, "#ask-form button:not([data-revert-after-secs])");
    assert.equal(await page.$(".banner.bad"), null);
    assert.deepEqual(problems, []);
    await page.close();
  });
});

describe("the login", () => {
  let node;
  let directory;
  let context;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "ledger-node-console-"));
    const file = join(directory, "admin.token");
    await writeFile(file, `${TOKEN}\n`, { mode: 0o600 });
    node = await NodeProcess.start("sdk", [`admin.token_file=${file}`]);
    context = await browser.createBrowserContext();
  });

  after(async () => {
    await context?.close();
    await node?.kill();
    await rm(directory, { recursive: true, force: true });
  });

  test("opens the console with the token only, and closes it again", async () => {
    const { page, problems } = await open(context, `${node.admin}/`);
    assert.equal(new URL(page.url()).pathname, "/login");
    await assertAccessible(page, "/login");
    const logIn = async (token) => {
      await page.type('input[type="password"]', token);
      await press(page, 'main button[type="submit"]');
    };
    await logIn("a wrong token");
    await page.waitForSelector(".error");
    assert.deepEqual(
      problems.splice(0).filter((problem) => !problem.includes("status of 4")),
      [],
    );
    await logIn(TOKEN);
    assert.equal(new URL(page.url()).pathname, "/");
    await page.waitForSelector("#sentence");
    await change(page, node.admin, "wait.capacity", 4321);
    await press(page, 'form[action="/logout"] button');
    await page.goto(`${node.admin}/`, { waitUntil: "domcontentloaded" });
    assert.equal(new URL(page.url()).pathname, "/login");
    assert.deepEqual(problems, []);
    await page.close();
  });
});
