import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { System } from "@income-events/local-stack/system.ts";
import { webhookKinds } from "@income-events/sandbox/webhooks.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runInProcess } from "../../support/in-process.ts";
import type { OperatedStage } from "../../support/operated-stage.ts";
import { registerAtProvider } from "../../support/webhooks.ts";

const expiredToken = `${btoa('{"alg":"none"}')}.${btoa('{"exp":1700000000}')}.x`;

/** Commands for a stage's token and webhooks. */
export function describeCommands(use: () => OperatedStage): void {
  describe("commands, against the running stack", () => {
    let operated: OperatedStage;
    let system: System;
    let directory: string;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), "commands-"));
      operated = use();
      ({ system } = operated);
    });
    afterAll(() => rm(directory, { recursive: true, force: true }));

    const storedToken = () => system.stack.secretValue(operated.output("TokenSecretArn"));
    const misdirectWebhooks = async (origin: string) => {
      for (const kind of ["users", "accounts"] as const)
        await registerAtProvider(system, kind, { url: `${origin}/elsewhere` });
    };
    const ownOrigin = () => new URL(operated.output("WebhooksUrl")).origin;
    const registeredUrls = () => webhookKinds.map((kind) => system.sandbox.webhook(kind)?.url);
    const deployedUrls = () => webhookKinds.map((kind) => `${operated.output("WebhooksUrl")}/${kind}`);

    describe("token set", () => {
      const set = (input: string, ...flags: string[]) => operated.run(["token", "set", ...flags], { input });

      it("makes the token from standard input current, and shows its expiry but never the token", async () => {
        const token = await system.sandbox.issueToken(7_200);
        const result = await set(`${token}\n`, "--json");
        expect(result).toMatchObject({ code: 0, stderr: "" });
        const { expiresAt } = Object(result.json());
        expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(7_000_000);
        expect(storedToken()).toBe(JSON.stringify({ token }));
        expect(result.stdout).not.toContain(token);
      });

      it("makes an earlier token current again", async () => {
        const [one, other] = [await system.sandbox.issueToken(), await system.sandbox.issueToken(900)];
        for (const token of [one, other, one]) {
          expect((await set(token)).code).toBe(0);
          expect(storedToken()).toBe(JSON.stringify({ token }));
        }
      });

      it.each([
        ["nothing", "\n", "The standard input is empty"],
        ["no JWT", "not-a-token", "This is not a JWT. If the provider's tokens are not JWTs, add --any."],
        ["a header", "Bearer abc.def.ghi", 'without "Bearer"'],
        ["JSON", '{"token": "abc"}', "Give the token alone"],
        ["a file of another kind", "x".repeat(20_000), "over 16384 bytes"],
        ["an expired token", expiredToken, "ended at 2023-11-14"],
      ])("refuses %s, and changes nothing", async (_, input, reason) => {
        const before = storedToken();
        expect(await set(input)).toMatchObject({
          code: 2,
          stdout: "",
          stderr: expect.stringContaining(reason),
        });
        expect(storedToken()).toBe(before);
      });

      it("refuses a token that is passed as an argument", async () => {
        expect(await operated.run(["token", "set", expiredToken])).toMatchObject({ code: 2 });
      });

      it("accepts an opaque token with a flag", async () => {
        expect(await set("opaque-token", "--any", "--force")).toMatchObject({
          code: 0,
          stdout: expect.stringContaining("no end"),
        });
        expect(storedToken()).toBe('{"token":"opaque-token"}');
        await set(system.sandbox.token);
      });

      it("is proven first: a refused one does not replace the current one", async () => {
        const before = storedToken();
        expect(await set("opaque-token", "--any")).toMatchObject({
          code: 1,
          stdout: "",
          stderr: expect.stringMatching(
            /^The provider refuses this token: it answered 401\. The current one stays\. /,
          ),
        });
        expect(storedToken()).toBe(before);
      });

      it("reports a failing provider's answer, and sets the token unproven with a flag", async () => {
        const before = storedToken();
        const token = await system.sandbox.issueToken(7_200);
        system.sandbox.fault({ path: "/users", status: 503, share: 1 });
        expect(await set(token)).toMatchObject({
          code: 1,
          stderr: expect.stringMatching(/could not be tested: the provider answered 503\..* --force /),
        });
        expect(storedToken()).toBe(before);
        expect(await set(token, "--force")).toMatchObject({ code: 0 });
        expect(storedToken()).toBe(JSON.stringify({ token }));
        system.sandbox.clearFaults();
      });
    });

    describe("webhooks register", () => {
      it("restores registrations that were changed at the provider", async () => {
        await misdirectWebhooks(ownOrigin());
        expect(registeredUrls()).not.toEqual(deployedUrls());
        const result = await operated.run(["webhooks", "register", "--json"]);
        expect(result.code).toBe(0);
        expect(result.json()).toEqual({ stage: "status", count: 4, secret: "current" });
        expect(registeredUrls()).toEqual(deployedUrls());
      });

      it("does the same in AWS: with a file of outputs, AWS's own credentials, and the region of the stage", async () => {
        const file = join(directory, "outputs.json");
        await writeFile(file, JSON.stringify({ [system.stack.name]: system.stack.outputs }));
        const args = ["webhooks", "register", "--outputs", file];
        const env = { ...operated.asAws, AWS_REGION: "us-west-2" };
        await misdirectWebhooks(ownOrigin());

        expect(await runInProcess(args, { env })).toMatchObject({
          code: 0,
          stdout: "The webhooks of 4 kinds of the stage status are registered.\n",
        });
        expect(registeredUrls()).toEqual(deployedUrls());

        const guessed = { ...env, AWS_SECRET_ACCESS_KEY: "guessed" };
        expect(await runInProcess(args, { env: guessed })).toMatchObject({
          code: 3,
          stderr: expect.stringContaining("AWS does not accept the credentials"),
        });
        const { AWS_ENDPOINT_URL } = env;
        expect(await runInProcess(args, { env: { AWS_ENDPOINT_URL } })).toMatchObject({
          code: 3,
          stderr: expect.stringContaining("No AWS credentials found"),
        });
      });

      it("leaves another stage's webhooks to that stage unless told to take them over", async () => {
        await misdirectWebhooks("https://other-stage.example");
        const others = registeredUrls();
        const register = (...flags: string[]) => operated.run(["webhooks", "register", ...flags]);
        expect(await register()).toMatchObject({
          code: 1,
          stderr: expect.stringMatching(
            /to https:\/\/other-stage\.example: .*"webhooks register --take-over"/,
          ),
        });
        expect(await register("--take-over")).toMatchObject({
          code: 2,
          stderr: expect.stringContaining("--yes"),
        });
        expect(registeredUrls()).toEqual(others);
        expect(await register("--take-over", "--yes")).toMatchObject({ code: 0 });
        expect(registeredUrls()).toEqual(deployedUrls());
      });

      it("reports the reason if the provider refuses", async () => {
        system.sandbox.fault({ path: "/api/v0.3/webhooks/users", method: "PUT", status: 422 });
        expect(await operated.run(["webhooks", "register"])).toMatchObject({
          code: 1,
          stderr: expect.stringContaining("the provider answered 422"),
        });
      });
    });
  });
}
