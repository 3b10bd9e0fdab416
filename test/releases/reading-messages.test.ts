import { describe, expect, it } from "vitest";
import { parseTokenSecret } from "../../adapters/secrets/token-secret.ts";
import { parseWebhookSecret } from "../../domain/core/webhook-secret.ts";
import { readEnvelope, writeEnvelope } from "../../domain/event/envelope.ts";
import { readTaskText, writeTask } from "../../domain/fetch/tasks.ts";
import { readEraseTask, writeEraseTask } from "../../domain/recovery/erasure.ts";
import { parseSettings } from "../../lib/settings/settings.ts";
import { previousRelease } from "../support/previous-release.ts";
import { releases } from "./sample-files.ts";
import { at } from "./sample-subjects.ts";
import { takenAway } from "./samples.ts";

/** What this release asks of every production stage, and no earlier one: docs/operate/upgrading.md says so. */
const askedSince = { alarms: { emails: ["on-call@example.com"] } };

it("the folder of samples has those of the release before this one", async () => {
  const { version } = await previousRelease();
  expect(releases.map((release) => release.version)).toContain(version);
});

describe.each(releases)("messages, secrets and settings of release $version", ({ samples }) => {
  const { envelopes = {}, tasks = {}, erasures = {}, secrets = {}, settings = {} } = samples;
  const secret = (name: string) => JSON.stringify(secrets[name]);

  it.each(Object.entries(envelopes))("the envelope with %s is understood whole", (_, envelope) => {
    const read = readEnvelope(JSON.stringify(envelope));
    expect(takenAway(envelope, JSON.parse(writeEnvelope(read)))).toEqual([]);
  });

  it.each(Object.entries(tasks))("the task: %s, is understood whole", (_, task) => {
    const read = readTaskText(JSON.stringify(task));
    expect(takenAway(task, JSON.parse(writeTask(read)))).toEqual([]);
  });

  it.each(Object.entries(erasures))("the erasure, %s, is understood whole", (_, task) => {
    const read = readEraseTask(JSON.stringify(task));
    expect(takenAway(task, JSON.parse(writeEraseTask(read)))).toEqual([]);
  });

  it("a token is understood, set by hand or pending", () => {
    const byHand = { versionId: "v", token: "by hand" };
    expect(parseTokenSecret(secret("token set by hand"), "v")).toEqual(byHand);
    const pending = { versionId: "v", token: "refreshed", replaces: "the version before" };
    expect(parseTokenSecret(secret("token that is pending"), "v")).toEqual(pending);
  });

  it("a webhook secret is understood, during a rotation", () => {
    const previous = { value: "previous", until: at };
    const known = { current: "current", previous, signing: "signing" };
    expect(parseWebhookSecret(secret("webhook during a rotation"))).toEqual(known);
  });

  it.each(Object.entries(settings))(
    "the settings of %s are taken with what is asked for since, each with its value",
    (_, stage) => {
      const asked = { ...askedSince, ...Object(stage) };
      expect(takenAway(asked, parseSettings(asked, "the sample"))).toEqual([]);
    },
  );
});
