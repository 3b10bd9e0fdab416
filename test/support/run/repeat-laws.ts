import fc from "fast-check";

// A law that fails for one input in a million must not fail an unrelated change, so every run uses the same
// inputs. LAWS_SEED (a whole number) selects others, and a failure prints its seed.
const seed = Number(process.env.LAWS_SEED ?? 1);
if (!Number.isInteger(seed)) throw new Error("LAWS_SEED must be a whole number, such as LAWS_SEED=42");

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
