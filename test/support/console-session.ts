import { z } from "zod";

/**
 * Opens a console's URL as its page does.
 * @returns the headers of the page's calls
 */
export async function enterConsole(address: string): Promise<Readonly<Record<string, string>>> {
  const { origin, hash } = new URL(address);
  const headers = { origin, "sec-fetch-site": "same-origin", "content-type": "application/json" };
  const authorization = `Bearer ${new URLSearchParams(hash.slice(1)).get("token")}`;
  const answer = await fetch(`${origin}/api/session`, {
    method: "POST",
    headers: { ...headers, authorization },
    body: "{}",
  });
  const { session } = z.object({ session: z.string() }).parse(await answer.json());
  return { ...headers, authorization: `Bearer ${session}` };
}
