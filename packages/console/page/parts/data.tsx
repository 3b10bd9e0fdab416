import type { ComponentChildren } from "preact";
import { searchWord, setSearch } from "../route.ts";

type TableProps = {
  /** Names a table that scrolls where it is wider than the screen. */
  readonly label?: string;
  readonly columns: readonly string[];
  /** Whether cells explain themselves: a narrow page then shows them without the columns' names. */
  readonly isPlain?: boolean;
  /** Classes of columns' cells, by the column. */
  readonly classes?: Readonly<Record<string, string>>;
  /** The first cell of a row is its header. */
  readonly rows: readonly (readonly ComponentChildren[])[];
};

export function Table({ label, columns, isPlain = false, classes = {}, rows }: TableProps) {
  const table = (
    <table class={isPlain ? "plain" : undefined}>
      <thead>
        <tr>
          {columns.map((name) => (
            <th scope="col" class={classes[name] === "figure" ? "figure" : undefined} key={name}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([head, ...cells], index) => (
          <tr key={index}>
            <th scope="row" class={classes[columns[0] ?? ""]}>
              {head}
            </th>
            {cells.map((cell, column) => (
              <td
                class={classes[columns[column + 1] ?? ""]}
                data-label={columns[column + 1]}
                key={columns[column + 1]}
              >
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  if (label === undefined) return table;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll what is wider than the screen
    <section class="wide" tabIndex={0} aria-label={label}>
      {table}
    </section>
  );
}

/** A name with what it is. */
export type Fact = readonly [name: ComponentChildren, is: ComponentChildren];

type FactsProps = { readonly of: readonly Fact[]; readonly isLarge?: boolean };

/** Names with what each is. One that is undefined is left out, or in large type shown as not loaded yet. */
export function Facts({ of, isLarge = false }: FactsProps) {
  return (
    <dl class={isLarge ? "numbers" : "facts"}>
      {of.map(
        ([name, is], index) =>
          (isLarge || is !== undefined) && (
            <div key={index}>
              <dt>{name}</dt>
              <dd>{is ?? "…"}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

type SelectProps = {
  readonly label: string;
  readonly value: string;
  readonly of: readonly string[];
  /** What the empty choice is called. */
  readonly none?: string;
  readonly onChange: (value: string) => void;
};

export function Select({ label, value, of, none = "all", onChange }: SelectProps) {
  return (
    <label class="field">
      {label}
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {of.map((each) => (
          <option key={each} value={each} selected={each === value}>
            {each || none}
          </option>
        ))}
      </select>
    </label>
  );
}

type ChoiceProps = Omit<SelectProps, "value" | "onChange"> & {
  /** The parameter of the address that holds the choice. */
  readonly name: string;
  /** The choice if the address has none; absent: the empty one. */
  readonly fallback?: string;
};

/** A filter that is kept in the address, so that a link shows the same. */
export function Choice({ name, of, fallback, ...select }: ChoiceProps) {
  const value = searchWord(name) || fallback || "";
  const choices = [...new Set([...(fallback === undefined ? [""] : []), ...of, value])];
  return (
    <Select {...select} value={value} of={choices} onChange={(chosen) => setSearch({ [name]: chosen })} />
  );
}
