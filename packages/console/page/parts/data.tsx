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
  return label === undefined ? table : <Wide label={label}>{table}</Wide>;
}

type WideProps = { readonly label: string; readonly children: ComponentChildren };

/** Scrolls what is wider than the screen. */
export function Wide({ label, children }: WideProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it
    <section class="wide" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

/** A value in large type, in a `dl` of the class `numbers`. */
export function Figure({ name, value }: { readonly name: string; readonly value: string | undefined }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value ?? "…"}</dd>
    </div>
  );
}

/** Names with what each is; one that is undefined is left out. */
export function Facts({ of }: { readonly of: readonly (readonly [name: string, is: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(
        ([name, is]) =>
          is !== undefined && (
            <>
              <dt key={name}>{name}</dt>
              <dd>{is}</dd>
            </>
          ),
      )}
    </dl>
  );
}

type SelectProps = {
  readonly label: string;
  readonly value: string;
  readonly of: readonly string[];
  /** The choice's label; by default its value. */
  readonly titleOf?: (choice: string) => string;
  readonly onChange: (value: string) => void;
};

export function Select({ label, value, of, titleOf = (choice) => choice, onChange }: SelectProps) {
  return (
    <label class="field">
      {label}
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {of.map((each) => (
          <option key={each} value={each} selected={each === value}>
            {titleOf(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

type ChoiceProps = {
  /** The parameter of the address that holds the choice. */
  readonly name: string;
  readonly label: string;
  readonly of: readonly string[];
  /** The choice if the address has none; absent: no choice, which is called `none`. */
  readonly fallback?: string;
  readonly none?: string;
};

/** A filter that is kept in the address, so that a link shows the same. */
export function Choice({ name, label, of, fallback, none = "all" }: ChoiceProps) {
  const value = searchWord(name) || fallback || "";
  const choices = [...new Set([...(fallback === undefined ? [""] : []), ...of, value])];
  return (
    <Select
      label={label}
      value={value}
      of={choices}
      titleOf={(each) => each || none}
      onChange={(chosen) => setSearch({ [name]: chosen })}
    />
  );
}
