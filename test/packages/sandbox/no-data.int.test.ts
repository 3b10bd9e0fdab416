import { request } from "node:http";
import { answerEncodings } from "@income-events/sandbox/api/encodings.ts";
import { expect, test } from "vitest";
import { sandboxFor } from "./support.ts";

const users = "/api/v0.4/users";

function ask({ baseUrl, token }: { readonly baseUrl: string; readonly token: string }, path = users) {
  return fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${token}` } });
}

test.each([202, 204, 206])("an answer of %i is asked for as others are, with its wait", async (status) => {
  const sandbox = await sandboxFor();
  sandbox.fault({ status, retryAfterSeconds: 1.5 });
  const answer = await ask(sandbox);
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([status, "1.5"]);
  expect((await ask(sandbox)).status).toBe(200);
});

test.each([
  ["maintenance", "text/html", /^<!doctype html>/],
  ["empty", "application/json", /^$/],
  ["error-in-body", "application/json", /"code": "PRODUCT_NOT_READY"/],
  ["wrong-charset", "application/json; charset=utf-8", /\uFFFD/],
] as const)("200 without data is asked for: %s", async (effect, type, body) => {
  const sandbox = await sandboxFor();
  sandbox.fault({ effect });
  const answer = await ask(sandbox);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type]);
  expect(await answer.text()).toMatch(body);
});

test.each(["cut", "wrong-coding"] as const)("a body that can't be read is asked for: %s", async (effect) => {
  const sandbox = await sandboxFor();
  sandbox.fault({ effect });
  await expect(ask(sandbox).then((answer) => answer.text())).rejects.toThrow();
});

test("a bomb is small until it is decompressed", async () => {
  const sandbox = await sandboxFor();
  sandbox.fault({ effect: "bomb" });
  const headers = { authorization: `Bearer ${sandbox.token}` };
  const sent = await new Promise<number>((resolve, reject) => {
    const asked = request(`${sandbox.baseUrl}${users}`, { headers }, (answer) => {
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.byteLength;
      });
      answer.once("end", () => resolve(bytes));
    });
    asked.once("error", reject).end();
  });
  expect(sent).toBeLessThan(100_000);
});

test.each(answerEncodings)("the true answer is sent in %s", async (effect) => {
  const sandbox = await sandboxFor();
  const { users: ids } = await sandbox.createUsers(1);
  sandbox.shape("user-answer", { id: "{{id}}", name: "José Müller 江" });
  const path = `${users}/${ids[0]}`;
  const plain = await (await ask(sandbox, path)).json();
  sandbox.fault({ effect });
  const answer = await ask(sandbox, path);
  const charset = /charset=(.*)/.exec(answer.headers.get("content-type") ?? "")?.[1];
  const isBigEndian = charset === "utf-16";
  const text = new TextDecoder(isBigEndian ? "utf-16be" : charset).decode(await answer.arrayBuffer());
  expect(JSON.parse(text)).toEqual(plain);
  expect(plain).toMatchObject({ name: "José Müller 江" });
});
