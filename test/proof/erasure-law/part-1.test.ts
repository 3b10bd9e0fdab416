import { holdsOnEngines } from "../../functions/support/erasure-on-engines.ts";
import { describeOnFastTables } from "../../support/engines.ts";

await describeOnFastTables("the law of erasure, part 1", (tables) => holdsOnEngines(tables, [675], 1));
