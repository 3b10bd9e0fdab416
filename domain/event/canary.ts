/** A synthetic webhook that tests the whole pipeline. It names no user, and the relay sends it only to the canary's own queue. */
const field = "income-events-canary";
const pattern = new RegExp(`^\\{"${field}":"([0-9a-f-]{36})"\\}$`);

/** @param id a UUID */
export function canaryBody(id: string): string {
  return JSON.stringify({ [field]: id });
}

/** The id in a canary's body; undefined for the body of any other webhook. */
export function canaryIn(text: string): string | undefined {
  return pattern.exec(text)?.[1];
}

/** Length of a canary's body in bytes. Bodies of other lengths need no parsing to rule them out. */
export const canaryBytes = canaryBody("0".repeat(36)).length;
