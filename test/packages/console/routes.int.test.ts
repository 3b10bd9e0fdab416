import { expect, it } from "vitest";
import { Asked, createJobs } from "../../../packages/console/route.ts";
import { consoleRoutes } from "../../../packages/console/routes.ts";
import { consoleContext } from "./console-context.ts";

const context = consoleContext(true);
const routes = consoleRoutes(context, createJobs());
/** Routes that write to the audit trail or stay on this machine, without changing the stage. */
const looks = [
  "/api/mapping/try",
  "/api/record/reveal",
  "/api/states/reveal",
  "/api/event/reveal",
  "/api/document/reveal",
  "/api/dead-letters/of/reveal",
];

it("needs --write for every address that is sent something, but the few that only look", () => {
  const posts = routes.filter(({ method }) => method === "POST");
  const withoutWrite = posts.filter(({ changes }) => changes !== true).map(({ path }) => path);
  expect(looks).toEqual(expect.arrayContaining(withoutWrite));
  expect(routes.filter(({ method, changes }) => method === "GET" && changes === true)).toEqual([]);
});

it.each([
  ["/api/dead-letters/purge", { queue: "users" }],
  ["/api/replay", { name: "everything" }],
  ["/api/erase", { kind: "user", id: "9c858901-8a57-4791-81fe-4c455b099bc9" }],
])("%s does nothing unless what it destroys or sends again is typed", async (path, body) => {
  const route = routes.find((each) => each.path === path);
  for (const typed of [undefined, "", "somebody else"]) {
    const asked = new Asked(new URLSearchParams(), JSON.stringify({ ...body, typed }));
    await expect(route?.answer(context, asked)).rejects.toThrow(/^Type .* to confirm\. Nothing was done\.$/);
  }
});
