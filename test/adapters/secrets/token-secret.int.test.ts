import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type TokenSecret, tokenSecret } from "../../../adapters/secrets/token-secret.ts";
import { parseTokenSecret } from "../../../domain/fetch/token.ts";
import { startTestSystem } from "../../support/engines.ts";

let secretId: string;
let secret: TokenSecret;

const system = await startTestSystem();
afterAll(() => system.close());
beforeEach(() => {
  secretId = system.createSecret({ token: "old" });
  secret = tokenSecret(system.secretsManager, secretId);
});

const stages = () => system.secrets.call("DescribeSecret", { SecretId: secretId }).VersionIdsToStages;

test("a proposed token is pending, with the version that it replaces, and the current one stays", async () => {
  expect(await secret.pending()).toBeUndefined();
  const { versionId } = await secret.current();
  const proposed = await secret.propose("new", versionId);
  expect(proposed).toMatchObject({ token: "new", replaces: versionId });
  expect(await secret.pending()).toMatchObject(proposed);
  expect(await secret.current()).toMatchObject({ versionId, token: "old" });
});

test("a proven token becomes current, and the one that it replaces previous", async () => {
  const old = await secret.current();
  const { versionId } = await secret.propose("new", old.versionId);
  expect(await secret.promote(versionId, old.versionId)).toBe(true);
  expect(await secret.current()).toMatchObject({ versionId, token: "new" });
  expect(stages()).toEqual({ [old.versionId]: ["AWSPREVIOUS"], [versionId]: ["AWSPENDING", "AWSCURRENT"] });
});

test("a token is not promoted over a version that was replaced meanwhile", async () => {
  const old = await secret.current();
  const { versionId } = await secret.propose("new", old.versionId);
  const other = randomUUID();
  system.secrets.call("PutSecretValue", {
    SecretId: secretId,
    SecretString: '{"token":"set by an operator"}',
    ClientRequestToken: other,
  });
  expect(await secret.promote(versionId, old.versionId)).toBe(false);
  expect(await secret.current()).toMatchObject({ versionId: other, token: "set by an operator" });
});

/** Errors of UpdateSecretVersionStage in the Secrets Manager API reference. */
const refusals = ["InvalidParameterException", "InvalidRequestException", "ResourceNotFoundException"];

/** Answers every move of a label with the error, although it may have been applied. */
const refuseMoves = (errorType: string) =>
  system.intercept(async ({ action }) =>
    action === "secretsmanager:UpdateSecretVersionStage"
      ? { status: 400, errorType, message: "refused by the test" }
      : undefined,
  );

test.each(refusals)(
  "a version that has lost its label was overtaken, also if AWS answers %s",
  async (type) => {
    const old = await secret.current();
    const { versionId } = await secret.propose("new", old.versionId);
    await secret.propose("newer", old.versionId);
    system.secrets.call("PutSecretValue", {
      SecretId: secretId,
      SecretString: '{"token":"set by an operator"}',
      ClientRequestToken: randomUUID(),
    });
    const working = refuseMoves(type);
    expect(await secret.promote(versionId, old.versionId)).toBe(false);
    await secret.discard(versionId);
    working();
  },
);

test.each(refusals)("a %s is thrown if the version still has its label", async (type) => {
  const { versionId } = await secret.current();
  const proposed = await secret.propose("new", versionId);
  const working = refuseMoves(type);
  await expect(secret.promote(proposed.versionId, versionId)).rejects.toThrow("refused by the test");
  await expect(secret.discard(proposed.versionId)).rejects.toThrow("refused by the test");
  working();
});

test("the same token proposed again is the same version, for another one it is another", async () => {
  const first = await secret.propose("new", "one");
  expect(await secret.propose("new", "one")).toEqual(first);
  expect(Object.keys(stages() ?? {})).toHaveLength(2);
  expect((await secret.propose("new", "other")).versionId).not.toBe(first.versionId);
});

test("a discarded token is not pending any more, nor was it ever current", async () => {
  const { versionId } = await secret.propose("new", "one");
  await secret.discard(versionId);
  expect(await secret.pending()).toBeUndefined();
  expect((await secret.current()).token).toBe("old");
});

test("a token that was discarded can be proposed and promoted again", async () => {
  const { versionId } = await secret.current();
  await secret.discard((await secret.propose("new", versionId)).versionId);
  await secret.promote((await secret.propose("new", versionId)).versionId, versionId);
  expect((await secret.current()).token).toBe("new");
});

test("a token that replaced another as pending is not discarded with it", async () => {
  const first = await secret.propose("new", "one");
  const second = await secret.propose("newer", "one");
  await secret.discard(first.versionId);
  expect(await secret.pending()).toMatchObject(second);
});

test("a failed read is thrown, and not taken as nothing pending", async () => {
  const working = system.fail("secretsmanager:GetSecretValue");
  await expect(secret.pending()).rejects.toThrow("injected by the test");
  working();
});

describe("the secret's text", () => {
  test.each([
    ['{"token":"jwt"}', "jwt"],
    ['{"placeholder":"x"}', undefined],
    ['{"token":""}', undefined],
    ['{"token":5}', undefined],
  ])("%s holds the token %s", (text, token) => {
    expect(parseTokenSecret(text, "v1")).toEqual({ versionId: "v1", token });
  });

  test("names the version that a refreshed token replaces", () => {
    expect(parseTokenSecret('{"token":"jwt","replaces":"v0"}', "v1")).toEqual({
      versionId: "v1",
      token: "jwt",
      replaces: "v0",
    });
  });

  test.each(["jwt", "[]", '"jwt"'])("%s is refused, and not quoted", (text) => {
    expect(() => parseTokenSecret(text, "v1")).toThrow(/^the token secret/);
  });
});
