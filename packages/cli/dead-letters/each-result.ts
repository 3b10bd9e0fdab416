/** What became of one of many, by its id. */
export type EachResult = { readonly id: string; readonly result: string };

export type OnEach = (each: EachResult) => void;
