import { parts } from "../implementations.ts";
import { bundleDirectory, gzipBytes } from "../measure/bundles.ts";
import type { Context } from "../measurement.ts";
import { pairedRow, type Row } from "./row.ts";

/** The size of all files of the functions that are measured, minified and compressed, as a deployment sends them. */
export function bundleRow({ assemblies, estimate }: Context): Row {
  const kilobytes = (implementation: "ours" | "powertools") =>
    parts.reduce((sum, part) => sum + gzipBytes(bundleDirectory(implementation, part, assemblies)), 0) / 1024;
  const theirs = [{ over: "powertools", atMost: 0.97, values: [kilobytes("powertools")] }];
  return pairedRow(
    { name: "bundle", figure: "KB gzip of four functions" },
    [kilobytes("ours")],
    theirs,
    estimate,
  );
}
