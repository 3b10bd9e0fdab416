import { expect, test } from "vitest";
import { proposeByHand } from "../../../adapters/secrets/token-secret.ts";
import { refresherFixture, tokenOf } from "../support/refresher-fixture.ts";

const fixture = refresherFixture();
const propose = (token: string) => proposeByHand(fixture.system.secretsManager, fixture.secretId, token);

test("an operator's token that is taken becomes current, also where it is older, with one call", async () => {
  await fixture.withSecret({ token: await tokenOf(1, 9) });
  const older = await tokenOf(2, 8);
  const versionId = await propose(older);
  expect(await fixture.refresherOf()({ prove: versionId })).toEqual({ outcome: "refreshed" });
  expect(await fixture.currentToken()).toBe(older);
  expect(fixture.calls()).toEqual([`/users Bearer ${older}`]);
  // Asked once more, it is current already.
  expect(await fixture.refresherOf()({ prove: versionId })).toEqual({ outcome: "refreshed" });
});

test("an operator's token that is refused leaves the present one, and raises no alarm", async () => {
  await fixture.withSecret({ token: "present" });
  fixture.onProof = () => 401;
  const versionId = await propose("wrong");
  expect(await fixture.refresherOf()({ prove: versionId })).toEqual({ outcome: "discarded" });
  expect(await fixture.currentToken()).toBe("present");
  expect(fixture.codes()).toEqual([]);
  expect(await fixture.secret.pending()).toBeUndefined();
});

test("the first token of a stage is proven as any other", async () => {
  await fixture.withSecret({ placeholder: "x" });
  const versionId = await propose("first");
  expect(await fixture.refresherOf()({ prove: versionId })).toEqual({ outcome: "refreshed" });
  expect(await fixture.currentToken()).toBe("first");
});

test("a version that is not pending any more is left alone", async () => {
  await fixture.withSecret({ token: "present" });
  expect(await fixture.refresherOf()({ prove: "another" })).toEqual({ outcome: "overtaken" });
  expect(fixture.calls()).toEqual([]);
});
