import { createServer, type IncomingHttpHeaders } from "node:http";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { sqsSender } from "../../../adapters/sqs/sqs-sender.ts";
import { clientsOf } from "../../../proof/scenario/clients.ts";
import { findChromium } from "../../packages/sandbox/browser.ts";
import { describeFirstLook } from "./first-look.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { describeWalk } from "./walk.ts";

const hasBrowser = findChromium() !== undefined || process.env.FORBID_SKIPS !== undefined;

describe.skipIf(!hasBrowser)("a first walk through the console in a browser", () => {
  let opened: OpenedConsole;
  beforeAll(async () => {
    opened = await openConsole();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  describeWalk(() => opened);
  describeFirstLook(() => opened);

  it("reveals nothing that opens the console to a server on another port", async () => {
    const { context, origin, page } = opened;
    const received: IncomingHttpHeaders[] = [];
    const server = createServer(({ headers }, response) => {
      received.push(headers);
      response.setHeader("content-type", "text/html").end("<!doctype html><title>Another server</title>");
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = z.object({ port: z.number() }).parse(server.address());
    const other = await context.newPage();
    onTestFinished(() => other.close());
    await other.goto(`http://127.0.0.1:${port}/`);
    const kept = await other.evaluate("[document.cookie, { ...localStorage }, { ...sessionStorage }]");
    expect(kept).toEqual(["", {}, {}]);
    expect(received.length).toBeGreaterThan(0);
    for (const { cookie = "", authorization = "" } of received) {
      const answer = await fetch(`${origin}/api/stage`, { headers: { cookie, authorization } });
      expect(answer.status).toBe(401);
    }
    // The browser stays signed in, also in another tab and after a reload.
    await other.goto(`${origin}/`);
    await other.reload();
    await other.getByRole("heading", { name: "Overview" }).waitFor();
    expect(await context.cookies()).toEqual([]);
    // A used URL does not end its session.
    await other.goto(`${origin}/#token=used`);
    await expect.poll(() => other.url()).toBe(`${origin}/`);
    await other.getByRole("heading", { name: "Overview" }).waitFor();
    expect(new URL(page.url()).hash).toBe("");
  });

  it("counts the dead letters that a redrive does not fix, and shows one's personal data on request, then hides it", async () => {
    const { page, origin, stage } = opened;
    using clients = clientsOf(stage.system.access);
    const body = JSON.stringify({ holder: "Ada Lovelace" });
    await sqsSender(clients.sqs)(
      stage.output("CompanyAccountsDeadLetterQueueUrl"),
      ["it names nobody", "type: mapping.types translates nothing"].map((reason) => ({ body, reason })),
    );
    await page.goto(`${origin}/dead-letters?queue=company-accounts`);
    const all = page.getByRole("region", { name: "Dead letters of company-accounts", exact: true });
    await all.getByRole("button", { name: "Redrive these 2" }).waitFor();
    await all.getByText(/^1 of them would fail again\./).waitFor();
    await page.getByRole("button").filter({ hasText: "it names nobody" }).click();
    const letter = page.getByRole("region", { name: "The dead letter", exact: true });
    await letter.getByRole("region", { name: "The body, masked", exact: true }).waitFor();
    expect(await letter.textContent()).not.toContain("Ada Lovelace");
    await letter.getByRole("button", { name: "Show personal data" }).click();
    await letter.getByText("Ada Lovelace").waitFor();
    await letter.getByRole("button", { name: "Hide", exact: true }).click();
    await letter.getByRole("button", { name: "Show personal data" }).waitFor();
    expect(await letter.textContent()).not.toContain("Ada Lovelace");
  });

  it("causes no error in the browser", () => {
    expect(opened.complaints.filter((text) => !text.includes("status of 404"))).toEqual([]);
  });
});
