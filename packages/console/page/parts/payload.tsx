import { Action } from "./action.tsx";

type RevealProps = {
  readonly isRevealed: boolean;
  /** How it is revealed: the look is written into the audit trail. */
  readonly path: string;
  readonly body: object;
  readonly onRevealed: (result: Readonly<Record<string, unknown>>) => void;
  readonly onHidden: () => void;
};

/** Shows personal data once somebody asks, and masks it again. */
export function Reveal({ isRevealed, path, body, onRevealed, onHidden }: RevealProps) {
  if (!isRevealed)
    return <Action label="Show personal data" path={path} body={body} isLook onDone={onRevealed} />;
  return (
    <p class="quiet">
      Shown, and recorded in the audit trail.{" "}
      <button type="button" onClick={onHidden}>
        Hide
      </button>
    </p>
  );
}

/** A body as text, never as markup; masked until it is revealed. */
export function Payload({ value, ...reveal }: RevealProps & { readonly value: unknown }) {
  return (
    <>
      <JsonText value={value} label={reveal.isRevealed ? "The body" : "The body, masked"} />
      <Reveal {...reveal} />
    </>
  );
}

/** The body of the first dead letter that was revealed. */
export function payloadIn({ deadLetters }: Readonly<Record<string, unknown>>): unknown {
  const [first]: readonly unknown[] = Array.isArray(deadLetters) ? deadLetters : [];
  return typeof first === "object" && first !== null && "payload" in first ? first.payload : undefined;
}

/** JSON as text, with all digits of its numbers. */
export function JsonText({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: where it is wider than the screen, keys scroll it
    <section class="payload" tabIndex={0} aria-label={label}>
      <pre dir="ltr">{printable(value)}</pre>
    </section>
  );
}

/** Escapes characters that are invisible or change the direction of writing. */
function printable(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    [...character].map((each) => `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`).join(""),
  );
}
