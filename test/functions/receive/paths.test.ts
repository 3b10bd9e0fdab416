import { expect, it, test } from "vitest";
import { kindOfPath, otherPaths } from "../../../functions/receive/receiver.ts";
import { context, httpEvent } from "../support/lambda.ts";

test.each([
  ["/webhooks/users/", "users"],
  ["/webhooks/Users", "users"],
  ["/WEBHOOKS/ACCOUNTS//", "accounts"],
  ["//webhooks//endpoints", "endpoints"],
  ["/webhooks/Company-Accounts/", "company-accounts"],
  ["/webhooks", undefined],
  ["/webhooks/", undefined],
  ["/", undefined],
  ["", undefined],
  ["/users", undefined],
  ["/webhooks/user", undefined],
  ["/webhooks/users/7", undefined],
  ["/api/webhooks/users", undefined],
  ["/webhooks/__proto__", undefined],
  ["/webhooks/users%2f", undefined],
  ["/webhooks/../webhooks/users", undefined],
])("%s leads to %s", (path, kind) => {
  expect(kindOfPath(path)).toBe(kind);
});

it("receives by the receiver of the kind, which is made once, and answers 404 to other paths", async () => {
  const made: string[] = [];
  const receive = otherPaths((kind) => {
    made.push(kind);
    return async () => ({ statusCode: 202, body: kind });
  });
  const get = (rawPath: string) => receive({ ...httpEvent({}), rawPath }, context);
  expect(await get("/webhooks/Users/")).toEqual({ statusCode: 202, body: "users" });
  expect(await get("/webhooks/USERS")).toEqual({ statusCode: 202, body: "users" });
  expect(await get("/wp-login.php")).toMatchObject({ statusCode: 404 });
  expect(made).toEqual(["users"]);
});
