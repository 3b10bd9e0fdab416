import { createHmac } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type WebhookSecretStore, webhookSecretStore } from "../../../../adapters/secrets/webhook-secret.ts";
import { authenticator, isSigned, type WebhookSecret } from "../../../../domain/core/webhook-secret.ts";
import type { Registered } from "../../../../packages/cli/provider/registration.ts";
import {
  type RotationPorts,
  removeSigning,
  revokeSecret,
  rotateSecret,
  rotateSigning,
} from "../../../../packages/cli/provider/rotation.ts";
import { startTestSystem, type TestSystem } from "../../../support/engines.ts";

const noon = Date.parse("2026-11-21T12:00:00Z");
const times = { propagationSeconds: 120, overlapSeconds: 432_000 };
const until = "2026-11-26T12:00:00.000Z";
const current: Registered = { count: 4, secret: "current" };

let system: TestSystem;
let store: WebhookSecretStore;
let time: number;
let waited: number[];
let reported: string[];

beforeAll(async () => {
  system = await startTestSystem();
});
afterAll(() => system.close());
beforeEach(() => {
  store = webhookSecretStore(system.secretsManager, system.createSecret({ current: "first" }));
  time = noon;
  waited = [];
  reported = [];
});

const stored = async () => (await store.read()).secret;

function ports(register: RotationPorts["register"] = async () => current): RotationPorts {
  return {
    store,
    register,
    times,
    now: () => new Date(time),
    terminal: {
      progress: (text) => void reported.push(text),
      wait: async (seconds) => {
        waited.push(seconds);
        time += seconds * 1000;
      },
    },
  };
}

/** A registration that is cut off, as by killing the command. */
const killed: RotationPorts["register"] = async () => {
  throw new Error("killed");
};

describe("a rotation", () => {
  it("stores a new value beside the old one, waits until every receiver knows it, and only then registers", async () => {
    const seen: [number, WebhookSecret | undefined][] = [];
    const rotation = await rotateSecret(
      ports(async () => {
        seen.push([time, await stored()]);
        return current;
      }),
    );
    expect(rotation).toEqual({ done: "rotated", previousUntil: until });
    const secret = { current: expect.stringMatching(/^[\w-]{48}$/), previous: { value: "first", until } };
    expect(seen).toEqual([[noon + 120_000, secret]]);
  });

  it("waits longer if the registration reports that the new value cannot be sent yet", async () => {
    const answers: Registered[] = [{ count: 4, secret: "previous", readyInSeconds: 7 }, current];
    await rotateSecret(ports(async () => answers.shift() ?? current));
    expect(waited).toEqual([120, 7]);
    expect(answers).toEqual([]);
  });

  it("makes another value each time, and prints none", async () => {
    await rotateSecret(ports());
    const second = (await stored())?.current ?? "";
    time += times.overlapSeconds * 1000;
    await rotateSecret(ports());
    const values = new Set(["first", second, (await stored())?.current ?? ""]);
    expect(values.size).toBe(3);
    for (const value of values) expect(reported.join()).not.toContain(value);
  });

  it("of an empty secret has nothing to keep", async () => {
    store = webhookSecretStore(system.secretsManager, system.createSecret({ current: "" }));
    expect(await rotateSecret(ports())).toEqual({ done: "rotated" });
    expect(await stored()).toEqual({ current: expect.any(String) });
  });
});

describe("a rotation that was cut off", () => {
  it("before the registration goes on when it is run again: the value that was made is registered", async () => {
    await expect(rotateSecret(ports(killed))).rejects.toThrow("killed");
    const before = await stored();
    let registrations = 0;
    const rotation = await rotateSecret(
      ports(async () => {
        registrations += 1;
        return current;
      }),
    );
    expect(rotation).toEqual({ done: "continued", previousUntil: until });
    expect(registrations).toBe(1);
    expect(await stored()).toEqual(before);
  });

  it("by the provider is reported, with the current state", async () => {
    const refused = async () => {
      throw new Error("the provider answered 503");
    };
    await expect(rotateSecret(ports(refused))).rejects.toThrow(
      /could not be registered: the provider answered 503\.\nThe new value is stored; run the command again to continue/,
    );
    expect(await stored()).toMatchObject({ previous: { value: "first" } });
  });
});

describe("a second rotation", () => {
  it("while the first one's old value is accepted makes no third value, which would drop it", async () => {
    await rotateSecret(ports());
    const first = await stored();
    time = Date.parse(until) - 1;
    expect(await rotateSecret(ports())).toEqual({ done: "continued", previousUntil: until });
    expect(await stored()).toEqual(first);
    expect(reported.at(-1)).toContain("A rotation is in progress");
  });

  it("after that replaces the value", async () => {
    await rotateSecret(ports());
    const first = await stored();
    time = Date.parse(until);
    expect(await rotateSecret(ports())).toMatchObject({ done: "rotated" });
    expect(await stored()).toMatchObject({ previous: { value: first?.current } });
  });

  it("at the same time is refused, and no value is lost", async () => {
    const results = await Promise.allSettled([rotateSecret(ports()), rotateSecret(ports())]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await stored()).toMatchObject({ previous: { value: "first" } });
  });
});

describe("a revocation", () => {
  it("accepts no earlier value from then on, also in the middle of a rotation, and registers at once", async () => {
    await rotateSecret(ports());
    const leaked = (await stored())?.current ?? "";
    waited = [];
    const registered: unknown[] = [];
    await revokeSecret(
      ports(async () => {
        registered.push(await stored());
        return current;
      }),
    );
    expect(registered).toEqual([{ current: expect.any(String) }]);
    expect(waited).toEqual([]);
    const secret = (await stored()) ?? { current: "" };
    for (const value of [leaked, "first"])
      expect(authenticator(secret, "users")(value, new Date(time))).toBe(false);
  });

  it("that cannot be registered reports what is refused until it is", async () => {
    await expect(revokeSecret(ports(killed))).rejects.toThrow(
      "until the webhooks are registered, all of them are refused: run webhooks register",
    );
  });
});

describe("a rotation of the signing secret", () => {
  const body = Buffer.from("{}");
  const isTaken = async (key: string, at: number) => {
    const secret = await stored();
    const signature = createHmac("sha512", key).update(body).digest("base64");
    return secret !== undefined && isSigned(body, signature, secret, new Date(at));
  };

  it("accepts the first at once, and the next beside the previous one until the provider's retries end", async () => {
    expect(await rotateSigning("one", ports())).toBeUndefined();
    expect(await stored()).toEqual({ current: "first", signing: "one" });
    expect(await rotateSigning("two", ports())).toBe(until);
    expect(await Promise.all(["one", "two"].map((key) => isTaken(key, noon)))).toEqual([true, true]);
    const end = Date.parse(until);
    expect(await Promise.all(["one", "two"].map((key) => isTaken(key, end)))).toEqual([false, true]);
    expect(await rotateSigning("two", ports())).toBe(until);
  });

  it("ends with its removal, and the provider's key stays valid while it may still sign", async () => {
    expect(await removeSigning(ports())).toBe(false);
    await rotateSigning("one", ports());
    expect(await removeSigning(ports())).toBe(true);
    expect(await stored()).toEqual({ current: "first", previousSigning: { value: "one", until } });
    const secret = await stored();
    expect(secret && isSigned(body, undefined, secret, new Date(noon))).toBe(true);
  });

  it("is kept by a rotation of the header's value, and by its revocation", async () => {
    await rotateSigning("one", ports());
    await rotateSigning("two", ports());
    const signing = { signing: "two", previousSigning: { value: "one", until } };
    await rotateSecret(ports());
    expect(await stored()).toMatchObject(signing);
    await revokeSecret(ports());
    expect(await stored()).toMatchObject(signing);
  });
});
