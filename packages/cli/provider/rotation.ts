import { randomBytes } from "node:crypto";
import type { WebhookSecretStore } from "../../../adapters/secrets/webhook-secret.ts";
import { present } from "../../../domain/core/parse.ts";
import { hasValidPrevious, type WebhookSecret } from "../../../domain/core/webhook-secret.ts";
import { CommandError } from "../core/command-error.ts";
import type { Terminal } from "../core/terminal.ts";
import type { Registered } from "./registration.ts";

export type RotationPorts = {
  readonly store: WebhookSecretStore;
  readonly register: () => Promise<Registered>;
  /** Seconds until all receivers know a new value, and seconds for which the old one is accepted. */
  readonly times: { readonly propagationSeconds: number; readonly overlapSeconds: number };
  readonly now: () => Date;
  readonly terminal: Pick<Terminal, "progress" | "wait">;
};

/**
 * Rotates the webhook secret without refusing a delivery. Receivers accept the new value beside the old one;
 * once all know it, the provider is asked to send it; the old one is accepted as long as the provider may
 * retry deliveries with it. If it is killed, the next run or the scheduled registration continues.
 * @returns `continued` for an earlier rotation, without another value; until when the previous value is accepted
 */
export async function rotateSecret(ports: RotationPorts) {
  const { store, times, now, terminal } = ports;
  const { secret, versionId } = await store.read();
  if (secret !== undefined && hasValidPrevious(secret, now())) {
    terminal.progress("A rotation is in progress. Another one now would refuse the oldest value too early.");
    await registerNewValue(ports, "run the command again to continue");
    return { done: "continued" as const, ...(secret.previous && { previousUntil: secret.previous.until }) };
  }
  const previous = secret && { value: secret.current, until: overlapEnd(ports) };
  await store.replace(
    { ...signingOf(secret), current: newValue(), ...(previous && { previous }) },
    versionId,
  );
  terminal.progress("A new value is stored; the receivers accept it beside the old one.");
  await terminal.wait(times.propagationSeconds, "Waiting until all receivers have loaded it");
  await registerNewValue(ports, "run the command again to continue; the daily registration continues it too");
  return { done: "rotated" as const, ...(previous && { previousUntil: previous.until }) };
}

/** Until then the provider may retry deliveries with a value that is replaced now. */
function overlapEnd({ times, now }: RotationPorts): string {
  return new Date(now().getTime() + times.overlapSeconds * 1000).toISOString();
}

/** Replaces a leaked value at once. When the receivers' caches expire, the old value is refused. */
export async function revokeSecret({ store, register, terminal }: RotationPorts): Promise<void> {
  const { secret, versionId } = await store.read();
  await store.replace({ ...signingOf(secret), current: newValue() }, versionId);
  terminal.progress("A new value is stored, and the old one revoked. Registering the new one.");
  await explained(
    register,
    "until the webhooks are registered, all of them are refused: run webhooks register",
  );
}

/**
 * Stores the key with which the provider signs bodies from now on. The previous key is accepted as long as
 * the provider may retry deliveries that it signed with it.
 * @returns until when; undefined if there was no key before, or if it is the same
 */
export async function rotateSigning(value: string, ports: RotationPorts): Promise<string | undefined> {
  const { secret, versionId } = await ports.store.read();
  if (secret === undefined)
    throw CommandError.failed("The webhook secret is empty. Set one first: npx income-events secret rotate");
  const { signing: before, previousSigning, ...others } = secret;
  if (before === value) return previousSigning?.until;
  const previous = before === undefined ? undefined : { value: before, until: overlapEnd(ports) };
  const next = { ...others, signing: value, ...(previous && { previousSigning: previous }) };
  await ports.store.replace(next, versionId);
  return previous?.until;
}

/**
 * Ends signing. The provider signs until all receivers know, because the others would refuse unsigned bodies.
 * @returns false if bodies are not signed
 */
export async function removeSigning(ports: RotationPorts): Promise<boolean> {
  const { secret, versionId } = await ports.store.read();
  if (secret?.signing === undefined) return false;
  const { signing, ...others } = secret;
  const previousSigning = { value: signing, until: overlapEnd(ports) };
  await ports.store.replace({ ...others, previousSigning }, versionId);
  return true;
}

/**
 * A rotation of the header's value does not change the signing secret, which only the provider can report.
 */
function signingOf(secret: WebhookSecret | undefined): Pick<WebhookSecret, "signing" | "previousSigning"> {
  const { signing, previousSigning } = secret ?? {};
  return present<Pick<WebhookSecret, "signing" | "previousSigning">>({ signing, previousSigning });
}

/** The registering function decides when the new value may be sent, by the service's clock. */
export async function registerNewValue(
  { register, terminal }: Pick<RotationPorts, "register" | "terminal">,
  otherwise: string,
): Promise<void> {
  for (;;) {
    const registered = await explained(register, otherwise);
    if (registered.secret === "current") return;
    await terminal.wait(registered.readyInSeconds, "Waiting until all receivers have loaded the new value");
  }
}

async function explained(register: RotationPorts["register"], otherwise: string): Promise<Registered> {
  try {
    return await register();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw CommandError.failed(
      `The webhooks could not be registered: ${reason}.\nThe new value is stored; ${otherwise}. Run: npx income-events webhooks register`,
    );
  }
}

/** Letters, digits, "-" and "_", which are valid in a header. */
function newValue(): string {
  return randomBytes(36).toString("base64url");
}
