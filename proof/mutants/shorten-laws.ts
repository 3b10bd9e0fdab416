import fc from "fast-check";

// A law is run once for each mutant: what it has not found in this time (milliseconds) it rarely finds later.
fc.configureGlobal({ interruptAfterTimeLimit: 2_000, markInterruptAsFailure: false });
