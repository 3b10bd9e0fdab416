import { explain } from "@income-events/local-stack/explain.ts";
import { expect, test } from "vitest";

test("a port that only an administrator may use is explained, with one that serves", () => {
  const error = Object.assign(new Error("listen EACCES: permission denied 127.0.0.1:80"), { code: "EACCES" });
  expect(explain(error)).toBe(
    "Only an administrator may use this port (listen EACCES: permission denied 127.0.0.1:80): choose one above 1023, or 0 for a free one.",
  );
});
