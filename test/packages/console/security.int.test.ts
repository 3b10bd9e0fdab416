import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Route } from "../../../packages/console/route.ts";
import { createJobs } from "../../../packages/console/route.ts";
import { consoleRoutes } from "../../../packages/console/routes.ts";
import { type ConsoleServer, startConsole } from "../../../packages/console/server.ts";
import { enterConsole } from "../../support/console-session.ts";
import { consoleContext } from "./console-context.ts";

const changes: string[] = [];
const routes: readonly Route[] = [
  { method: "GET", path: "/api/person", answer: async () => ({ name: "<script>alert(1)</script>" }) },
  {
    method: "POST",
    path: "/api/change",
    changes: true,
    answer: async () => {
      changes.push("changed");
      return {};
    },
  },
  {
    method: "POST",
    path: "/api/look",
    answer: async (_, { fields }) => ({ looked: true, fields }),
  },
];
const files = new Map([
  ["/", { type: "text/html; charset=utf-8", content: "<!doctype html>the page" }],
  ["/assets/page.js", { type: "text/javascript; charset=utf-8", content: "1" }],
]);

type Answer = { readonly status: number; readonly headers: Record<string, unknown>; readonly text: string };

describe("the console's server", () => {
  const admitted: string[] = [];
  let writable: ConsoleServer;
  let readOnly: ConsoleServer;
  const start = (isWritable: boolean) => {
    const context = consoleContext(isWritable);
    return startConsole({ context, files, routes, onAdmitted: (address) => admitted.push(address) }, 0);
  };
  let own: Readonly<Record<string, string>> = {};
  beforeAll(async () => {
    [writable, readOnly] = await Promise.all([start(true), start(false)]);
    own = await enterConsole(writable.address());
  });
  afterAll(async () => {
    await Promise.all([writable[Symbol.asyncDispose](), readOnly[Symbol.asyncDispose]()]);
  });

  type Asked = {
    readonly server?: ConsoleServer;
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly host?: string;
  };
  function ask(
    path: string,
    { server = writable, method = "GET", headers = {}, body, host }: Asked = {},
  ): Promise<Answer> {
    const { port } = server;
    const options = {
      host: "127.0.0.1",
      port,
      path,
      method,
      headers: { host: host ?? `127.0.0.1:${port}`, ...headers },
    };
    return new Promise((resolve, reject) => {
      const sent = httpRequest(options, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
      });
      sent.once("error", reject);
      sent.end(body);
    });
  }
  const exchange = (headers: Readonly<Record<string, string>>) =>
    ask("/api/session", { method: "POST", headers, body: "{}" });

  it("listens at 127.0.0.1 alone", async () => {
    const reach = new Promise((resolve, reject) => {
      httpRequest({ host: "127.0.0.2", port: writable.port, path: "/" }, resolve).once("error", reject).end();
    });
    await expect(reach).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("exchanges the token of its address once, and then prints another address", async () => {
    const address = writable.address();
    const authorization = `Bearer ${new URL(address).hash.replace("#token=", "")}`;
    const before = admitted.length;
    const first = await exchange({ ...own, authorization });
    expect(first.status).toBe(200);
    expect(JSON.parse(first.text)).toEqual({ session: own.authorization?.replace("Bearer ", "") });
    expect((await exchange({ ...own, authorization })).status).toBe(401);
    expect(admitted).toHaveLength(before + 1);
    expect(admitted.at(-1)).not.toBe(address);
    expect(await enterConsole(admitted.at(-1) ?? "")).toEqual(own);
  });

  it("gives the page's files to anyone, and data to nobody without the session's token", async () => {
    for (const path of ["/", "/events", "/assets/page.js"]) expect((await ask(path)).status).toBe(200);
    const oneTime = new URL(writable.address()).hash.replace("#token=", "");
    for (const authorization of ["", "Bearer ", `Bearer ${"x".repeat(43)}`, `Bearer ${oneTime}`])
      for (const path of ["/api/person", "/api/tail", "/api/none", "/api/session"])
        expect((await ask(path, { headers: { authorization } })).status).toBe(401);
    for (const authorization of ["", "Bearer ", "Bearer guess", own.authorization ?? ""])
      expect((await exchange({ ...own, authorization })).status).toBe(401);
  });

  it("accepts and sets no cookie", async () => {
    const session = own.authorization?.replace("Bearer ", "");
    for (const name of [`income-events-console-${writable.port}`, "income-events-session", "authorization"]) {
      const { status, headers } = await ask("/api/person", { headers: { cookie: `${name}=${session}` } });
      expect(status).toBe(401);
      expect(headers["set-cookie"]).toBeUndefined();
    }
    const answers = [await ask("/", { headers: own }), await ask("/api/person", { headers: own })];
    for (const { headers } of answers) expect(headers["set-cookie"]).toBeUndefined();
  });

  it("answers to its own host names alone: a name that was led here gets nothing", async () => {
    for (const host of [
      "evil.example",
      `evil.example:${writable.port}`,
      "127.0.0.1",
      `127.0.0.1.evil.example:${writable.port}`,
    ])
      expect((await ask("/api/person", { headers: own, host })).status).toBe(403);
    expect((await ask("/api/person", { headers: own, host: `localhost:${writable.port}` })).status).toBe(200);
  });

  it("lets only its own page change anything, by JSON", async () => {
    const change = (headers: Readonly<Record<string, string>>, method = "POST") =>
      ask("/api/change", { method, headers, ...(method === "POST" && { body: "{}" }) });
    const { origin: _, ...withoutOrigin } = own;
    changes.length = 0;
    for (const headers of [
      { ...own, "sec-fetch-site": "cross-site" },
      { ...own, "sec-fetch-site": "same-site" },
      { ...own, origin: "https://evil.example" },
      { ...own, origin: "null" },
      { ...own, origin: `http://127.0.0.1:${readOnly.port}` },
      withoutOrigin,
      { ...own, "content-type": "text/plain" },
      { ...own, "content-type": "application/x-www-form-urlencoded" },
    ])
      expect((await change(headers)).status).toBe(403);
    expect((await change(own, "GET")).status).toBe(404);
    expect(changes).toEqual([]);
    expect((await change(own)).status).toBe(200);
    expect(changes).toEqual(["changed"]);
  });

  it("has no CORS: a preflight of another origin is refused", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
    const preflight = await ask("/api/change", { method: "OPTIONS", headers });
    expect(preflight.status).toBe(403);
    for (const answer of [preflight, await ask("/api/person", { headers: { ...own, ...headers } })])
      expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it("lets nothing be loaded from elsewhere, framed or kept, whatever it answers", async () => {
    const answers = await Promise.all([
      ask("/", { headers: own }),
      ask("/assets/page.js", { headers: own }),
      ask("/api/person", { headers: own }),
      ask("/api/none", { headers: own }),
      ask("/"),
      exchange({ ...own, authorization: "Bearer guess" }),
    ]);
    for (const { headers } of answers) {
      const policy = String(headers["content-security-policy"]);
      expect(policy).toMatch(/^default-src 'self';/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|data:|https?:/);
      expect(headers["cache-control"]).toBe("no-store");
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["referrer-policy"]).toBe("no-referrer");
    }
  });

  it("answers data as JSON, which no browser takes for markup", async () => {
    const { headers, text } = await ask("/api/person", { headers: own });
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(JSON.parse(text)).toEqual({ name: "<script>alert(1)</script>" });
  });

  it("only looks without --write: refuses each address by which the page changes anything", async () => {
    const context = consoleContext(false);
    const real = consoleRoutes(context, createJobs());
    await using server = await startConsole({ context, files, routes: real, onAdmitted: () => undefined }, 0);
    const headers = await enterConsole(server.address());
    const changing = real.filter(({ changes }) => changes === true);
    const look = { server, method: "POST", headers, body: "{}" };
    expect((await ask("/api/mapping/try", look)).status).not.toBe(403);
    expect(changing.length).toBeGreaterThan(10);
    for (const { path } of changing) {
      const { status, text } = await ask(path, { server, method: "POST", headers, body: "{}" });
      expect({ path, status, text }).toEqual({ path, status: 403, text: expect.stringContaining("--write") });
    }
  });

  it("refuses a body that is no JSON object or too large, and no path that leaves its files", async () => {
    const post = (body: string) => ask("/api/look", { method: "POST", headers: own, body });
    for (const body of ["[", "[]", '"text"']) expect((await post(body)).status).toBe(400);
    expect((await post(`{"a":"${"x".repeat(3 * 1024 * 1024)}"}`)).status).toBe(413);
    for (const path of ["/assets/../server.ts", "/assets/%2e%2e/server.ts", "/assets/none"])
      expect((await ask(path, { headers: own })).text).not.toContain("startConsole");
  });
});
