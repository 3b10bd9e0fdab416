import { inject } from "vitest";
import { fieldsOf, textOf } from "../../domain/core/parse.ts";
import { type ProductAssembly, productAssembly } from "../../scripts/product-assembly.ts";

/**
 * The product's own stack, as `synthesizeProduct` of scripts/product-assembly.ts makes it, but synthesized once for all
 * files of the run.
 * @param changes settings in the place of the stage's, group by group; a stage without a file is as `local` is
 * @returns a copy, which the test may change
 */
export async function synthesizeProduct(stage = "local", changes: object = {}): Promise<ProductAssembly> {
  const body = JSON.stringify({ stage, changes });
  const answer = await fetch(inject("assemblyHost"), { method: "POST", body });
  const fields = fieldsOf(await answer.json(), "the answer of the assemblies' host");
  if (!answer.ok) throw new Error(textOf(fields, "error"));
  return productAssembly(textOf(fields, "directory")).copy();
}
