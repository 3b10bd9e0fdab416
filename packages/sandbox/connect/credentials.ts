import type { EnvironmentName } from "../provider-interface.ts";

export type Credentials = { readonly username: string; readonly password: string };

export type SignIn = { readonly accepted: true } | { readonly accepted: false; readonly reason: string };

/** Test credentials of the sandbox; all but the first simulate failures. */
export const testPassword = "test-password";
const refusalsOfTestUsers: ReadonlyMap<string, string | undefined> = new Map([
  ["test-user", undefined],
  ["test-locked", "The platform has locked this account. Unlock it there, then try again."],
  ["test-unavailable", "The platform does not answer at the moment. Try again in a few minutes."],
]);

/**
 * Checks credentials, without storing them. The sandbox accepts only test credentials, production all others.
 */
export function signIn(environment: EnvironmentName, { username, password }: Credentials): SignIn {
  const isTest = refusalsOfTestUsers.has(username);
  if (environment === "production") {
    return isTest
      ? refuse("Test credentials don't work here. Use those of your own account.")
      : { accepted: true };
  }
  if (!isTest) {
    return refuse(`Only test credentials work in the sandbox: use test-user with ${testPassword}.`);
  }
  if (password !== testPassword) return refuse("The username or the password is wrong.");
  const refusal = refusalsOfTestUsers.get(username);
  return refusal === undefined ? { accepted: true } : refuse(refusal);
}

function refuse(reason: string): SignIn {
  return { accepted: false, reason };
}
